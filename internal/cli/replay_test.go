package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/testkit/corpus"
	"github.com/olmgraft/graft/internal/testkit/effort"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
	"github.com/olmgraft/graft/internal/testkit/registry"
	"github.com/olmgraft/graft/internal/testkit/servers"
)

// history is a sequence of releases of one template.
type history struct {
	corpus             corpus.Corpus
	operator, template string
	most               int
}

// Histories, published one after another with their own release-config.yaml, end with the merged template. The
// bundles are made up, with the names in the templates.
func TestHistories(t *testing.T) {
	t.Parallel()
	corpus.Each(t, func(t *testing.T, c corpus.Corpus) {
		all := ownHistories(t, c)
		if c != corpus.Own(t) {
			all = []history{
				{c, "alloydb-omni-operator", "basic.yaml", 99},
				{c, "infinispan", "basic.yaml", 99},
				{c, "opendatahub-operator", "basic-template.yaml", 99},
				{c, "rabbitmq-cluster-operator", "v4.19.yaml", 99},
				{c, "konflux", "semver.yaml", 10},
			}
		}
		for _, h := range all[:effort.Of(t, min(2, len(all)), min(5, len(all)), len(all))] {
			t.Run(h.operator+"/"+h.template, func(t *testing.T) {
				t.Parallel()
				h.publish(t)
			})
		}
	})
}

// ownHistories returns those of all templates that a community repository can name.
func ownHistories(t *testing.T, c corpus.Corpus) (all []history) {
	for _, file := range c.Files(t, "replay/*/case.json") {
		var r pastRelease
		if err := json.Unmarshal(c.Read(t, file), &r); err != nil {
			t.Fatal(err)
		}
		text := c.Read(t, filepath.Join(filepath.Dir(file), "after.yaml"))
		h := history{c, r.Operator, r.Template, 99}
		if schema := communitySchema(string(text)); schema != "" && !slices.Contains(all, h) {
			all = append(all, h)
		}
	}
	return all
}

// communitySchema returns the schema of a template that a ci.yaml may name, or "".
func communitySchema(text string) string {
	for _, schema := range []string{"olm.semver", "olm.template.basic"} {
		if strings.Contains(text, schema) {
			return schema
		}
	}
	return ""
}

type pastRelease struct {
	Operator, Version, CSV, Template string
	Config                           json.RawMessage
	before, after, image             string
}

// read returns the longest sequence of releases in which each starts with the result of the one before it.
func (h history) read(t *testing.T) []pastRelease {
	var all []pastRelease
	for _, file := range h.corpus.Files(t, "replay/"+h.operator+"-*/case.json") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var r pastRelease
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(filepath.Join(filepath.Dir(file), "before.yaml"))
		after, afterErr := os.ReadFile(filepath.Join(filepath.Dir(file), "after.yaml"))
		if r.Template != h.template || err != nil || afterErr != nil {
			continue
		}
		r.before, r.after = string(before), string(after)
		all = append(all, r)
	}
	var longest []pastRelease
	for _, first := range all {
		chain := []pastRelease{first}
		for {
			i := slices.IndexFunc(all, func(r pastRelease) bool { return r.before == chain[len(chain)-1].after && r.before != r.after })
			if i < 0 || len(chain) == len(all) {
				break
			}
			chain = append(chain, all[i])
		}
		if len(chain) > len(longest) {
			longest = chain
		}
	}
	if len(longest) < 3 {
		t.Fatalf("the corpus has no history of %s", h.operator)
	}
	return longest[:min(len(longest), h.most)]
}

// imagesIn returns the values of all keys named image, in order.
func imagesIn(text string) []string {
	var root yaml.Node
	for decoder := yaml.NewDecoder(strings.NewReader(text)); ; {
		var doc yaml.Node
		if decoder.Decode(&doc) != nil {
			break
		}
		root.Content = append(root.Content, &doc)
	}
	var out []string
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for i, child := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 1 && strings.EqualFold(n.Content[i-1].Value, "image") && !slices.Contains(out, child.Value) {
				out = append(out, child.Value)
			}
			walk(child)
		}
	}
	walk(&root)
	return out
}

