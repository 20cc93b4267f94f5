package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"net/http"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// deviations lists where api.yaml differs from the excerpt on purpose, and why.
var deviations = map[string]string{
	"error.message: may be missing: true":     "GitHub says what is wrong in each error, and Graft shows it; an error of which all may be missing could be anything",
	"invalid.status: is not there":            "GitHub sends the status in each error, this one too",
	"token.expires_at: is of the kind string": "it is a time, and the relay reads it as one",
}

// api.yaml agrees with GitHub's own description of its API.
func TestDescriptionIsGitHubs(t *testing.T) {
	data, err := os.ReadFile("../../../../../shared/github/openapi.json")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("../shared is absent")
	}
	if err != nil {
		t.Fatal(err)
	}
	var theirs openAPI
	if err := json.Unmarshal(data, &theirs); err != nil {
		t.Fatal(err)
	}
	ours, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	found := theirs.differences(ours)
	for _, one := range found {
		if deviations[one] == "" {
			t.Error(one)
		}
	}
	for one := range deviations {
		if !slices.Contains(found, one) {
			t.Errorf("%s: there is no such deviation", one)
		}
	}
}

// openAPI is the part of an OpenAPI description that GitHub's uses.
type openAPI struct {
	Paths      map[string]map[string]apiOperation
	Components struct {
		Schemas    map[string]*schema
		Parameters map[string]parameter
		Responses  map[string]content
	}
	ours  *description
	found map[string]bool
}

type apiOperation struct {
	Parameters  []parameter
	RequestBody *content
	Responses   map[string]content
}

type parameter struct {
	Ref      string `json:"$ref"`
	Name, In string
	Required bool
	Schema   *schema
	Slashes  bool `json:"x-multi-segment"`
}

type content struct {
	Ref      string `json:"$ref"`
	Required bool
	Content  map[string]struct{ Schema *schema }
}

type schema struct {
	Ref                                string `json:"$ref"`
	Type, Format                       string
	Nullable                           bool
	Enum                               []any
	Items                              *schema
	Properties                         map[string]*schema
	Required                           []string
	AllOf, AnyOf, OneOf                []*schema
	MinLength, MinItems, MinProperties int
	MaxLength, MaxItems, MaxProperties *int
}

// differences returns each difference from the description once, in order.
func (d *openAPI) differences(ours *description) []string {
	d.ours, d.found = ours, map[string]bool{}
	names := regexp.MustCompile(`\{[^}]*\}`)
	plain := map[string]string{}
	for at, item := range d.Paths {
		for method := range item {
			plain[strings.ToUpper(method)+" "+names.ReplaceAllString(at, "{}")] = at
		}
	}
	for pattern, o := range ours.operations {
		at, there := plain[names.ReplaceAllString(pattern, "{}")]
		if there == o.outside {
			d.report(pattern, "is in the excerpt: %t", there)
		}
		if there {
			method, _, _ := strings.Cut(pattern, " ")
			d.operation(pattern, names.FindAllString(pattern, -1), names.FindAllString(at, -1), o, d.Paths[at][strings.ToLower(method)])
		}
	}
	return slices.Sorted(maps.Keys(d.found))
}

func (d *openAPI) report(at, format string, args ...any) {
	d.found[at+": "+fmt.Sprintf(format, args...)] = true
}

// operation compares path parameters, the query, the body and the answers.
func (d *openAPI) operation(at string, inBraces, inTheirs []string, ours *operation, theirs apiOperation) {
	params := map[string]parameter{}
	for _, p := range theirs.Parameters {
		if p.Ref != "" {
			p = d.Components.Parameters[path.Base(p.Ref)]
		}
		params[p.In+" "+p.Name] = p
	}
	for i, name := range inBraces {
		p := params["path "+strings.Trim(inTheirs[i], "{}")]
		if number := name == "{number}" || name == "{id}"; number != (p.Schema.Type == "integer") {
			d.report(at, "%s is of the kind %s", name, p.Schema.Type)
		}
		if strings.HasSuffix(name, "...}") && !p.Slashes {
			d.report(at, "%s has no slashes", name)
		}
	}
	for name, f := range ours.query[0].fields {
		if p, there := params["query "+name]; !there || p.Required || !f.optional {
			d.report(at, "the parameter %s is there: %t; it may be missing: %t", name, there, !p.Required)
		} else {
			d.compare(at+" ?"+name, f.shape, p.Schema)
		}
	}
	switch their := theirs.RequestBody; {
	case (len(ours.body) > 0) != (their != nil):
		d.report(at, "there is a body: %t", their != nil)
	case their != nil:
		d.compare(at+" body", ours.body, their.Content["application/json"].Schema)
		if must := len(ours.body.check("$", map[string]any{})) > 0; must != their.Required {
			d.report(at, "the body must be there: %t", their.Required)
		}
	}
	for status, answer := range ours.answers {
		their, there := theirs.Responses[strconv.Itoa(status)]
		if !there {
			d.report(at, "the status %d is not described", status)
			continue
		}
		if their.Ref != "" {
			their = d.Components.Responses[path.Base(their.Ref)]
		}
		d.answer(fmt.Sprintf("%s %d", at, status), status, answer, their)
	}
}

