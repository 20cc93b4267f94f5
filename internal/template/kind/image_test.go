package kind

import (
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

func request(image string) Request {
	return Request{Bundle: Bundle{Name: "op.v1.0.0", Version: semver.MustParse("1.0.0"), Package: "op", Image: image}}
}

// TestIdentify checks that a bundle is identified by its name, or by the version in its tag if the name is
// unknown, and that a promotion may change its image to one with the same digest in another repository.
func TestIdentify(t *testing.T) {
	const a, b = "@sha256:aaaa", "@sha256:bbbb"
	known := map[string]string{"stage/op:v1.0.0": "sha256:aaaa", "prod/op:v1.0.0": "sha256:aaaa", "prod/op:v1.0.0-2": "sha256:bbbb"}
	for _, tt := range []struct {
		name, image, digest string // of the request
		standing            Standing
		promote             bool
		want                Identity
		conflict            string // in the failure or its remedy
	}{
		{"the same image", "q/op:v1.0.0", "", Standing{Image: "q/op:v1.0.0"}, false, Same, ""},
		{"the same image and name", "q/op:v1.0.0", "", Standing{Image: "q/op:v1.0.0", Name: "op.v1.0.0"}, false, Same, ""},
		{"the same image by another name", "q/op:v1.0.0", "", Standing{Image: "q/op:v1.0.0", Name: "op.v1.0.1"}, false, Another, "q/op:v1.0.0 under the name op.v1.0.1"},
		{"another name and image", "q/op:v1.0.0", "", Standing{Image: "q/op:v1.1.0", Name: "op.v1.1.0"}, false, Another, ""},
		{"another name, the version in the tag", "q/op:v1.0.0", "", Standing{Image: "p/op:v1.0.0", Name: "op.v1.1.0"}, false, Another, ""},
		{"another version in the tag", "q/op:v1.0.0", "", Standing{Image: "q/op:v1.0.1"}, false, Another, ""},
		{"other build metadata in the tag", "q/op:v1.0.0", "", Standing{Image: "q/op:v1.0.0-1"}, false, Another, ""},
		{"no version in the tag", "q/op:v1.0.0", "", Standing{Image: "q/op:latest"}, false, Another, ""},
		{"by digest", "q/op:v1.0.0", "", Standing{Image: "q/op" + a}, false, Another, ""},
		{"the same name with another image", "q/op:v1.0.0", "", Standing{Image: "q/op:one", Name: "op.v1.0.0"}, false, Another, "the template has it with image q/op:one"},
		{"the same version with another image", "q/op:v1.0.0", "", Standing{Image: "q/op:1.0.0"}, false, Another, "the template has it with image q/op:1.0.0"},
		{"the same digest elsewhere", "prod/op:v1.0.0" + a, "", Standing{Image: "stage/op:v1.0.0" + a}, false, Another, "run graft insert --promote"},
		{"the same digest elsewhere, promoted", "prod/op:v1.0.0" + a, "", Standing{Image: "stage/op:v1.0.0" + a}, true, Promoted, ""},
		{"the same digest elsewhere by name, promoted", "prod/op" + a, "", Standing{Image: "stage/op" + a, Name: "op.v1.0.0"}, true, Promoted, ""},
		{"another digest elsewhere", "prod/op:v1.0.0" + b, "", Standing{Image: "stage/op:v1.0.0" + a}, false, Another, "Give --rebuild replace"},
		{"another digest elsewhere, promoted", "prod/op:v1.0.0" + b, "", Standing{Image: "stage/op:v1.0.0" + a}, true, Another, "the template has it with image stage/op:v1.0.0" + a},
		{"the digest that was pulled counts", "prod/op:v1.0.0", "sha256:aaaa", Standing{Image: "stage/op:v1.0.0" + a}, true, Promoted, ""},
		{"not the one in the reference", "prod/op:v1.0.0" + a, "sha256:bbbb", Standing{Image: "stage/op:v1.0.0" + a}, true, Another, "the template has it"},
		{"digests from a registry", "prod/op:v1.0.0", "", Standing{Image: "stage/op:v1.0.0"}, true, Promoted, ""},
		{"another digest from a registry", "prod/op:v1.0.0-2", "", Standing{Image: "stage/op:v1.0.0", Name: "op.v1.0.0"}, true, Another, "the template has it"},
		{"unknown digests", "prod/op:v1.0.0-x", "", Standing{Image: "stage/op:v1.0.0-x", Name: "op.v1.0.0"}, true, Another, "the template has it"},
		{"the same digest in the same repository", "q/op:1.0.0" + a, "", Standing{Image: "q/op:v1.0.0" + a}, true, Another, "the template has it"},
	} {
		r := request(tt.image)
		r.Bundle.Digest, r.Promote = tt.digest, tt.promote
		r.DigestOf = func(image string) string { return known[image] }
		got, err := r.Identify(tt.standing)
		switch {
		case got != tt.want || (err != nil) != (tt.conflict != ""):
			t.Errorf("%s: got %v %v", tt.name, got, err)
		case err != nil && (err.Code != failure.BundleConflict || !strings.Contains(err.Message+err.Remedy, tt.conflict)):
			t.Errorf("%s: got %v, %s", tt.name, err, err.Remedy)
		}
	}
	r := request("prod/op:v1.0.0")
	r.Promote = true
	if got, err := r.Identify(Standing{Image: "stage/op:v1.0.0"}); got != Another || err == nil {
		t.Errorf("unknown digests: got %v %v", got, err)
	}
}

// TestFind checks that bundles are found by what the template, catalogs and registries say about images, and that
// registries are asked only if the edit depends on it.
func TestFind(t *testing.T) {
	const a, b, c = "q/op@sha256:aaaa", "q/op@sha256:bbbb", "q/op@sha256:cccc"
	own := func(images ...string) map[string]string {
		names := map[string]string{}
		for i, image := range images {
			names[image] = []string{"op.v1.0.0", "op.v0.9.0"}[i]
		}
		return names
	}
	for _, tt := range []struct {
		name            string
		image           string
		rebuild         bool
		instead         string
		entry           bool // the template has one
		standing        []Standing
		names, registry map[string]string
		want            Identity
		at              int
		unknown, asked  int
		conflict        string
	}{
		{name: "nothing", image: c, want: Another, at: -1},
		{name: "no entry: the registry is not asked", image: c, standing: []Standing{{Image: a}}, registry: own(a), want: Another, at: -1},
		{name: "an entry, known to the registry", image: c, entry: true, standing: []Standing{{Image: b}, {Image: a}}, registry: own(a, b), at: 1, asked: 2, conflict: "--rebuild replace"},
		{name: "known to the registry, rebuilt", image: c, rebuild: true, entry: true, standing: []Standing{{Image: b}, {Image: a}}, registry: own(a, b), want: Rebuilt, at: 1, asked: 2},
		{name: "known to a catalog", image: c, rebuild: true, entry: true, standing: []Standing{{Image: b}, {Image: a}}, names: own(a, b), want: Rebuilt, at: 1},
		{name: "known to a catalog by digest", image: c, rebuild: true, standing: []Standing{{Image: "stage/op@sha256:aaaa"}}, names: map[string]string{"sha256:aaaa": "op.v1.0.0"}, want: Rebuilt},
		{name: "known by the tag", image: "q/op:v1.0.0-2", rebuild: true, standing: []Standing{{Image: "q/op:v1.0.0"}}, want: Rebuilt},
		{name: "the others are known", image: c, entry: true, standing: []Standing{{Image: b}}, names: map[string]string{b: "op.v0.9.0"}, want: Another, at: -1},
		{name: "all unknown", image: c, rebuild: true, entry: true, standing: []Standing{{Image: a}, {Image: b}}, want: Another, at: -1, unknown: 2, asked: 2},
		{name: "one is unknown", image: c, rebuild: true, entry: true, standing: []Standing{{Image: a}, {Image: b}}, registry: map[string]string{b: "op.v0.9.0"}, want: Another, at: -1, unknown: 1, asked: 2},
		{name: "the same image", image: a, entry: true, standing: []Standing{{Image: b}, {Image: a}}, want: Same, at: 1},
		{name: "two images of one bundle", image: a, entry: true, rebuild: true, standing: []Standing{{Image: a}, {Image: b, Name: "op.v1.0.0"}}, at: 1, conflict: "both q/op@sha256:aaaa and q/op@sha256:bbbb"},
		{name: "instead of another", image: c, instead: "op.v0.9.0", entry: true, standing: []Standing{{Image: a, Name: "op.v0.8.0"}, {Image: b, Name: "op.v0.9.0"}}, want: Replaced, at: 1},
		{name: "instead of another, by tag", image: c, instead: "op.v0.9.0", standing: []Standing{{Image: "q/op:v0.9.0"}}, want: Replaced},
		{name: "instead of another one in the same template", image: c, instead: "op.v0.9.0", standing: []Standing{{Image: c}, {Image: b, Name: "op.v0.9.0"}}, at: 1, conflict: "both"},
	} {
		r := request(tt.image)
		r.Rebuild, r.InsteadOf, r.Names = tt.rebuild, tt.instead, tt.names
		asked := 0
		r.NamesOf = func(images []string) (map[string]string, string) {
			asked += len(images)
			return tt.registry, "somebody"
		}
		got, err := r.Find(tt.standing, func(string) bool { return tt.entry })
		switch {
		case (err != nil) != (tt.conflict != ""), err != nil && !strings.Contains(err.Message+err.Remedy, tt.conflict):
			t.Errorf("%s: got %+v %v", tt.name, got, err)
		case got.At != tt.at || asked != tt.asked || err == nil && (got.Identity != tt.want || len(got.Unknown) != tt.unknown):
			t.Errorf("%s: got %+v, asked for %d", tt.name, got, asked)
		}
		if got.Unknown != nil && !strings.Contains(got.Conflict(r, "op.v1.0.0").Message, "(asked: somebody)") {
			t.Errorf("%s: the conflict is %v", tt.name, got.Conflict(r, "op.v1.0.0"))
		}
	}
}

// TestFindMoved checks that the image of a moved tag takes the place of its old bundle, once, and only if that
// bundle is certain.
func TestFindMoved(t *testing.T) {
	const tag, other = "q/op:latest", "q/op@sha256:bbbb"
	for _, tt := range []struct {
		name      string
		lists     string
		standing  []Standing
		names     map[string]string
		published bool
		want      Identity
		unknown   int
		conflict  string
	}{
		{name: "the only one", lists: "op.v0.9.0", standing: []Standing{{Image: tag}}, want: Replaced},
		{name: "by its own name", lists: "op.v0.9.0", standing: []Standing{{Image: other}, {Image: tag, Name: "op.v0.9.0"}}, want: Replaced},
		{name: "done", lists: "op.v1.0.0", standing: []Standing{{Image: tag}}, want: Same},
		{name: "done, and the catalog is old", lists: "op.v1.0.0", standing: []Standing{{Image: tag}}, names: map[string]string{tag: "op.v0.9.0"}, want: Same},
		{name: "another may be it", lists: "op.v0.9.0", standing: []Standing{{Image: other}, {Image: tag}}, want: Another, unknown: 1},
		{name: "another is it", lists: "op.v0.9.0", standing: []Standing{{Image: other, Name: "op.v0.9.0"}, {Image: tag}}, conflict: "both"},
		{name: "published", lists: "op.v0.9.0", standing: []Standing{{Image: tag}}, published: true, conflict: "which is published in index"},
	} {
		r := request(tag)
		r.InsteadOf, r.Names = "op.v0.9.0", tt.names
		if tt.published {
			r.Published = &Published{}
			r.Published.Add("index", []fbc.Doc{{Schema: fbc.SchemaBundle, Name: "op.v0.9.0", Image: tag}})
		}
		got, err := r.Find(tt.standing, func(name string) bool { return name == tt.lists })
		if (err != nil) != (tt.conflict != "") || err != nil && !strings.Contains(err.Message, tt.conflict) {
			t.Errorf("%s: got %v", tt.name, err)
		}
		if err == nil && (got.Identity != tt.want || len(got.Unknown) != tt.unknown) {
			t.Errorf("%s: got %+v", tt.name, got)
		}
	}
}