func (h history) publish(t *testing.T) {
	releases := h.read(t)
	w, err := servers.Start(gitremote.Auto)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	texts := h.serve(t, w, releases)
	folder := "operators/" + h.operator + "/"
	files := map[string]string{
		folder + "catalog-templates/" + h.template: texts[0],
		folder + "ci.yaml":                         "fbc:\n  enabled: true\n  catalog_mapping:\n  - template_name: " + h.template + "\n    catalog_names: [v4.20]\n    type: " + communitySchema(texts[0]) + "\n",
	}
	for _, r := range releases {
		files[folder+r.Version+"/release-config.yaml"] = `{"catalog_templates": [` + string(r.Config) + "]}\n"
	}
	if err := w.Create(files); err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(t.TempDir(), "registries.conf")
	var text strings.Builder
	for _, host := range h.hosts(texts) {
		fmt.Fprintf(&text, "[[registry]]\nprefix = %q\nlocation = %q\ninsecure = true\n", host, w.Registry.Addr+"/"+host)
	}
	if err := os.WriteFile(conf, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, r := range releases {
		args := []string{"publish", "--repository", servers.Repository, "--image", r.image, "--registries-conf", conf}
		for _, want := range []string{"created", "unchanged"} {
			var out bytes.Buffer
			code := Main(context.Background(), args, command.IO{In: strings.NewReader(""), Out: &out, Err: &out, Env: func(key string) (string, bool) {
				v, ok := w.Env()[key]
				return v, ok
			}})
			if code != 0 || !strings.Contains(out.String(), r.CSV+": "+want) {
				t.Fatalf("%s: exit code %d, not %s:\n%s", r.CSV, code, want, out.String())
			}
		}
		if err := w.Merge(i + 1); err != nil {
			t.Fatal(err)
		}
	}
	got, err := w.Repo.Read(gitremote.DefaultBranch, folder+"catalog-templates/"+h.template)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := meaningOf(t, got), meaningOf(t, texts[len(texts)-1]); a != b {
		t.Errorf("the template differs from the merged one:\n%s", diff.Diff("ours", []byte(a), "merged", []byte(b)))
	}
	t.Logf("%d releases", len(releases))
}

// serve pushes a bundle for each image. It returns the first template and those after each release, with the
// digests of these bundles.
func (h history) serve(t *testing.T, w *servers.Servers, releases []pastRelease) []string {
	texts := []string{releases[0].before}
	names := map[string]string{}
	for i := range releases {
		r := &releases[i]
		known := imagesIn(r.before)
		for _, image := range imagesIn(r.after) {
			if !slices.Contains(known, image) {
				r.image, names[image] = image, r.CSV
			}
		}
		for image, name := range names {
			if r.image == "" && name == r.CSV {
				r.image = image // a release into a further channel
			}
		}
		texts = append(texts, r.after)
	}
	// The earlier images get the names without an image, in order.
	var spare []string
	for _, m := range regexp.MustCompile(`(?m)^ *- name: *(\S+\.v?\d\S*)|^ *name: *(`+regexp.QuoteMeta(h.operator)+`\S*\.v?\d\S*)$`).FindAllStringSubmatch(texts[0], -1) {
		if name := m[1] + m[2]; !slices.Contains(spare, name) {
			spare = append(spare, name)
		}
	}
	pkg := h.operator
	if m := regexp.MustCompile(`(?m)^ *package: *(\S+)`).FindStringSubmatch(texts[0]); m != nil {
		pkg = m[1]
	}
	replace := []string{}
	for i, image := range imagesIn(strings.Join(texts, "\n---\n")) {
		name := names[image]
		if name == "" {
			if len(spare) > 0 {
				name, spare = spare[0], spare[1:]
			} else if _, tag, ok := strings.Cut(image, "prod/"+h.operator+":"); ok {
				name = h.operator + ".v" + tag
			}
		}
		version, ok := graph.VersionOf(name)
		if !ok {
			t.Fatalf("%s has no name (%q)", image, name)
		}
		repository, digest, byDigest := strings.Cut(image, "@")
		tag := fmt.Sprintf("%s:t%d", repository, i)
		if !byDigest {
			tag = image
		}
		made, err := w.Registry.Push(tag, registry.Small(pkg, name, version.String()), registry.Form{})
		if err != nil {
			t.Fatal(err)
		}
		if byDigest {
			replace = append(replace, digest, made)
			for i := range releases {
				if releases[i].image == image {
					releases[i].image = repository + "@" + made
				}
			}
		}
	}
	for i := range texts {
		texts[i] = strings.NewReplacer(replace...).Replace(texts[i])
	}
	return texts
}

func (h history) hosts(texts []string) []string {
	var hosts []string
	for _, text := range texts {
		for _, image := range imagesIn(text) {
			if host, _, _ := strings.Cut(image, "/"); !slices.Contains(hosts, host) {
				hosts = append(hosts, host)
			}
		}
	}
	return hosts
}

// meaningOf returns the parsed text with lists in a fixed order.
func meaningOf(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.MarshalIndent(sortedLists(v), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func sortedLists(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = sortedLists(v[k])
		}
	case []any:
		slices.SortFunc(v, func(a, b any) int {
			x, _ := json.Marshal(sortedLists(a))
			y, _ := json.Marshal(sortedLists(b))
			return bytes.Compare(x, y)
		})
	}
	return v
}
