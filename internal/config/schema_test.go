package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/yamledit"
)

// validator returns the schema compiled by an independent validator.
func validator(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("graft.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("graft.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// valid validates a YAML text with the schema, as an editor does.
func valid(s *jsonschema.Schema, src string) error {
	var v any
	if err := yaml.Unmarshal([]byte(src), &v); err != nil {
		return err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

// keywords are the keywords of JSON Schema that check understands. The schema uses no others.
var keywords = []string{
	"$schema", "$id", "$ref", "$defs", "title", "description", "default", "examples",
	"type", "enum", "pattern", "not", "minLength", "maxLength",
	"properties", "additionalProperties", "propertyNames", "required",
	"items", "minItems", "uniqueItems",
}

func TestSchemaIsSound(t *testing.T) {
	validator(t)
	known := map[string]bool{}
	for _, k := range keywords {
		known[k] = true
	}
	var walk func(n *yamledit.Node, path string)
	walk = func(n *yamledit.Node, path string) {
		if n.Kind != yamledit.Mapping {
			return
		}
		for i := 0; i < len(n.Children); i += 2 {
			key, v := n.Children[i].Value, n.Children[i+1]
			at := path + "/" + key
			switch key {
			case "properties", "$defs":
				for j := 0; j < len(v.Children); j += 2 {
					if key == "properties" && !strings.HasSuffix(v.Children[j+1].Get("description").Text(), ".") {
						t.Errorf("%s/%s has no sentence that describes it", at, v.Children[j].Value)
					}
					walk(v.Children[j+1], at+"/"+v.Children[j].Value)
				}
			case "items", "additionalProperties", "propertyNames":
				walk(v, at)
			case "not":
				for _, k := range v.Keys() {
					if k != "pattern" && k != "required" {
						t.Errorf("%s/%s is unknown to check", at, k)
					}
				}
			case "examples", "default", "description", "title":
			case "$ref":
				if resolved(n) == nil {
					t.Errorf("%s leads nowhere", at)
				}
				for _, k := range n.Keys() {
					if !slices.Contains([]string{"$ref", "description", "default", "examples"}, k) {
						t.Errorf("%s: check passes over %s beside $ref", at, k)
					}
				}
			default:
				if !known[key] {
					t.Errorf("%s is unknown to check", at)
				}
			}
		}
		if n.Get("properties") != nil && n.Get("additionalProperties").Text() != "false" {
			t.Errorf("%s allows unknown keys", path)
		}
	}
	walk(schemaNode(), "")
}

func TestSchemaKnowsEveryFinding(t *testing.T) {
	var want []string
	for _, r := range graph.Rules {
		want = append(want, r.ID)
	}
	if got := schemaNode().Get("$defs").Get("finding").Get("enum").Strings(); !slices.Equal(got, want) {
		t.Errorf("the schema knows the findings\n%v\ngraph has\n%v", got, want)
	}
}

// The defaults in the schema equal those of Default.
func TestSchemaTellsTheDefaults(t *testing.T) {
	var said strings.Builder
	defs := schemaNode().Get("$defs")
	for _, def := range []string{"pullRequest", "commit"} {
		said.WriteString(def + ":\n")
		properties := defs.Get(def).Get("properties")
		for i := 0; i < len(properties.Children); i += 2 {
			if d := properties.Children[i+1].Get("default"); d != nil {
				fmt.Fprintf(&said, "  %s: %s\n", properties.Children[i].Value, Schema[d.Start:d.End])
			}
		}
	}
	got, err := Parse("", []byte(said.String()))
	if err != nil {
		t.Fatal(err)
	}
	if want := Default(); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("the schema says\n%+v\nthe program has\n%+v", got, want)
	}
}

// accepted are valid files; the first one sets every key.
var accepted = []string{
	full,
	"package: op\n",
	"edges: from-csv\ntargets: [{template: t.yaml, edges: like-siblings}]\n",
	"targets:\n- template: t.yaml\n",
	"targets: [{template: ./a/*.yaml, catalogs: [{path: 'catalogs/{template}/{package}/catalog.json'}]}]\n",
	"targets: [{template: v*/t.yaml, catalogs: [{path: '{folder}/catalog'}, {path: 'v{platform}/catalog-{platformDashed}/'}]}]\n",
	"targets:\n- template: op/\n  package: op2\n  rules:\n  - channels: [a]\n",
	"targets:\n- template: t.yaml\n  rules:\n  - {versions: '>=1.0.0 <2.0.0-0 || 3.x', channels: [a]}\n  - {versions: '!=1.0.0', channels: [a]}\n  - {versions: '>1.2.x', channels: [b]}\n",
	"edges: {}\n",
	"versionsLabel: honour\n",
	"edges:\n  skipRange: '<{version}'\n",
	"edges:\n  skipRange: '>={major}.{minor}.0 <{major}.{minor}.{patch} || >=0.1.0-rc.1 <=0.2.0'\n",
	"skipTags: []\n",
	"skipTags: ['', '*-source']\n",
	"allowedRepositories: ['quay.io/**', '[::1]:5000/x', 'localhost:5000/*']\n",
	"registries: {}\n",
	"levels:\n  stable-head-prerelease: off\n",
	"pullRequest: {strategy: package, branch: 'bot/{package}'}\n",
	"pullRequest: {branch: 'bot/{name}'}\n",
	"commit: {message: \"{name}\\n\\nSee the notes.\\n\"}\n",
	"{\"package\": \"op\"}\n",
	"# a comment\n---\npackage: op # another\n...\n",
}

// refused are files with a fault that both the schema and Parse report, with its place.
var refused = []struct{ src, place, message, remedy string }{
	{"versionsLabel: maybe\n", "1:16", `there is no "maybe"`, ""},
	{"packag: op\n", "1:1", "there is no key packag", "Did you mean package? "},
	{"Package: op\n", "1:1", "there is no key Package", "Did you mean package? "},
	{"x-y: 1\n", "1:1", "there is no key x-y", "Its keys are package, targets"},
	{"package: Op\n", "1:10", `reading package: "Op" is not the name of a package`, "lower case"},
	{"package: -op\n", "1:10", `is not the name of a package`, ""},
	{"package: 1\n", "1:10", "reading package: it is a number and must be a text", `Write it in quotes: "1".`},
	{"package:\n", "1:9", "it is empty and must be a text", "remove the key"},
	{"package: [op]\n", "1:10", "it is a list and must be a text", ""},
	{"- package: op\n", "1:1", "it is not a mapping", ""},
	{"targets: []\n", "1:10", "the list is empty", ""},
	{"targets: {}\n", "1:10", "reading targets: it is a mapping and must be a list", ""},
	{"targets: [t.yaml]\n", "1:11", "reading targets[0]: it is a text and must be a mapping", ""},
	{"targets:\n- channels: [a]\n", "2:3", "reading targets[0]: template is missing", "Add template."},
	{"targets:\n- template: t.yaml\n  channels: [a]\n  rules: [{channels: [b]}]\n", "2:3", "it has both channels and rules", "Keep one"},
	{"targets:\n- template: t.yaml\n  chanels: [a]\n", "3:3", "there is no key chanels", "Did you mean channels? "},
	{"targets:\n- template: /etc/passwd\n", "2:13", `"/etc/passwd" is not a path within the repository`, "from the top of the repository"},
	{"targets:\n- template: ../t.yaml\n", "2:13", "is not a path within the repository", ""},
	{"targets:\n- template: a/../../t.yaml\n", "2:13", "is not a path within the repository", ""},
	{"targets:\n- template: a/..\n", "2:13", "is not a path within the repository", ""},
	{"targets:\n- template: 'a\\t.yaml'\n", "2:13", "is not a path within the repository", "with slashes"},
	{"targets:\n- template: 'C:t.yaml'\n", "2:13", "is not a path within the repository", ""},
	{"targets:\n- template: .\n", "2:13", "is not a path within the repository", ""},
	{"targets:\n- template: '{pkg}/t.yaml'\n", "2:13", "is not a path", "{package}"},
	{"targets:\n- template: '{package/t.yaml'\n", "2:13", "is not a path", ""},
	{"targets:\n- template: t.yaml\n  create: raw\n", "3:11", `reading targets[0].create: there is no "raw"`, "basic, semver, goodstuff"},
	{"targets:\n- template: t.yaml\n  channels: []\n", "3:13", "the list is empty", ""},
	{"targets:\n- template: t.yaml\n  channels: stable\n", "3:13", `"stable" is not a list of channels`, "Write a list such as [stable], or from-bundle."},
	{"targets:\n- template: t.yaml\n  channels: [a, a]\n", "3:17", `"a" occurs twice`, ""},
	{"targets:\n- template: t.yaml\n  channels: [4.10]\n", "3:14", "it is a number and must be a text", `"4.10"`},
	{"targets:\n- template: t.yaml\n  channels: ['a b']\n", "3:14", `"a b" is not the name of a channel`, ""},
	{"targets:\n- template: t.yaml\n  channels: ['v{majr}']\n", "3:14", "is not the name of a channel", "{major}"},
	{"targets:\n- template: t.yaml\n  rules: [{versions: prereleases, channels: [a]}]\n", "3:22", `"prereleases" is not a rule for versions`, "prerelease, release, or a range"},
	{"targets:\n- template: t.yaml\n  rules: [{versions: '>=1.2', channels: [a]}]\n", "3:22", "is not a rule for versions", ""},
	{"targets:\n- template: t.yaml\n  rules: [{versions: prerelease}]\n", "3:11", "channels is missing", ""},
	{"targets:\n- template: t.yaml\n  catalogs: [{path: /catalog}]\n", "3:21", `"/catalog" is not a file or folder of a catalog`, "{folder}"},
	{"targets:\n- template: t.yaml\n  catalogs: [{path: '*/catalog.yaml'}]\n", "3:21", "is not a file or folder of a catalog", ""},
	{"targets:\n- template: t.yaml\n  catalogs: [{path: ../catalog.yaml}]\n", "3:21", "is not a file or folder of a catalog", ""},
	{"targets:\n- template: t.yaml\n  catalogs: [{path: c.yaml, exclude: [{channels: [a], platforms: {min: latest}}]}]\n", "3:72", "is not a version of a platform", ""},
	{"targets:\n- template: t.yaml\n  catalogs: [{path: c.yaml, include: [{versions: '>=1.2'}]}]\n", "3:50", "is not a rule for versions", ""},
	{"targets:\n- template: t.yaml\n  catalogs: [{path: c.yaml, danglingReplaces: drop}]\n", "3:47", `there is no "drop"`, ""},
	{"targets:\n- template: t.yaml\n  catalogs: [{path: c.yaml, platform: 4.20}]\n", "3:39", "it is a number and must be a text", `Write it in quotes: "4.20".`},
	{"targets:\n- template: t.yaml\n  catalogs: [{path: c.yaml, platform: latest}]\n", "3:39", "is not a version of a platform", ""},
	{"targets:\n- template: t.yaml\n  catalogs: [{path: c.yaml, metadata: csvMetadata}]\n", "3:39", `there is no "csvMetadata"`, "Did you mean csv-metadata? "},
	{"targets:\n- template: t.yaml\n  catalogs: [{metadata: auto}]\n", "3:14", "path is missing", ""},
	{"edges: natural\n", "1:8", `"natural" is not a way to find edges`, "Write from-csv, like-siblings"},
	{"edges: {explicit: 'yes'}\n", "1:19", "it is a text and must be true or false", ""},
	{"edges: {explicit: yes}\n", "1:19", "it is a text and must be true or false", ""},
	{"catalogSources: [{path: a.yaml}]\n", "1:18", "image is missing", "Add image"},
	{"catalogSources: [{path: a.yaml, image: quay.io/a/b}]\n", "1:40", `"quay.io/a/b" is not an image with a tag`, "REGISTRY/NAME:TAG"},
	{"catalogSources: [{path: a.yaml, image: 'quay.io/a/b:v1', form: old}]\n", "1:64", `there is no "old"`, "new, legacy"},
	{"catalogSources: [{path: a.yaml, image: 'quay.io/a/b:v1', name: A_b}]\n", "1:64", `"A_b" is not the name of an object`, "lower case"},
	{"catalogSources: [{path: ../a.yaml, image: 'quay.io/a/b:v1'}]\n", "1:25", "is not a path within the repository", ""},
	{"edges: {skiprange: '<1.0.0'}\n", "1:9", "there is no key skiprange", "Did you mean skipRange? "},
	{"edges: {skipRange: '>={version'}\n", "1:20", "is not a pattern for a range", ">={major}.{minor}.0"},
	{"edges: {skipRange: anything}\n", "1:20", "is not a pattern for a range", ""},
	{"edges: {replaces: 'op {version}'}\n", "1:19", "is not a pattern for a name", ""},
	{"registries: {quay.io/x:v1: quay.io/y}\n", "1:14", `reading a key of registries: "quay.io/x:v1" is not a repository`, "without tag and digest"},
	{"registries: {quay.io/x: quay.io/Y}\n", "1:25", "is not a repository", ""},
	{"registries: {quay.io/x: 'quay.io/y@sha256:0'}\n", "1:25", "is not a repository", ""},
	{"registries: [quay.io/x]\n", "1:13", "it is a list and must be a mapping", ""},
	{"allowedRepositories: []\n", "1:22", "the list is empty", ""},
	{"allowedRepositories: ['quay.io/Org/*']\n", "1:23", "is not a name or pattern of one", ""},
	{"skipTags: ['a b']\n", "1:12", "is not a name or pattern of one", ""},
	{"levels: {stable-head: off}\n", "1:10", `there is no "stable-head"`, "documentation"},
	{"levels: {stable-head-prereleases: off}\n", "1:10", `there is no "stable-head-prereleases"`, "Did you mean stable-head-prerelease? "},
	{"levels: {stable-head-prerelease: warn}\n", "1:34", `there is no "warn"`, "error, warning, off"},
	{"levels: {stable-head-prerelease: false}\n", "1:34", "it is true or false and must be a text", ""},
	{"pullRequest: {title: \"a\\nb\"}\n", "1:22", "is not a title", ""},
	{"pullRequest: {title: ''}\n", "1:22", "is not a title", ""},
	{"pullRequest: {title: '{digest}'}\n", "1:22", "is not a title", "{package}"},
	{"pullRequest: {title: '" + strings.Repeat("é", 201) + "'}\n", "1:22", "it has 201 characters, more than 200", "Shorten"},
	{"pullRequest: {intro: '}'}\n", "1:22", "is not a text that Graft can fill in", ""},
	{"pullRequest: {branch: 'a..b/{version}'}\n", "1:23", "is not the name of a branch", ""},
	{"pullRequest: {branch: '-x/{version}'}\n", "1:23", "is not the name of a branch", ""},
	{"pullRequest: {branch: 'x/{version}.lock'}\n", "1:23", "is not the name of a branch", ""},
	{"pullRequest: {base: 'refs heads'}\n", "1:21", "is not the name of a branch", ""},
	{"pullRequest: {reviewers: ['@octo']}\n", "1:27", "is not a name or pattern of one", "without @"},
	{"pullRequest: {teamReviewers: [org/team]}\n", "1:31", "is not a name or pattern of one", ""},
	{"pullRequest: {labels: [a, a]}\n", "1:27", "occurs twice", ""},
	{"pullRequest: {labels: ['']}\n", "1:24", "it is empty", ""},
	{"pullRequest: {milestone: 3}\n", "1:26", "it is a number and must be a text", ""},
	{"pullRequest: {autoMerge: true}\n", "1:26", "it is true or false and must be a text", ""},
	{"pullRequest: {autoMerge: fast-forward}\n", "1:26", `there is no "fast-forward"`, "merge, squash, rebase"},
	{"pullRequest: {strategy: rolling}\n", "1:25", `there is no "rolling"`, "bundle, package"},
	{"pullRequest: {draft: 1}\n", "1:22", "it is a number and must be true or false", ""},
	{"commit: {author: bot}\n", "1:18", "is not a name with an address", "NAME <ADDRESS>"},
	{"commit: {author: 'Bot <bot>'}\n", "1:18", "is not a name with an address", ""},
	{"commit: {message: ''}\n", "1:19", "is not a text that Graft can fill in", ""},
	{"commit: {method: rebase}\n", "1:18", `there is no "rebase"`, "git, api"},
	{"sum: ../catalog.sum\n", "1:6", "is not a path within the repository", ""},
	{"sum: sums/\n", "1:6", "is not a path within the repository", ""},
}

// beyondSchema are files with a fault that only Parse reports.
var beyondSchema = []struct{ src, place, message, remedy string }{
	{"package: a\npackage: a\n", "2:1", "the key package occurs twice", "Keep one"},
	{"package: a\n---\npackage: b\n", "2:1", "a second document follows", "Keep one document"},
	{"package: a\n\tb: c\n", "2:1", "parsing it as YAML", ""},
	{"targets:\n- template: 'a/[b.yaml'\n", "2:13", "is no pattern: a bracket is not closed", ""},
	{"targets:\n- template: t.yaml\n  catalogs: [{path: c.yaml, exclude: [{platforms: {min: '4.14'}}]}]\n", "3:39", "a rule picks every bundle", "Give versions"},
	{"targets:\n- template: a/*.yaml\n  create: basic\n", "3:11", "create begins one template", "Name the template"},
	{"targets:\n- template: t.yaml\n  rules: [{versions: '>=01.0.0', channels: [a]}]\n", "3:22", "is not a range of versions", ""},
	{"catalogSources: [{path: a.yaml, image: 'quay.io/a/b:v1', kind: ClusterCatalog, form: new}]\n", "1:86", "a ClusterCatalog has one form", "Remove form."},
	{"catalogSources: [{path: a.yaml, image: 'quay.io/a/b:v1', kind: ClusterCatalog, namespace: a}]\n", "1:91", "a ClusterCatalog has no namespace", "Remove namespace."},
	{"catalogSources: [{path: a.yaml, image: 'quay.io/a/b:v1', poll: 3}]\n", "1:64", "a CatalogSource is named by digest, which is not polled", "kind: ClusterCatalog"},
	{"catalogSources: [{path: a.yaml, image: 'quay.io/a/b:v1', kind: ClusterCatalog, poll: 0}]\n", "1:86", "0 is not a number of minutes", "Write 1 or more."},
	{"catalogSources: [{path: a.yaml, image: 'quay.io/a/b:v1', kind: ClusterCatalog, poll: 1, template: 'quay.io/a/b:v{kube_minor_version}'}]\n", "1:86", "poll keeps the manifest to a tag", "Keep one of the two."},
	{"catalogSources: [{path: a.yaml, image: 'quay.io/a/b:v1', priority: 3000000000}]\n", "1:68", "3000000000 is out of range", "Write a number of 32 bits."},
	{"catalogSources: [{path: a.yaml, image: 'quay.io/a/b:v1', template: 'quay.io/a/b:v{major}'}]\n", "1:68", "{major} is not a template: there is no variable", "docs/catalogsource.md"},
	{"catalogSources: [{path: a.yaml, image: 'quay.io/a/b:v1', template: 'quay.io/a/b:v1'}]\n", "1:68", "it has no variable", ""},
	{"catalogSources: [{path: a.yaml, image: 'quay.io/a/b:v1'}, {path: ./a.yaml, image: 'quay.io/a/b:v2'}]\n", "1:66", "a.yaml occurs twice", "the name of its CatalogSource"},
	{"catalogSources: [{path: a.json, image: 'quay.io/a/b:v1'}]\n", "1:25", "a.json is not a manifest", ".yaml or .yml"},
	{"catalogSources: [{path: .git/a.yaml, image: 'quay.io/a/b:v1'}]\n", "1:25", "is not a manifest", ""},
	{"catalogSources: [{path: .github/graft.yaml, image: 'quay.io/a/b:v1'}]\n", "1:25", "is this file", ""},
	{"targets: [{template: t.yaml, catalogs: [{path: c.yaml}]}]\ncatalogSources: [{path: ./c.yaml, image: 'quay.io/a/b:v1'}]\n", "2:25", "c.yaml is a catalog", "a file of its own"},
	{"operands: [{image: quay.io/a/b, name: b, files: [f.yaml]}]\ncatalogSources: [{path: a.yaml, image: 'quay.io/a/b:v1'}]\n", "2:40", "quay.io/a/b is an operand's", "in their own"},
	{"edges: {skipRange: '>=01.0.0'}\n", "1:20", "is not a range of versions", ""},
	{"pullRequest: {branch: 'bot/{package}'}\n", "1:23", "all bundles would share the branch bot/{package}", "{version}"},
	{"pullRequest: {strategy: package, branch: 'bot/{version}'}\n", "1:42", "one branch is for all versions", "Leave the version out"},
}

func TestSchemaAndParserAgree(t *testing.T) {
	s := validator(t)
	for _, src := range accepted {
		if err := valid(s, src); err != nil {
			t.Errorf("the schema refuses\n%s\n%v", src, err)
		}
		if _, err := Parse("graft.yaml", []byte(src)); err != nil {
			t.Errorf("Parse refuses\n%s\n%v", src, err)
		}
	}
	for _, r := range refused {
		if valid(s, r.src) == nil {
			t.Errorf("the schema accepts\n%s", r.src)
		}
	}
	for _, r := range append(slices.Clone(refused), beyondSchema...) {
		_, err := Parse("graft.yaml", []byte(r.src))
		f := failure.Of(err)
		if f == nil || f.Code != failure.Config {
			t.Errorf("Parse of\n%sgives %v, no config-invalid", r.src, err)
			continue
		}
		if f.Place() != "graft.yaml:"+r.place || !strings.Contains(f.Message, r.message) || !strings.Contains(f.Remedy, r.remedy) {
			t.Errorf("Parse of\n%sgives %s: %s\n  (%s), want %s: %s\n  (%s)", r.src, f.Place(), f.Message, f.Remedy, r.place, r.message, r.remedy)
		}
	}
}

func TestAllFaultsAreReported(t *testing.T) {
	_, err := Parse("graft.yaml", []byte("packag: op\nsum: /x\ntargets:\n- template: /y\n"))
	var places []string
	for _, f := range failure.All(err) {
		places = append(places, f.Place())
	}
	if want := []string{"graft.yaml:1:1", "graft.yaml:2:6", "graft.yaml:4:13"}; !slices.Equal(places, want) {
		t.Errorf("faults at %v, want %v", places, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, src := range accepted {
		f.Add(src)
	}
	for _, r := range append(slices.Clone(refused), beyondSchema...) {
		f.Add(r.src)
	}
	s := validator(f)
	f.Fuzz(func(t *testing.T, src string) {
		c, err := Parse("graft.yaml", []byte(src))
		if err != nil {
			for _, e := range failure.All(err) {
				if e.Code != failure.Config || e.File != "graft.yaml" || e.Line == 0 || e.Remedy == "" {
					t.Errorf("%q gives %+v", src, e)
				}
			}
			return
		}
		if err := valid(s, src); err != nil {
			t.Errorf("Parse accepts what the schema refuses: %q\n%v", src, err)
		}
		if _, err := Parse("graft.yaml", []byte(src)); err != nil || c.File != "graft.yaml" {
			t.Errorf("%q parses once", src)
		}
	})
}
