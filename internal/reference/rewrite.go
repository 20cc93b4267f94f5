package reference

import "strings"

// Rewrites are rules that rename images and keep tag and digest. The first rule that matches an image applies.
type Rewrites []Rewrite

// Rewrite renames images under From to To:
//
//  1. From is a repository or the beginning of one: a registry, or a registry and some parts of
//     the path. The rest stays: quay.io/a to example.com/b turns quay.io/a/op:v1 into
//     example.com/b/op:v1.
//  2. A From that contains * matches whole repositories, as Matches does; To replaces them.
//  3. A slash at the end of either makes no difference.
type Rewrite struct{ From, To string }

// Check returns the first rule whose result a rule would rewrite again, or nil. A rewritten image must not be
// rewritten twice.
func (r Rewrites) Check() *Rewrite {
	for i, rule := range r {
		if to := strings.TrimSuffix(rule.To, "/"); r.Of(to) != to {
			return &r[i]
		}
	}
	return nil
}

// Of returns the image as the rules rename it.
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

// Matches reports whether a pattern matches a text: * matches any text without a slash, ** any text. The cost is
// the product of the two lengths for any pattern. reached[i] says whether the pattern so far matches s[:i].
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
