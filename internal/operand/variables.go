package operand

import (
	"regexp"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
)

// Variable is an image and the name of the variable in which an operator reads it.
type Variable struct {
	Name, Image string
}

var versionAtEnd = regexp.MustCompile(`(?i)(?:^|[-_.])v?([0-9]+)\.[0-9]+\.[0-9]+.*$`)

// Variables returns the requested images with names such as ETCD_V3 or ETCD_DEFAULT, sorted.
//
//  1. A name consists of the words of the prefix, then the words of the image's name without the
//     words of the prefix at its start. Words are in capitals, joined by _.
//  2. A version at the end of an image's name becomes V and its major number. If there is none, an
//     operand's image gets the major number of the operand's version.
//  3. The default prefix is the operand's name; a set of related images has none.
//  4. An operand requested without a range is also the default: DEFAULT in place of V.
//
// Variables refuses two images with the same name.
func (r *Resolution) Variables(prefix string) ([]Variable, error) {
	images := map[string]string{}
	for _, c := range r.Asked {
		for _, i := range c.Entry.Images {
			for _, name := range c.names(prefix, i.Name) {
				if other, twice := images[name]; twice && other != i.Image {
					return nil, failure.New(failure.Usage, "naming the images: %s would be both %s and %s", name, other, i.Image).
						Fix("Give one version of each major version, or use --output json.")
				}
				images[name] = i.Image
			}
		}
	}
	var out []Variable
	for name, image := range images {
		if strings.Trim(name, "_") == "" {
			return nil, failure.New(failure.Usage, "naming the images: the name of %s has no letter or digit", image).
				Fix("Give --prefix.")
		}
		out = append(out, Variable{name, image})
	}
	slices.SortFunc(out, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func (c Chosen) names(prefix, image string) []string {
	if prefix == "" && c.Entry.Schema == SchemaOperand {
		prefix = c.Entry.Name
	}
	major := ""
	if m := versionAtEnd.FindStringSubmatch(image); m != nil {
		image, major = strings.TrimSuffix(image, m[0]), "V"+m[1]
	} else if c.Entry.Schema == SchemaOperand {
		major = "V" + strings.SplitN(c.Entry.Version.String(), ".", 2)[0]
	}
	begin, rest := words(prefix), words(image)
	if len(rest) >= len(begin) && slices.Equal(rest[:len(begin)], begin) {
		rest = rest[len(begin):]
	}
	all := slices.Concat(begin, rest)
	names := []string{variable(all, major)}
	if c.Entry.Schema == SchemaOperand && c.Request.Range.Text == "" {
		names = append(names, variable(all, "DEFAULT"))
	}
	return names
}

func words(s string) []string {
	return strings.FieldsFunc(strings.ToUpper(s), func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') })
}

// variable joins words to a name that is valid for Kubernetes and shells.
func variable(all []string, last string) string {
	if last != "" {
		all = append(slices.Clone(all), last)
	}
	name := strings.Join(all, "_")
	if name != "" && name[0] <= '9' {
		name = "_" + name
	}
	return name
}
