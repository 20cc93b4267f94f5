package kind

import (
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
)

func request(image string) Request {
	return Request{Bundle: Bundle{Name: "op.v1.0.0", Version: semver.MustParse("1.0.0"), Package: "op", Image: image}}
}

// A bundle is its name, or the version of its tag where no name stands there; its image may
// change for one of another repository with the same digest, where that is asked for.
func TestIdentify(t *testing.T) {
	const a, b = "@sha256:aaaa", "@sha256:bbbb"
	known := map[string]string{"stage/op:v1.0.0": "sha256:aaaa", "prod/op:v1.0.0": "sha256:aaaa", "prod/op:v1.0.0-2": "sha256:bbbb"}
	for _, tt := range []struct {
		name, image, digest string // that are asked for
		standing            Standing
		promote             bool
		want                Identity
		conflict            string // in the failure or its remedy
	}{
		{"the same image", "q/op:v1.0.0", "", Standing{Image: "q/op:v1.0.0"}, false, Same, ""},
		{"the same image and name", "q/op:v1.0.0", "", Standing{Image: "q/op:v1.0.0", Name: "op.v1.0.0"}, false, Same, ""},
		{"the same image by another name", "q/op:v1.0.0", "", Standing{Image: "q/op:v1.0.0", Name: "op.v1.0.1"}, false, Another, "stands there under the name op.v1.0.1"},
		{"another name and image", "q/op:v1.0.0", "", Standing{Image: "q/op:v1.1.0", Name: "op.v1.1.0"}, false, Another, ""},
		{"another name, the version in the tag", "q/op:v1.0.0", "", Standing{Image: "p/op:v1.0.0", Name: "op.v1.1.0"}, false, Another, ""},
		{"another version in the tag", "q/op:v1.0.0", "", Standing{Image: "q/op:v1.0.1"}, false, Another, ""},
		{"other build metadata in the tag", "q/op:v1.0.0", "", Standing{Image: "q/op:v1.0.0-1"}, false, Another, ""},
		{"no version in the tag", "q/op:v1.0.0", "", Standing{Image: "q/op:latest"}, false, Another, ""},
		{"by digest", "q/op:v1.0.0", "", Standing{Image: "q/op" + a}, false, Another, ""},
		{"the same name with another image", "q/op:v1.0.0", "", Standing{Image: "q/op:one", Name: "op.v1.0.0"}, false, Another, "it stands there with image q/op:one"},
		{"the same version with another image", "q/op:v1.0.0", "", Standing{Image: "q/op:1.0.0"}, false, Another, "it stands there with image q/op:1.0.0"},
		{"the same digest elsewhere", "prod/op:v1.0.0" + a, "", Standing{Image: "stage/op:v1.0.0" + a}, false, Another, "give --promote"},
		{"the same digest elsewhere, promoted", "prod/op:v1.0.0" + a, "", Standing{Image: "stage/op:v1.0.0" + a}, true, Promoted, ""},
		{"the same digest elsewhere by name, promoted", "prod/op" + a, "", Standing{Image: "stage/op" + a, Name: "op.v1.0.0"}, true, Promoted, ""},
		{"another digest elsewhere", "prod/op:v1.0.0" + b, "", Standing{Image: "stage/op:v1.0.0" + a}, false, Another, "Publish changed content under a new version"},
		{"another digest elsewhere, promoted", "prod/op:v1.0.0" + b, "", Standing{Image: "stage/op:v1.0.0" + a}, true, Another, "it stands there with image stage/op:v1.0.0" + a},
		{"the digest that was pulled counts", "prod/op:v1.0.0", "sha256:aaaa", Standing{Image: "stage/op:v1.0.0" + a}, true, Promoted, ""},
		{"not the one in the reference", "prod/op:v1.0.0" + a, "sha256:bbbb", Standing{Image: "stage/op:v1.0.0" + a}, true, Another, "it stands there"},
		{"digests that a registry tells", "prod/op:v1.0.0", "", Standing{Image: "stage/op:v1.0.0"}, true, Promoted, ""},
		{"another digest that a registry tells", "prod/op:v1.0.0-2", "", Standing{Image: "stage/op:v1.0.0", Name: "op.v1.0.0"}, true, Another, "it stands there"},
		{"digests that nobody knows", "prod/op:v1.0.0-x", "", Standing{Image: "stage/op:v1.0.0-x", Name: "op.v1.0.0"}, true, Another, "it stands there"},
		{"the same digest in the same repository", "q/op:1.0.0" + a, "", Standing{Image: "q/op:v1.0.0" + a}, true, Another, "it stands there"},
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
		t.Errorf("nobody knows digests: got %v %v", got, err)
	}
}

// A bundle whose entry stands there gets no second image where each entry has one.
func TestCrowded(t *testing.T) {
	const a, b = "q/op@sha256:aaaa", "q/op@sha256:bbbb"
	for _, tt := range []struct {
		name     string
		entries  string
		standing []Standing
		want     bool
	}{
		{"an image for each entry", "op.v0.9.0 op.v1.0.0", []Standing{{Image: a}, {Image: b}}, true},
		{"the others by tag", "op.v0.9.0 op.v1.0.0", []Standing{{Image: "q/op:v0.9.0"}, {Image: b}}, true},
		{"the others by name", "op.v0.9.0 op.v1.0.0", []Standing{{Image: a, Name: "op.v0.9.0"}, {Image: b}}, true},
		{"an entry in two channels", "op.v0.9.0 op.v1.0.0 op.v1.0.0", []Standing{{Image: a}, {Image: b}}, true},
		{"an entry without image", "op.v0.9.0 op.v1.0.0", []Standing{{Image: a}}, false},
		{"two without, one by digest", "op.v0.8.0 op.v0.9.0 op.v1.0.0", []Standing{{Image: "q/op:v0.8.0"}, {Image: a}}, false},
		{"all images tell their bundles", "op.v0.9.0 op.v1.0.0", []Standing{{Image: "q/op:v0.9.0"}, {Image: "q/op:v0.8.0"}}, false},
		{"no entry of the bundle", "op.v0.9.0 op.v0.9.1", []Standing{{Image: a}, {Image: b}}, false},
		{"nothing", "", nil, false},
	} {
		err := request("q/op@sha256:cccc").Crowded(strings.Fields(tt.entries), tt.standing)
		if (err != nil) != tt.want || err != nil && err.Code != failure.BundleConflict {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
}
