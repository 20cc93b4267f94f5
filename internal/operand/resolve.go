package operand

import (
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
)

// Request asks for an operand or a set of related images within a range.
type Request struct {
	Name  string
	Range Range
}

// ParseRequest reads NAME or NAME@RANGE.
func ParseRequest(text string) (Request, error) {
	name, version, ranged := strings.Cut(text, "@")
	r := Request{Name: name}
	var err error
	if ranged {
		r.Range, err = ParseRange(version)
	}
	if err != nil || name == "" {
		return r, failure.New(failure.Usage, "reading the command line: --operand %q is not an operand", text).
			Fix("Give --operand NAME or NAME@RANGE, such as etcd@3.1.1 or 'etcd@>=3.0.0 <4.0.0'.")
	}
	return r, nil
}

func (r Request) String() string {
	if r.Range.Text == "" {
		return r.Name
	}
	return r.Name + "@" + r.Range.Text
}

// Chosen is a chosen entry, with the reason for the choice.
type Chosen struct {
	Entry *Entry
	// For is the bundle that uses the entry, By the bundle that provides it. They differ only if a bundle
	// requires the operand of another.
	For, By *Bundle
	Request Request
	Reason  string
}

// Resolution is the result for a bundle: the requested entries in the order of the requests, then the required
// ones, those nearest to the bundle first.
type Resolution struct {
	Bundle   *Bundle
	Asked    []Chosen
	Required []Chosen
}

// Resolve chooses for each request the highest version in its range that the bundle accepts, and providers for
// everything that the bundle and these providers require.
//
//  1. Several olm.operand.supported of one name are alternatives. Several
//     olm.relatedImageBundle or olm.operand.required of one name must all hold.
//  2. Resolve looks up a name among the operands that a bundle supports. If the bundle supports none
//     with that name, it looks among the sets of related images that the bundle uses.
//  3. A resolution contains at most one bundle of each package.
//  4. An entry with different images in two catalogs is a conflict, never a choice.
func (s *Set) Resolve(b *Bundle, requests []Request) (*Resolution, error) {
	r := &Resolution{Bundle: b}
	for _, q := range requests {
		c, err := s.choose(b, q)
		if err != nil {
			return nil, err
		}
		r.Asked = append(r.Asked, c)
	}
	required, err := s.require(b)
	r.Required = required
	return r, err
}

// takes returns which entries a bundle accepts for a name: their schema, a test for versions, and the claims in
// words, or "" if there are none.
func (b *Bundle) takes(name string) (schema string, holds func(semver.Version) bool, words string) {
	if claims := b.about(TypeSupported, name); len(claims) > 0 {
		return SchemaOperand, func(v semver.Version) bool { return anyHolds(claims, v) }, "supports " + texts(claims, " or ")
	}
	claims := b.about(TypeRelatedImageBundle, name)
	if len(claims) == 0 {
		return "", func(semver.Version) bool { return false }, ""
	}
	return SchemaRelatedImages, func(v semver.Version) bool { return allHold(claims, v) }, "uses " + texts(claims, " and ")
}

func anyHolds(claims []Claim, v semver.Version) bool {
	return slices.ContainsFunc(claims, func(c Claim) bool { return c.Range.Holds(v) })
}

func allHold(claims []Claim, v semver.Version) bool {
	return !slices.ContainsFunc(claims, func(c Claim) bool { return !c.Range.Holds(v) })
}

func texts(claims []Claim, and string) string {
	var out []string
	for _, c := range claims {
		out = append(out, c.Range.Text)
	}
	return strings.Join(out, and)
}

// choose returns the highest entry for one request.
func (s *Set) choose(b *Bundle, q Request) (Chosen, error) {
	schema, holds, words := b.takes(q.Name)
	if words == "" {
		return Chosen{}, b.unresolvable(q, "the bundle supports no operand of that name%s", b.namesTaken()).
			Fix("Name an operand that the bundle uses.")
	}
	all := s.of(schema, q.Name, b)
	if len(all) == 0 {
		return Chosen{}, b.unresolvable(q, "no catalog has an %s named %s", schema, q.Name).
			Fix("Also give the catalog that has it.")
	}
	var passed []string
	for _, e := range slices.Backward(all) {
		asked, taken := q.Range.Holds(e.Version), holds(e.Version)
		if asked && taken {
			if err := unambiguous(e, all); err != nil {
				return Chosen{}, err
			}
			return Chosen{Entry: e, For: b, By: b, Request: q, Reason: reason(b, q, words, passed)}, nil
		}
		passed = append(passed, missed(e, asked, taken))
	}
	return Chosen{}, b.unresolvable(q, "the bundle %s, and the nearest of %s is %s", words, count(all), nearest(all, q, holds))
}

func reason(b *Bundle, q Request, words string, passed []string) string {
	text := "the highest version"
	if q.Range.Text != "" {
		text += " within " + q.Range.Text
	}
	text += " for " + b.Name + ", which " + words
	if len(passed) > 0 {
		text += "; skipped: " + few(slices.Compact(passed))
	}
	return text
}

// few shortens a list that is too long to read.
func few(all []string) string {
	const most = 4
	if len(all) > most {
		all = append(slices.Clone(all[:most]), fmt.Sprintf("and %d more", len(all)-most))
	}
	return strings.Join(all, ", ")
}

func missed(e *Entry, asked, taken bool) string {
	switch {
	case asked:
		return e.Version.String() + " (not supported)"
	case taken:
		return e.Version.String() + " (not requested)"
	}
	return e.Version.String() + " (neither requested nor supported)"
}

// nearest describes the entry that comes closest: a requested one before an accepted one, before any other, and
// the highest of those.
func nearest(all []*Entry, q Request, holds func(semver.Version) bool) string {
	var best *Entry
	least := 3
	for _, e := range slices.Backward(all) {
		fails := 2
		if q.Range.Holds(e.Version) {
			fails = 0
		} else if holds(e.Version) {
			fails = 1
		}
		if fails < least {
			best, least = e, fails
		}
	}
	why := [...]string{"which is requested and not supported", "which is supported and not requested", "which is neither requested nor supported"}
	return fmt.Sprintf("%s at %s, %s", best.Version, best.Pos, why[least])
}

func count(all []*Entry) string {
	if len(all) == 1 {
		return "1 version"
	}
	return fmt.Sprintf("%d versions", len(all))
}

// unambiguous refuses an entry that has other images in another place.
func unambiguous(e *Entry, all []*Entry) error {
	for _, o := range all {
		if o != e && Compare(o.Version, e.Version) == 0 && !slices.Equal(e.sorted(), o.sorted()) {
			return failure.New(failure.OperandUnresolvable, "resolving %s %s: %s and %s give it different images", e.Name, e.Version, o.Pos, e.Pos).
				At(e.File, e.Line, 1).Fix("Make the two entries agree, or give only the intended catalog.")
		}
	}
	return nil
}

func (b *Bundle) unresolvable(q Request, format string, args ...any) *failure.Error {
	return failure.New(failure.OperandUnresolvable, "resolving %s for %s: %s", q, b.Name, fmt.Sprintf(format, args...)).At(b.File, b.Line, 1)
}

func (b *Bundle) namesTaken() string {
	var names []string
	for _, c := range b.Claims {
		if c.Type != TypeRequired && !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return " and no other"
	}
	return "; it supports " + strings.Join(names, ", ")
}
