package kind

import (
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

// TestPublishedStays checks that a published bundle is neither rebuilt nor replaced: by digest, or by name if the
// digest is unknown.
func TestPublishedStays(t *testing.T) {
	const old, other, mine = "q/op@sha256:aaaa", "q/op@sha256:bbbb", "q/op@sha256:cccc"
	for _, tt := range []struct {
		name, image, digest string
		standing            Standing
		instead             string
		published           string // image of op.v1.0.0
		want                Identity
		refused             bool
	}{
		{"its digest", mine, "", Standing{old, "op.v1.0.0"}, "", "prod/op@sha256:aaaa", Another, true},
		{"its tag", "q/op:v1.0.0-2", "", Standing{"q/op:v1.0.0", ""}, "", "q/op:v1.0.0", Another, true},
		{"a tag with an unknown digest", "q/op:v1.0.0-2", "sha256:cccc", Standing{"q/op:v1.0.0", ""}, "", old, Another, true},
		{"a tag whose digest is known to be another", "q/op:v1.0.0-2", "sha256:cccc", Standing{"known/op:v1.0.0", ""}, "", old, Rebuilt, false},
		{"another build", mine, "", Standing{other, "op.v1.0.0"}, "", old, Rebuilt, false},
		{"the published one is requested", mine, "", Standing{"q/op:v1.0.0", "op.v1.0.0"}, "", mine, Rebuilt, false},
		{"nothing", mine, "", Standing{old, "op.v1.0.0"}, "", "", Rebuilt, false},
		{"the same image", mine, "", Standing{mine, "op.v1.0.0"}, "", mine, Same, false},
		{"a tag that moved", "q/op:v1.0.0", "sha256:cccc", Standing{"q/op:v1.0.0", ""}, "", old, Another, true},
		{"a tag that did not", "q/op:v1.0.0", "sha256:aaaa", Standing{"q/op:v1.0.0", ""}, "", old, Same, false},
		{"the replaced bundle is published", mine, "", Standing{old, "op.v0.9.0"}, "op.v0.9.0", "", Another, true},
		{"the replaced bundle is published, by tag", mine, "", Standing{"q/op:v0.9.0", ""}, "op.v0.9.0", "", Another, true},
		{"another bundle is published", mine, "", Standing{old, "op.v0.8.0"}, "op.v0.8.0", "", Replaced, false},
	} {
		r := request(tt.image)
		r.Bundle.Digest, r.Rebuild, r.InsteadOf, r.Published = tt.digest, tt.instead == "", tt.instead, &Published{}
		r.DigestOf = func(image string) string {
			if image == "known/op:v1.0.0" {
				return "sha256:dddd"
			}
			return ""
		}
		r.Published.Add("published.yaml", []fbc.Doc{
			{Schema: fbc.SchemaBundle, Name: "op.v1.0.0", Image: tt.published}, {Schema: fbc.SchemaBundle, Name: "op.v0.9.0", Image: "q/op@sha256:9999"},
		})
		got, err := r.Identify(tt.standing)
		if got != tt.want || (err != nil) != tt.refused || err != nil && (err.Code != failure.BundleConflict || err.Remedy == "") {
			t.Errorf("%s: got %v %v", tt.name, got, err)
		}
	}
	var none *Published
	if none.Has("op.v1.0.0")+none.Image("op.v1.0.0") != "" {
		t.Error("nothing has something")
	}
}
