package reference

import "strings"

// Rewrites are rules that name images otherwise, with the same tag and digest. The first one
// that fits an image counts.
type Rewrites []Rewrite

// Rewrite has images under From be named by To:
//
//  1. From is a repository, or what one begins with: a registry, or that and some parts of
//     the path. What follows it stays: quay.io/a to example.com/b makes quay.io/a/op:v1
//     example.com/b/op:v1.
//  2. A From with * in it fits whole repositories, as Matches has it, and To takes their place.
//  3. A slash at the end of either makes no difference.
type Rewrite struct{ From, To string }

// Check reports the rule whose result a rule would name otherwise again, nil where there is
// none: what was rewritten stays as it is.
func (r Rewrites) Check() *Rewrite {
	for i, rule := range r {
		if to := strings.TrimSuffix(rule.To, "/"); r.Of(to) != to {
			return &r[i]
		}
	}
	return nil
}

// Of is the image as the rules name it.
func (r Rewrites) Of(image string) string {
	for _, rule := range r {
		if named, ok := rule.of(image); ok {
			return named
		}
	}
	return image
}

func (r Rewrite) of(image string) (string, bool) {
	from, to := strings.TrimSuffix(r.From, "/"), strings.TrimSuffix(r.To, "/")
	repository, _, _ := Cut(image)
	if strings.Contains(from, "*") {
		return to + image[len(repository):], Matches(from, repository)
	}
	rest, ok := strings.CutPrefix(repository, from)
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return to + image[len(from):], true
}

// Matches reports whether a pattern fits a text: * stands for any text without a slash, ** for
// any text. It costs the product of the two lengths, whatever the pattern: reached[i] tells
// whether the pattern up to here covers s up to i.
func Matches(pattern, s string) bool {
	reached := make([]bool, len(s)+1)
	reached[0] = true
	for pattern != "" {
		switch {
		case strings.HasPrefix(pattern, "**"):
			for i := range len(s) {
				reached[i+1] = reached[i+1] || reached[i]
			}
			pattern = pattern[2:]
		case pattern[0] == '*':
			for i := range len(s) {
				reached[i+1] = reached[i+1] || reached[i] && s[i] != '/'
			}
			pattern = pattern[1:]
		default:
			for i := len(s); i > 0; i-- {
				reached[i] = reached[i-1] && s[i-1] == pattern[0]
			}
			reached[0] = false
			pattern = pattern[1:]
		}
	}
	return reached[len(s)]
}
