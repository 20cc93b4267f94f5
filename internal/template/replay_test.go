package template

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/testkit/corpus"

	"github.com/blang/semver/v4"
	"github.com/rogpeppe/go-internal/diff"
	"gopkg.in/yaml.v3"

	"github.com/olmgraft/graft/internal/template/kind"
)

// release is one folder of the corpus: a release that really happened.
type release struct {
	name          string
	before, after []byte
	template      string
	request       kind.Request
}

func releases(t testing.TB, c corpus.Corpus) []release {
	var out []release
	for _, file := range c.Files(t, "replay/*/case.json") {
		out = append(out, readRelease(t, filepath.Dir(file)))
	}
	return out
}

func readRelease(t testing.TB, dir string) release {
	var c struct {
		Operator, Version, CSV, Template, Image string
		Config                                  struct {
			Channels       []string
			Replaces       string
			Skips          []string
			SkipRange      string
			DefaultChannel string
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "case.json"))
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := release{name: filepath.Base(dir), template: c.Template}
	r.before, _ = os.ReadFile(filepath.Join(dir, "before.yaml"))
	if r.after, err = os.ReadFile(filepath.Join(dir, "after.yaml")); err != nil {
		t.Fatal(err)
	}
	v, err := semver.Parse(c.Version)
	if err != nil {
		t.Fatalf("%s: %v", r.name, err)
	}
	if c.Image == "" {
		c.Image = newImage(r.before, r.after, c.Version)
	}
	r.request = kind.Request{
		Bundle:   kind.Bundle{Name: c.CSV, Version: v, Package: c.Operator, Image: c.Image},
		Channels: c.Config.Channels, Replaces: c.Config.Replaces, Skips: c.Config.Skips, SkipRange: c.Config.SkipRange,
		DefaultChannel: c.Config.DefaultChannel,
		NamesOf:        otherBundles,
	}
	return r
}

// otherBundles takes the place of a registry: every image that a template has before a release is another bundle.
func otherBundles(images []string) (names map[string]string, asked string) {
	names = map[string]string{}
	for _, image := range images {
		names[image] = "the bundle of " + image
	}
	return names, "the registry"
}

// newImage returns the image that only after has. If the release was already there, it returns the image with the
// version of the release.
func newImage(before, after []byte, version string) string {
	known := images(before)
	for _, img := range images(after) {
		if !slices.Contains(known, img) {
			return img
		}
	}
	for _, img := range known {
		if strings.HasSuffix(img, ":"+version) || strings.HasSuffix(img, ":v"+version) {
			return img
		}
	}
	return ""
}

func images(text []byte) []string {
	var v any
	_ = yaml.Unmarshal(text, &v) // an empty text has no images
	var out []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for key, value := range v {
				if image, ok := value.(string); ok && strings.EqualFold(key, "image") {
					out = append(out, image)
				}
				walk(value)
			}
		}
	}
	walk(v)
	return out
}

// insert inserts into a text and returns the resulting text.
func insert(t testing.TB, name string, src []byte, r kind.Request) ([]byte, *kind.Outcome, error) {
	t.Helper()
	tmpl, err := Open(fstest.MapFS{name: {Data: src}}, name, name)
	if err != nil {
		return nil, nil, err
	}
	o, err := tmpl.Insert(r)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range o.Files {
		src = f.After
	}
	return src, o, nil
}

// TestReplay replays each release of the corpus: the result has the same meaning as the merged one, no line
// changes except for a rewired value, and a second run changes nothing. Some results in the project's own corpus
// were written by hand; these must be equal to the byte.
func TestReplay(t *testing.T) { corpus.Each(t, replay) }

func replay(t *testing.T, c corpus.Corpus) {
	ours, theirs, counted := 0, 0, 0
	defer func() {
		t.Logf("%d releases into existing templates: %d lines changed; those that released them changed %d", counted, ours, theirs)
	}()
	byHand := c == corpus.Own(t)
	for _, r := range releases(t, c) {
		t.Run(r.name, func(t *testing.T) {
			if r.before == nil {
				text, err := Create(detectKind(t, r.after), r.request)
				if err != nil {
					t.Fatal(err)
				}
				r.before = text
			}
			got, o, err := insert(t, r.template, r.before, r.request)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := meaning(t, got), meaning(t, r.after); a != b {
				t.Errorf("the meaning differs from the merged template:\n%s", diff.Diff("ours", []byte(a), "merged", []byte(b)))
			} else if !byHand {
				checkLines(t, r.before, got, o)
			} else if string(got) != string(r.after) {
				t.Errorf("a careful person writes it in other bytes:\n%s", diff.Diff("ours", got, "by hand", r.after))
			}
			if len(o.Files) > 0 {
				counted++
				ours += changedLines(r.before, got)
				theirs += changedLines(r.before, r.after)
			}
			again, o, err := insert(t, r.template, got, r.request)
			if err != nil || len(o.Files) > 0 || string(again) != string(got) {
				t.Errorf("the second run: %v %+v", err, o)
			}
		})
	}
}

// changedLines counts the lines that a difference adds and removes.
func changedLines(before, after []byte) int {
	n := 0
	for line := range strings.Lines(string(diff.Diff("a", before, "b", after))) {
		if (line[0] == '+' || line[0] == '-') && !strings.HasPrefix(line, "+++") && !strings.HasPrefix(line, "---") {
			n++
		}
	}
	return n
}

func detectKind(t *testing.T, src []byte) string {
	tmpl, err := Parse("after.yaml", src)
	if err != nil {
		t.Fatal(err)
	}
	return tmpl.Kind.Traits().Name
}

// checkLines checks that an edit only adds lines, and changes at most one value for each rewired entry or moved
// default channel.
func checkLines(t *testing.T, before, after []byte, o *kind.Outcome) {
	t.Helper()
	allowed := 0
	for _, c := range o.Changes {
		if c.What == kind.EntryRewired && c.From != "" || c.What == kind.DefaultChannelSet {
			allowed++
		}
	}
	lines := strings.Split(string(after), "\n")
	at := 0
	for _, line := range strings.Split(string(before), "\n") {
		i := slices.Index(lines[at:], line)
		if i < 0 {
			if allowed--; allowed < 0 {
				t.Errorf("the line %q is gone", line)
			}
			continue
		}
		at += i + 1
	}
}

// meaning returns the parsed text with lists in a fixed order.
func meaning(t testing.TB, text []byte) string {
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.MarshalIndent(sorted(v), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func sorted(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = sorted(v[k])
		}
	case []any:
		keys := make(map[string]any, len(v))
		var order []string
		for i, item := range v {
			text, _ := json.Marshal(sorted(item))
			key := fmt.Sprintf("%s#%d", text, i)
			keys[key] = item
			order = append(order, key)
		}
		slices.Sort(order)
		for i, key := range order {
			v[i] = keys[key]
		}
	}
	return v
}