// answer expects GitHub's error as the body of a refusal that has no description.
func (d *openAPI) answer(at string, status int, ours shape, theirs content) {
	body := theirs.Content["application/json"].Schema
	switch {
	case body != nil && len(ours) > 0:
		d.compare(at, ours, body)
	case body == nil && status >= http.StatusBadRequest && len(ours) == 1 && ours[0].text == "error":
	case body != nil || len(ours) > 0:
		d.report(at, "there is a body: %t", body != nil)
	}
}

// compare checks that each of our forms is among theirs. They may have more: Graft and the stand-in do not use
// all. null must be in both or in neither.
func (d *openAPI) compare(at string, ours shape, theirs *schema) {
	all := d.forms(theirs)
	isNull := func(s *schema) bool { return s.Type == "null" }
	if null := slices.ContainsFunc(all, isNull); null != slices.ContainsFunc(ours, func(f form) bool { return f.kind == "null" }) {
		d.report(at, "may be null: %t", null)
	}
	all = slices.DeleteFunc(all, isNull)
	for _, f := range ours {
		if f.kind == "null" {
			continue
		}
		at := at
		if _, named := d.ours.shapes[f.text]; named {
			at = f.text
		}
		var nearest map[string]bool
		for _, s := range all {
			one := &openAPI{Components: d.Components, ours: d.ours, found: map[string]bool{}}
			one.form(at, f, s)
			if nearest == nil || len(one.found) < len(nearest) {
				nearest = one.found
			}
		}
		maps.Copy(d.found, nearest)
	}
}

// forms returns the forms that a schema allows, including null.
func (d *openAPI) forms(s *schema) []*schema {
	if s.Ref != "" {
		return d.forms(d.Components.Schemas[path.Base(s.Ref)])
	}
	var all []*schema
	if s.Nullable {
		all = append(all, &schema{Type: "null"})
	}
	for _, one := range slices.Concat(s.AnyOf, s.OneOf) {
		all = append(all, d.forms(one)...)
	}
	if len(s.AnyOf)+len(s.OneOf) > 0 {
		return all
	}
	whole := *s
	whole.Properties = maps.Clone(s.Properties)
	for _, part := range s.AllOf {
		p := d.forms(part)[0]
		if whole.Properties == nil {
			whole.Properties = map[string]*schema{}
		}
		maps.Copy(whole.Properties, p.Properties)
		whole.Required = slices.Concat(whole.Required, p.Required)
		whole.Type = p.Type
	}
	return append(all, &whole)
}

func (d *openAPI) form(at string, ours form, theirs *schema) {
	kind := map[string]string{"array": "list", "": "object"}[theirs.Type]
	if kind == "" {
		kind = theirs.Type
	}
	if theirs.Format == "date-time" {
		kind = "time"
	}
	if kind != ours.kind {
		d.report(at, "is of the kind %s", kind)
		return
	}
	var words []string
	for _, word := range theirs.Enum {
		words = append(words, fmt.Sprint(word))
	}
	if !slices.Equal(slices.Sorted(slices.Values(words)), slices.Sorted(slices.Values(ours.words))) {
		d.report(at, "is one of %q", words)
	}
	most := math.MaxInt
	for _, limit := range []*int{theirs.MaxLength, theirs.MaxItems, theirs.MaxProperties} {
		if limit != nil {
			most = *limit
		}
	}
	if least := theirs.MinLength + theirs.MinItems + theirs.MinProperties; least != ours.least || most != ours.most {
		d.report(at, "has a size of %d to %d", least, most)
	}
	switch {
	case kind == "list":
		d.compare(at+"[]", ours.item, theirs.Items)
	case kind == "object" && ours.fields == nil && len(theirs.Properties) > 0:
		d.report(at, "has fields of its own")
	case kind == "object" && ours.fields != nil:
		d.fields(at, ours, theirs)
	}
}

func (d *openAPI) fields(at string, ours form, theirs *schema) {
	for name, f := range ours.fields {
		s, there := theirs.Properties[name]
		if !there {
			d.report(at+"."+name, "is not there")
			continue
		}
		if required := slices.Contains(theirs.Required, name); required == f.optional {
			d.report(at+"."+name, "may be missing: %t", !required)
		}
		d.compare(at+"."+name, f.shape, s)
	}
	for _, name := range theirs.Required {
		if _, there := ours.fields[name]; !there {
			d.report(at+"."+name, "must be there")
		}
	}
}
