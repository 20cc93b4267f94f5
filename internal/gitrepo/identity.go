package gitrepo

import (
	"strings"
	"time"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/olmgraft/graft/internal/failure"
)

// Identity is an author or a committer.
type Identity struct{ Name, Email string }

// ParseIdentity parses Name <email>.
func ParseIdentity(s string) (Identity, error) {
	name, rest, ok := strings.Cut(s, "<")
	email, after, closed := strings.Cut(rest, ">")
	i := Identity{Name: strings.TrimSpace(name), Email: strings.TrimSpace(email)}
	if !ok || !closed || strings.TrimSpace(after) != "" || i.Name == "" || !strings.Contains(i.Email, "@") {
		return Identity{}, failure.New(failure.Usage, "reading the identity %q: it is not Name <email>", s)
	}
	return i, nil
}

func (i Identity) String() string { return i.Name + " <" + i.Email + ">" }

// signature removes characters that would end a field of the commit early.
func (i Identity) signature(when time.Time) object.Signature {
	clean := func(s string) string {
		return strings.TrimSpace(strings.Map(func(r rune) rune {
			if r == '<' || r == '>' || unicode.IsControl(r) {
				return -1
			}
			return r
		}, strings.ToValidUTF8(s, "")))
	}
	return object.Signature{Name: clean(i.Name), Email: clean(i.Email), When: when}
}
