package render_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/render"
)

// fakeRegistry is a registry with bundles of package op. It records which were pulled.
type fakeRegistry struct {
	mu      sync.Mutex
	pulled  []string
	asked   []string          // for digests or tags
	digests map[string]string // of moved tags
	csv     string            // in each CSV's metadata
	spec    string            // in each CSV's spec
}

const opImage = "example.com/op:v"

func (s *fakeRegistry) Pull(_ context.Context, ref string) (*oci.Pulled, error) {
	version, ok := strings.CutPrefix(ref, opImage)
	if !ok {
		return nil, failure.New(failure.BundleNotFound, "pulling %s", ref)
	}
	s.mu.Lock()
	s.pulled = append(s.pulled, version)
	s.mu.Unlock()
	name := "op.v" + version
	if v, release, ok := strings.Cut(version, "_"); ok {
		name, version = "op-v"+v+"-"+release, v+"+"+release
	}
	b := smallBundle(version)
	b.Files["manifests/csv.yaml"] = []byte("kind: ClusterServiceVersion\napiVersion: operators.coreos.com/v1alpha1\nmetadata:\n  name: " + name + "\n" + s.csv +
		"spec:\n  version: " + version + "\n  displayName: Op " + version + "\n  description: What " + version + " does.\n" + s.spec)
	return &oci.Pulled{Ref: ref, Digest: s.digest(ref), Labels: b.Labels, Files: b.Files}, nil
}

func (s *fakeRegistry) digest(ref string) string {
	if moved := s.digests[ref]; moved != "" {
		return moved
	}
	return "sha256:" + ref[len(ref)-5:]
}

func (s *fakeRegistry) Resolve(_ context.Context, ref string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, ref)
	return s.digest(ref), nil
}

func (s *fakeRegistry) Tags(_ context.Context, repository string) ([]string, error) {
	s.asked = append(s.asked, repository)
	return []string{"v1.0.0", "v1.1.0", "latest"}, nil
}

// took returns the versions pulled since the last call.
func (s *fakeRegistry) took() string {
	slices.Sort(s.pulled)
	out := strings.Join(s.pulled, " ")
	s.pulled = nil
	return out
}

const shelfTemplate = `schema: olm.template.basic
entries:
- schema: olm.package
  name: op
  defaultChannel: stable
- schema: olm.channel
  package: op
  name: stable
  entries:
  - name: op.v1.0.0
  - name: op.v1.1.0
    replaces: op.v1.0.0
- schema: olm.bundle
  image: example.com/op:v1.0.0
- schema: olm.bundle
  image: example.com/op:v1.1.0
`

const packageProperty = "- type: olm.package\n  value:\n    packageName: op\n    version: 1.0.0\n"

