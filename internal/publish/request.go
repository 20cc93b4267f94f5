package publish

import (
	"net/url"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/plan"
)

// Request is a bundle to publish with its publisher's parameters, or an Edit instead. A change can be made
// again from its requests and a base.
type Request struct {
	event.Publication
	Asked plan.Asked
	Edit  Edit
	// Swept has the sweep's other results. It is nil if the image was named.
	Swept *Swept
}

// parameter is a parameter of a request: an input of the action, a flag, a part of a request's text.
type parameter struct {
	name string
	one  func(*Request) *string
	many func(*Request) *[]string
	is   func(*Request) *bool
}

var parameters = []parameter{
	{name: "channels", many: func(r *Request) *[]string { return &r.Asked.Channels }},
	{name: "template", one: func(r *Request) *string { return &r.Asked.Template }},
	{name: "catalog", one: func(r *Request) *string { return &r.Asked.Catalog }},
	{name: "replaces", one: func(r *Request) *string { return &r.Asked.Edges.Replaces }},
	{name: "skips", many: func(r *Request) *[]string { return &r.Asked.Edges.Skips }},
	{name: "skip-range", one: func(r *Request) *string { return &r.Asked.Edges.SkipRange }},
	{name: "default-channel", one: func(r *Request) *string { return &r.Asked.DefaultChannel }},
	{name: "substitutes-for", one: func(r *Request) *string { return &r.Asked.SubstitutesFor }},
	{name: "rebuild", one: func(r *Request) *string { return &r.Asked.Rebuild }},
	{name: "semver-skips", one: func(r *Request) *string { return (*string)(&r.Asked.SemverSkips) }},
	{name: "instead-of", one: func(r *Request) *string { return &r.Asked.InsteadOf }},
	{name: "create", one: func(r *Request) *string { return &r.Asked.Create }},
	{name: "remove", many: func(r *Request) *[]string { return &r.Edit.Remove }},
	{name: "remove-channels", many: func(r *Request) *[]string { return &r.Edit.RemoveChannels }},
	{name: "tombstone", is: func(r *Request) *bool { return &r.Edit.Tombstone }},
	{name: "deprecate", many: func(r *Request) *[]string { return &r.Edit.Deprecate }},
	{name: "deprecate-channels", many: func(r *Request) *[]string { return &r.Edit.DeprecateChannels }},
	{name: "deprecation", one: func(r *Request) *string { return &r.Edit.Deprecation }},
	{name: "edges", one: func(r *Request) *string { return &r.Edit.Edges }},
	{name: "package", one: func(r *Request) *string { return &r.Edit.Package }},
	{name: "allow-stranded", is: func(r *Request) *bool { return &r.Edit.AllowStranded }},
}

// Parameters returns the names of all parameters.
func Parameters() (names []string) {
	for _, p := range parameters {
		names = append(names, p.name)
	}
	return names
}

// Ask reads all parameters by name.
func Ask(one func(name string) string, many func(name string) []string) Request {
	var r Request
	for _, p := range parameters {
		switch {
		case p.many != nil:
			*p.many(&r) = many(p.name)
		case p.is != nil:
			*p.is(&r) = strings.EqualFold(one(p.name), "true")
		default:
			*p.one(&r) = one(p.name)
		}
	}
	return r
}

// eachParameter visits the set parameters with their values.
func (r Request) eachParameter(visit func(p parameter, value string)) {
	for _, p := range parameters {
		var value string
		switch {
		case p.many != nil:
			value = strings.Join(*p.many(&r), ",")
		case p.is != nil:
			if *p.is(&r) {
				value = "true"
			}
		default:
			value = *p.one(&r)
		}
		if value != "" {
			visit(p, value)
		}
	}
}

// edit replaces the image in the text of a request for an Edit. No image has this name without a tag or digest.
const edit = "edit"

// String returns the request on one line, as in commits and pull requests: the image, and the parameters as a
// URL's query.
func (r Request) String() string {
	image := edit
	if !r.Edit.Said() {
		image = r.Image()
	}
	query := url.Values{}
	r.eachParameter(func(p parameter, value string) { query.Set(p.name, value) })
	if len(query) == 0 {
		return image
	}
	return image + "?" + query.Encode()
}

// ParseRequest parses the result of String, which may have been edited since.
func ParseRequest(text string) (Request, error) {
	image, query, _ := strings.Cut(text, "?")
	var p event.Publication
	if image != edit {
		var err error
		if p, err = event.ParseReference(image); err != nil {
			return Request{}, err
		}
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return Request{}, failure.New(failure.Usage, "reading the request for %s: %w", image, err)
	}
	for name := range values {
		if !slices.ContainsFunc(parameters, func(p parameter) bool { return p.name == name }) {
			return Request{}, failure.New(failure.Usage, "reading the request for %s: %q is not a parameter", image, name)
		}
	}
	r := Ask(values.Get, func(name string) []string {
		return strings.FieldsFunc(values.Get(name), func(r rune) bool { return r == ',' })
	})
	r.Publication = p
	if r.Edit.Said() != (image == edit) {
		return Request{}, failure.New(failure.Usage, "reading the request for %s: it has an image and an edit, or neither", image)
	}
	return r, nil
}

// again reports whether another request has the same image and the same parameters.
func (r Request) again(other Request) bool {
	r.Tag, other.Tag = "", ""
	return r.Digest != "" && r.String() == other.String()
}

// Command returns the command that does the same locally, with flags for its source.
func (r Request) Command(flags ...string) string {
	words := append([]string{"graft publish --dry-run"}, flags...)
	if !r.Edit.Said() {
		words = append(words, "--image", Quoted(r.Image()))
	}
	r.eachParameter(func(p parameter, value string) {
		if p.is != nil {
			value = ""
		}
		words = append(words, Flag(p.name, value))
	})
	return strings.Join(words, " ")
}

// Flag returns a flag as a shell reads it. A flag without a value is a switch.
func Flag(name, value string) string {
	if value == "" {
		return "--" + name
	}
	return "--" + name + " " + Quoted(value)
}

// Quoted returns a word as a shell reads it.
func Quoted(word string) string {
	if strings.IndexFunc(word, func(r rune) bool {
		return !strings.ContainsRune("@%+=:,./_-", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
