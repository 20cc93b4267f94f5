package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// tellNames gives the images that came and went the bundle names that their author knows: the template's names,
// or a catalog's if the template lists that bundle, or else the only new entry without an image, or the only
// bundle without its old image.
func (c *commit) tellNames() error {
	before, after := c.own(c.before), c.own(c.after)
	lists, listedBefore := c.listed(c.after), c.listed(c.before)
	var unknown []int
	taken := map[string]bool{}
	for i := range c.Added {
		a := &c.Added[i]
		switch only := c.onlyNewEntry(); {
		case after[a.Image] != "":
			a.Name = after[a.Image]
		case only != "" && len(c.Added) == 1 && len(c.Removed) == 0 && !hasTag(c.before):
			a.Name = only
		case a.Name == "" || len(lists) > 0 && !lists[a.Name]:
			unknown = append(unknown, i)
			continue
		}
		taken[a.Name] = true
	}
	var lack []string
	for _, e := range c.NewEntries {
		if !taken[e.Name] && !listedBefore[e.Name] && !slices.Contains(lack, e.Name) {
			lack = append(lack, e.Name)
		}
	}
	if len(unknown) == 1 && len(lack) == 1 {
		c.Added[unknown[0]].Name, unknown = lack[0], nil
	}
	c.tellRemoved(before, listedBefore)
	for _, i := range unknown {
		switch {
		case len(c.Added) == 1 && len(c.Removed) == 1 && c.Removed[0].Name != "":
			c.Added[i].Name = c.Removed[0].Name
		case c.Added[i].Name == "":
			return nameless{c.Added[i].Image}
		}
	}
	for _, image := range slices.Concat(c.Added, c.Removed) {
		c.names[image.Image] = image.Name
	}
	return nil
}

// onlyNewEntry returns the only bundle with new entries, or "".
func (c *commit) onlyNewEntry() (name string) {
	for _, e := range c.NewEntries {
		if name != "" && name != e.Name {
			return ""
		}
		name = e.Name
	}
	return name
}

// hasTag reports whether a template names an image by a tag that moves.
func hasTag(text []byte) bool {
	return slices.ContainsFunc(imagesIn(string(text)), func(image string) bool { return strings.HasSuffix(image, ":latest") })
}

// tellRemoved names the removed images.
func (c *commit) tellRemoved(before map[string]string, lists map[string]bool) {
	known := map[string]bool{}
	var unknown []*commitImage
	var untold []string
	for _, image := range bundlesOf(c.before) {
		name := c.told(image)
		if known[name] = true; name == "" {
			untold = append(untold, image.Image)
		}
	}
	for i := range c.Removed {
		r := &c.Removed[i]
		if before[r.Image] != "" {
			r.Name = before[r.Image]
		}
		if r.Name == "" {
			unknown = append(unknown, r)
		}
	}
	// An image without a known name belongs to the bundle that got a new one, or to the only entry without an
	// image.
	var lack []string
	for name := range lists {
		if !known[name] {
			lack = append(lack, name)
		}
	}
	if len(lack) == 1 && len(untold) == 1 {
		c.names[untold[0]] = lack[0]
	}
	rebuilt := slices.DeleteFunc(slices.Clone(c.Added), func(a commitImage) bool { return !lists[a.Name] || known[a.Name] })
	switch {
	case len(unknown) != 1:
	case len(rebuilt) == 1:
		unknown[0].Name = rebuilt[0].Name
	case len(lack) == 1:
		unknown[0].Name = lack[0]
	case len(lists) == 0 && len(c.Added) == 1:
		unknown[0].Name = c.Added[0].Name
	}
}

// nameless is an image whose bundle is unknown.
type nameless struct{ image string }

func (n nameless) Error() string { return "nothing tells the name of " + n.image }

// own returns the names that a template gives its images.
func (c *commit) own(text []byte) map[string]string {
	names := map[string]string{}
	for _, image := range bundlesOf(text) {
		names[image.Image] = image.Name
	}
	return names
}

// told returns the name of an image in the template. A tag's image may change.
func (c *commit) told(image commitImage) string {
	name := c.names[image.Image]
	if lists := c.listed(c.now); image.Name == "" && name != "" && !strings.Contains(image.Image, "@") && len(lists) > 0 && !lists[name] {
		return ""
	}
	if image.Name != "" {
		return image.Name
	}
	return name
}

// imageOf returns the image of a bundle in the template, or "" if it is unknown.
func (c *commit) imageOf(name string) string {
	if c.isPart() {
		return partImage + name
	}
	for _, image := range bundlesOf(c.now) {
		if c.told(image) == name {
			return image.Image
		}
	}
	return ""
}

// base returns a catalog with the names of the template's images.
func (c *commit) base() []byte {
	var out strings.Builder
	told := map[string]bool{}
	for _, image := range bundlesOf(c.now) {
		if name := c.told(image); name != "" && !told[name] {
			told[name] = true
			fmt.Fprintf(&out, "---\nschema: olm.bundle\nname: %s\npackage: %s\nimage: %s\n", name, c.Package, image.Image)
		}
	}
	return []byte(out.String())
}

// partImage is the repository for images of bundles that are in other files of a catalog.
const partImage = "quay.io/example/"

// isPart reports whether the file is the part of a catalog with the channels and without the bundles.
func (c *commit) isPart() bool {
	return len(channelsOf(c.before)) > 0 && len(imagesIn(string(c.before)))+len(imagesIn(string(c.after))) == 0 && len(of(c.before, "olm.template.basic")) == 0
}

// lay writes the template, or for a part of a catalog the catalog with the bundles that the part lists.
func (c *commit) lay() error {
	c.now = c.before
	for _, doc := range of(c.before, "olm.channel") {
		c.Package = cmp.Or(c.Package, word(doc, "package"))
	}
	dir := filepath.Join(c.dir, "catalog")
	c.file = filepath.Join(dir, filepath.Base(c.Path))
	c.target = c.file
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(c.file, c.before, 0o600)); err != nil || !c.isPart() {
		return err
	}
	c.target = dir
	rest := ""
	if len(of(c.before, "olm.package")) == 0 {
		rest = "---\nschema: olm.package\nname: " + c.Package + "\ndefaultChannel: another\n---\nschema: olm.channel\nname: another\npackage: " + c.Package + "\nentries:\n- name: another.v0.0.0\n" + c.bundle("another.v0.0.0")
	}
	for _, name := range slices.Sorted(maps.Keys(c.listed(c.before))) {
		rest += c.bundle(name)
	}
	return os.WriteFile(filepath.Join(dir, "0-rest.yaml"), []byte(rest), 0o600)
}

// bundle returns a rendered bundle of a catalog.
func (c *commit) bundle(name string) string {
	return fmt.Sprintf("---\nschema: olm.bundle\nname: %s\npackage: %s\nimage: %s\nproperties:\n- type: olm.package\n  value:\n    packageName: %s\n    version: %s\n", name, c.Package, partImage+name, c.Package, versionOf(name))
}
