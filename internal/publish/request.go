package publish

import (
	"net/url"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/plan"
)

// Request is a bundle to publish, and what its publisher asks for. A change is made again
// from its requests and a base alone.
type Request struct {
	event.Publication
	Asked plan.Asked
}

// parameter is one thing that can be asked for: an input of the action, a flag, a part of
// a request's text.
type parameter struct {
	name string
	one  func(*plan.Asked) *string
	many func(*plan.Asked) *[]string
}

var parameters = []parameter{
	{name: "channels", many: func(a *plan.Asked) *[]string { return &a.Channels }},
	{name: "template", one: func(a *plan.Asked) *string { return &a.Template }},
	{name: "catalog", one: func(a *plan.Asked) *string { return &a.Catalog }},
	{name: "replaces", one: func(a *plan.Asked) *string { return &a.Edges.Replaces }},
	{name: "skips", many: func(a *plan.Asked) *[]string { return &a.Edges.Skips }},
	{name: "skip-range", one: func(a *plan.Asked) *string { return &a.Edges.SkipRange }},
	{name: "default-channel", one: func(a *plan.Asked) *string { return &a.DefaultChannel }},
	{name: "substitutes-for", one: func(a *plan.Asked) *string { return &a.SubstitutesFor }},
	{name: "rebuild", one: func(a *plan.Asked) *string { return &a.Rebuild }},
	{name: "instead-of", one: func(a *plan.Asked) *string { return &a.InsteadOf }},
	{name: "create", one: func(a *plan.Asked) *string { return &a.Create }},
}

// Ask reads all that can be asked for by its names.
func Ask(one func(name string) string, many func(name string) []string) plan.Asked {
	var a plan.Asked
	for _, p := range parameters {
		if p.many != nil {
			*p.many(&a) = many(p.name)
		} else {
			*p.one(&a) = one(p.name)
		}
	}
	return a
}

// eachParameter gives what is asked for as pairs of a name and a value.
func (r Request) eachParameter(visit func(name, value string)) {
	for _, p := range parameters {
		var value string
		if p.many != nil {
			value = strings.Join(*p.many(&r.Asked), ",")
		} else {
			value = *p.one(&r.Asked)
		}
		if value != "" {
			visit(p.name, value)
		}
	}
}

// String is the request in one line, as commits and pull requests keep it: the image
// and, as the query of a URL, what is asked for.
func (r Request) String() string {
	query := url.Values{}
	r.eachParameter(query.Set)
	if len(query) == 0 {
		return r.Image()
	}
	return r.Image() + "?" + query.Encode()
}

// ParseRequest reads what String wrote. It may have been edited since.
func ParseRequest(text string) (Request, error) {
	image, query, _ := strings.Cut(text, "?")
	p, err := event.ParseReference(image)
	if err != nil {
		return Request{}, err
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return Request{}, failure.New(failure.Usage, "reading the request for %s: %w", p.Image(), err)
	}
	for name := range values {
		if !slices.ContainsFunc(parameters, func(p parameter) bool { return p.name == name }) {
			return Request{}, failure.New(failure.Usage, "reading the request for %s: nobody can ask for %q", p.Image(), name)
		}
	}
	many := func(name string) []string {
		return strings.FieldsFunc(values.Get(name), func(r rune) bool { return r == ',' })
	}
	return Request{Publication: p, Asked: Ask(values.Get, many)}, nil
}

// Command is what does the same at a desk.
func (r Request) Command() string {
	words := []string{"graft publish --dry-run --image", quoted(r.Image())}
	r.eachParameter(func(name, value string) { words = append(words, "--"+name, quoted(value)) })
	return strings.Join(words, " ")
}

func quoted(word string) string {
	if strings.IndexFunc(word, func(r rune) bool {
		return !strings.ContainsRune("@%+=:,./_-", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
