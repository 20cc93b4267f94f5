package api

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// description holds the documentation of each operation, such as GET /repos/{owner}/{repo}.
type description struct {
	operations map[string]*operation
	shapes     map[string]shape
}

// operation holds the query as an object. A nil shape means no body.
type operation struct {
	path        *regexp.Regexp
	query, body shape
	answers     map[int]shape
	// outside marks an operation that the excerpt of GitHub's own description leaves out.
	outside bool
}

// read reads the notation that api.yaml explains at its top.
func read(data []byte) (*description, error) {
	type operations map[string]struct {
		Query   map[string]any
		Body    any
		Answers map[int]any
	}
	var text struct {
		Operations operations
		Outside    operations `yaml:"outside the excerpt"`
		Shapes     map[string]any
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&text); err != nil {
		return nil, err
	}
	d := &description{map[string]*operation{}, map[string]shape{}}
	r := &reader{text: text.Shapes, made: d.shapes}
	for i, part := range []operations{text.Operations, text.Outside} {
		for pattern, of := range part {
			path := regexp.MustCompile("^" + braces.ReplaceAllStringFunc(pattern, inBraces) + "$")
			o := &operation{path: path, query: r.object(of.Query), answers: map[int]shape{}, outside: i > 0}
			if of.Body != nil {
				o.body = r.shape(of.Body)
			}
			for status, answer := range of.Answers {
				o.answers[status] = r.shape(answer)
			}
			if d.operations[pattern] != nil {
				r.fail("%s occurs twice", pattern)
			}
			d.operations[pattern] = o
		}
	}
	if unused := slices.Sorted(maps.Keys(r.text)); len(unused) > 0 {
		r.fail("nothing needs the shapes %q", unused)
	}
	return d, r.err
}

var braces = regexp.MustCompile(`\{[a-z.]+\}`)

// inBraces returns the pattern for the values of {name}.
func inBraces(name string) string {
	switch {
	case name == "{number}" || name == "{id}":
		return `\d+`
	case strings.HasSuffix(name, "...}"):
		return `.+`
	}
	return `[^/]+`
}

// reader builds each named shape on first use and keeps the first error.
type reader struct {
	text map[string]any
	made map[string]shape
	err  error
}

func (r *reader) fail(format string, args ...any) shape {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
	return nil
}

func (r *reader) shape(node any) (s shape) {
	switch n := node.(type) {
	case map[string]any:
		return r.object(n)
	case []any:
		if len(n) == 0 || len(n) > 2 {
			return r.fail("%v is no list of one shape", n)
		}
		f := form{kind: "list", text: fmt.Sprint(n), most: math.MaxInt, item: r.shape(n[0])}
		if len(n) > 1 {
			f.least, f.most = r.bounds(fmt.Sprint(n[1]))
		}
		return shape{f}
	case string:
		for one := range strings.SplitSeq(n, " or ") {
			s = append(s, r.alternative(one)...)
		}
		return s
	}
	return r.fail("%v is no shape", node)
}

func (r *reader) alternative(text string) shape {
	f := form{kind: "string", text: text, most: math.MaxInt}
	if words, exact := strings.CutPrefix(text, "="); exact || strings.Contains(words, "|") {
		f.words = strings.Split(words, "|")
		return shape{f}
	}
	kind, bounds, bounded := strings.Cut(text, " ")
	switch kind {
	case "nothing":
		return nil
	case "null", "boolean", "integer", "string", "time", "object":
		if f.kind = kind; bounded {
			f.least, f.most = r.bounds(bounds)
		}
		return shape{f}
	}
	return r.named(text)
}

func (r *reader) named(name string) shape {
	if known, ok := r.made[name]; ok {
		return known
	}
	node, ok := r.text[name]
	if !ok {
		return r.fail("there is no shape %q, or it holds itself", name)
	}
	delete(r.text, name)
	s := slices.Clone(r.shape(node))
	for i := range s {
		if s[i].item != nil || s[i].fields != nil {
			s[i].text = name
		}
	}
	r.made[name] = s
	return s
}

func (r *reader) object(node map[string]any) shape {
	fields := map[string]field{}
	for names, one := range node {
		names, optional := strings.CutPrefix(names, "maybe ")
		for name := range strings.FieldsSeq(names) {
			if _, twice := fields[name]; twice {
				return r.fail("the field %s occurs twice", name)
			}
			fields[name] = field{r.shape(one), optional}
		}
	}
	if like, ok := fields["like"]; ok {
		delete(fields, "like")
		if len(like.shape) != 1 || like.shape[0].fields == nil {
			return r.fail("like names no object with fields")
		}
		for name, theirs := range like.shape[0].fields {
			if _, ours := fields[name]; !ours {
				fields[name] = theirs
			}
		}
	}
	return shape{{kind: "object", text: "object", most: math.MaxInt, fields: fields}}
}

// bounds reads 1..100. Either end may be missing.
func (r *reader) bounds(text string) (least, most int) {
	from, to, ok := strings.Cut(text, "..")
	if to == "" {
		to = strconv.Itoa(math.MaxInt)
	}
	least, wrong := strconv.Atoi("0" + from)
	most, err := strconv.Atoi(to)
	if !ok || wrong != nil || err != nil {
		r.fail("%q are no bounds", text)
	}
	return least, most
}