// A bundle in the base is copied in the requested form; a bundle that the base lacks, or has only in part, is
// pulled. Both give the same catalog as rendering without a base, except for changes by hand in the base that no
// sum contradicts. It makes no difference what an earlier rendering read from a base.
func TestUponABase(t *testing.T) {
	seen := render.Seen{}
	by := func(pairs ...string) func(string) string { return strings.NewReplacer(pairs...).Replace }
	other := by("op.v", "other.v", "packageName: op", "packageName: other", "package: op", "package: other", "example.com/op", "example.com/other")
	for _, tt := range []struct {
		name   string
		base   render.Options      // the options that rendered the base
		change func(string) string // edits the base by hand
		sum    bool
		now    render.Options
		pulled string
		stays  string // part of the result; empty: the result equals a rendering without base
	}{
		{name: "as it was made"},
		{name: "as it was made, with a sum", sum: true},
		{name: "a value changed by hand", base: render.Options{Metadata: bundle.CSVMetadata}, change: by("displayName: Op 1.0.0", "displayName: By hand"),
			now: render.Options{Metadata: bundle.CSVMetadata}, stays: "displayName: By hand"},
		{name: "a value changed by hand, which the sum knows", base: render.Options{Metadata: bundle.CSVMetadata}, change: by("displayName: Op 1.0.0", "displayName: By hand"), sum: true,
			now: render.Options{Metadata: bundle.CSVMetadata}, pulled: "1.0.0"},
		{name: "laid out by hand", change: by("name: op.v1.0.0\npackage: op\n", "\"name\":   'op.v1.0.0' # by hand\npackage: op\n")},
		{name: "keys in another order", change: by("name: op.v1.0.0\npackage: op\n", "package: op\nname: op.v1.0.0\n")},
		{name: "laid out by hand, with a sum", change: by("name: op.v1.0.0\npackage: op\n", "package: op\nname: op.v1.0.0\n"), sum: true},
		{name: "another image under the name", change: by("example.com/op:v1.0.0", "example.com/op:v1.0.0-rc"), pulled: "1.0.0"},
		{name: "the image under another name", change: by("name: op.v1.0.0\npackage", "name: op.v1.0.0-x\npackage"), stays: "name: op.v1.0.0-x\n"},
		{name: "the image twice", change: by("---\nimage: example.com/op:v1.0.0\n", "---\nimage: example.com/op:v1.0.0\nname: op.v1.0.0-x\npackage: op\nproperties:\n"+packageProperty+"schema: olm.bundle\n---\nimage: example.com/op:v1.0.0\n"), pulled: "1.0.0"},
		{name: "a bundle without its version", change: by(packageProperty, ""), pulled: "1.0.0"},
		{name: "a bundle with two versions", change: by(packageProperty, packageProperty+packageProperty), pulled: "1.0.0"},
		{name: "another package alone", change: other, pulled: "1.0.0 1.1.0"},
		{name: "bundle objects for csv metadata", now: render.Options{Metadata: bundle.CSVMetadata}},
		{name: "csv metadata for bundle objects", base: render.Options{Metadata: bundle.CSVMetadata}, pulled: "1.0.0 1.1.0"},
		{name: "both for bundle objects", change: by(packageProperty, packageProperty+"- type: olm.csv.metadata\n  value: {}\n"), pulled: "1.0.0"},
		{name: "bundle objects without a CSV for csv metadata", change: by("  value:\n    data: eyJ", "  value:\n    data: e30= # eyJ"), now: render.Options{Metadata: bundle.CSVMetadata}, pulled: "1.0.0 1.1.0"},
		{name: "JSON with csv metadata", base: render.Options{Format: fbc.JSON, Metadata: bundle.CSVMetadata}, now: render.Options{Format: fbc.JSON, Metadata: bundle.CSVMetadata}},
		{name: "YAML for JSON with csv metadata", base: render.Options{Metadata: bundle.CSVMetadata}, now: render.Options{Format: fbc.JSON, Metadata: bundle.CSVMetadata}},
		{name: "YAML for JSON", now: render.Options{Format: fbc.JSON}},
		{name: "JSON for YAML", base: render.Options{Format: fbc.JSON}},
		{name: "images named otherwise", now: render.Options{Rewrite: reference.Rewrites{{From: "example.com/op", To: "example.org/op"}}}},
		{name: "JSON bundle objects for csv metadata", base: render.Options{Format: fbc.JSON}, now: render.Options{Metadata: bundle.CSVMetadata}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &fakeRegistry{spec: "  installModes: [{type: AllNamespaces, supported: true}]\n  maintainers: [{name: me, email: me@example.com}]\n"}
			tmpl := open(t, "t.yaml", []byte(shelfTemplate))
			sum, err := render.ParseSum("catalog.sum", nil)
			if err != nil {
				t.Fatal(err)
			}
			tt.base.Registry, tt.base.Sum, tt.now.Registry = s, sum, s
			base := string(text(t, tmpl, tt.base))
			if tt.change != nil {
				was := base
				if base = tt.change(base); base == was {
					t.Fatalf("the change has no effect on\n%s", base)
				}
			}
			fresh := string(text(t, tmpl, tt.now))
			s.took()
			tt.now.Base, tt.now.Seen = render.NewBase(docsOf(t, []byte(base))), seen
			if tt.sum {
				tt.now.Sum = sum
			}
			r, err := render.Render(context.Background(), tmpl, tt.now)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			if err := r.Write(&out); err != nil {
				t.Fatal(err)
			}
			if got := s.took(); got != tt.pulled || r.Pulled != len(strings.Fields(tt.pulled)) || r.Reused != 2-r.Pulled {
				t.Errorf("pulled %q (%d, %d copied), want %q", got, r.Pulled, r.Reused, tt.pulled)
			}
			if got := out.String(); tt.stays == "" && got != fresh || !strings.Contains(got, tt.stays) {
				t.Errorf("got\n%s\nwithout a base\n%s", got, fresh)
			}
		})
	}
}

// A package shows the bundle that is now the head of its default channel. The base has this only for the bundle
// that it was taken from.
func TestPackageShowsItsHead(t *testing.T) {
	src := func(versions ...string) string {
		out := "schema: olm.semver\nstable:\n  bundles:\n"
		for _, v := range versions {
			out += "  - image: " + opImage + v + "\n"
		}
		return out
	}
	s := &fakeRegistry{}
	base := text(t, open(t, "t.yaml", []byte(src("1.0.0", "1.0.1"))), render.Options{Registry: s})
	byHand := strings.Replace(string(base), "What 1.0.1 does.", "By hand.", 1)
	s.took()
	for _, tt := range []struct {
		name, base string
		versions   []string
		shows      string
		pulled     string
	}{
		{"the same head", string(base), []string{"1.0.0", "1.0.1"}, "What 1.0.1 does.", ""},
		{"a new head", string(base), []string{"1.0.0", "1.0.1", "1.0.2"}, "What 1.0.2 does.", "1.0.2"},
		{"an older head", string(base), []string{"1.0.0"}, "What 1.0.0 does.", "1.0.0"},
		{"a backport", string(base), []string{"0.9.0", "1.0.0", "1.0.1"}, "What 1.0.1 does.", "0.9.0"},
		{"a text of a person", byHand, []string{"1.0.0", "1.0.1"}, "By hand.", ""},
		{"no package in the base", from(string(base), "---\nentries"), []string{"1.0.0", "1.0.1"}, "What 1.0.1 does.", "1.0.1"},
		{"another default channel in the base", strings.Replace(string(base), "defaultChannel: stable-v1.0", "defaultChannel: fast", 1), []string{"1.0.0", "1.0.1"}, "What 1.0.1 does.", "1.0.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := text(t, open(t, "t.yaml", []byte(src(tt.versions...))), render.Options{Registry: s, Base: render.NewBase(docsOf(t, []byte(tt.base)))})
			if got := s.took(); got != tt.pulled || !strings.Contains(string(out), "description: "+tt.shows+"\n") {
				t.Errorf("pulled %q, want %q; it shows\n%.300s", got, tt.pulled, out)
			}
		})
	}
}

// A bundle whose annotations mark its build metadata as a release is a substitute, also with a base and with a
// cache.
func TestSubstituteUponABase(t *testing.T) {
	src := strings.Replace(shelfTemplate, "olm.template.basic", "olm.template.substitutes", 1)
	for _, v := range []string{"1.0.0", "1.1.0"} {
		src = strings.Replace(src, "  image: "+opImage+v+"\n", "  image: "+opImage+v+"\n  name: op.v"+v+"\n  package: op\n  properties:\n  - type: olm.package\n    value: {packageName: op, version: "+v+"}\n", 1)
	}
	src += "substitutions:\n- name: " + opImage + "1.1.0_1\n  base: op.v1.1.0\n"
	cache, err := oci.OpenCache(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, metadata := range []bundle.MetadataFormat{bundle.BundleObjects, bundle.CSVMetadata} {
		s := &fakeRegistry{csv: "  annotations: {olm.substitutesFor: op.v1.1.0}\n", digests: map[string]string{opImage + "1.1.0_1": "sha256:" + strings.Repeat("1", 64)}}
		tmpl := open(t, "t.yaml", []byte(src))
		first := text(t, tmpl, render.Options{Registry: s, Metadata: metadata, Cache: cache})
		s.took()
		for name, o := range map[string]render.Options{
			"base":  {Base: render.NewBase(docsOf(t, first))},
			"cache": {Cache: cache},
		} {
			o.Registry, o.Metadata = s, metadata
			if got := text(t, tmpl, o); string(got) != string(first) || s.took() != "" {
				t.Errorf("%s: got\n%s\nwithout\n%s", name, got, first)
			}
		}
	}
}

// from returns the text from a mark on.
func from(text, mark string) string {
	_, rest, _ := strings.Cut(text, mark)
	return mark + rest
}

// The base provides an icon that the template leaves empty, but not one that the template has or omits.
func TestEmptyIcon(t *testing.T) {
	const own, empty = "  icon: {base64data: b3du, mediatype: image/png}\n", "  icon: {base64data: '', mediatype: image/png}\n"
	with := func(icon string) []byte {
		return []byte(strings.Replace(shelfTemplate, "  name: op\n", "  name: op\n"+icon, 1))
	}
	base, err := fbc.Read("c.yaml", []byte("schema: olm.package\nname: op\ndefaultChannel: stable\nicon: {base64data: YmFzZQ==, mediatype: image/svg+xml}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for icon, want := range map[string]string{own: "base64data: b3du", empty: "base64data: YmFzZQ==", "": ""} {
		got := string(text(t, open(t, "t.yaml", with(icon)), render.Options{Registry: &fakeRegistry{}, Base: render.NewBase(base)}))
		if !strings.Contains(got, want) || want == "" && strings.Contains(got, "icon") {
			t.Errorf("with %q: %s", icon, got)
		}
	}
}

// An image that occurs twice in the template is rendered twice, as opm does, or once.
func TestOnce(t *testing.T) {
	tmpl := open(t, "t.yaml", []byte(shelfTemplate+"- schema: olm.bundle\n  image: example.com/op:v1.0.0\n"))
	for once, want := range map[bool]int{true: 1, false: 2} {
		r, err := render.Render(t.Context(), tmpl, render.Options{Registry: &fakeRegistry{}, Once: once})
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(strings.Join(r.Catalog.Images, " "), "v1.0.0"); n != want || (len(r.Repeated) == 1) != once {
			t.Errorf("once %v: %v, %v", once, r.Catalog.Images, r.Repeated)
		}
	}
}
