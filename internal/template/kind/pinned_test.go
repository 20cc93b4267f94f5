package kind

import "testing"

// TestPinned checks that an image by tag is inserted by its digest among images by digest.
func TestPinned(t *testing.T) {
	const a, b, tagged = "q/op@sha256:aaaa", "q/op@sha256:bbbb", "q/op:v0.9.0@sha256:cccc"
	for _, tt := range []struct {
		name, image, known, told string
		standing, beside         []string
		want                     string
		note                     bool
	}{
		{name: "known", image: "q/op:v1.0.0", known: "sha256:dddd", standing: []string{a, b}, want: "q/op@sha256:dddd"},
		{name: "asked", image: "q/op:v1.0.0", told: "sha256:dddd", standing: []string{a, tagged}, want: "q/op@sha256:dddd"},
		{name: "with the tag", image: "q/op:v1.0.0", told: "sha256:dddd", standing: []string{tagged}, want: "q/op:v1.0.0@sha256:dddd"},
		{name: "an unknown digest", image: "q/op:v1.0.0", standing: []string{a}, want: "q/op:v1.0.0", note: true},
		{name: "one has a tag alone", image: "q/op:v1.0.0", known: "sha256:dddd", standing: []string{a, "q/op:v0.8.0"}, want: "q/op:v1.0.0"},
		{name: "the first", image: "q/op:v1.0.0", known: "sha256:dddd", want: "q/op:v1.0.0"},
		{name: "the first of a template beside others", image: "q/op:v1.0.0", known: "sha256:dddd", beside: []string{a}, want: "q/op@sha256:dddd"},
		{name: "the first, beside others, unknown", image: "q/op:v1.0.0", beside: []string{a}, want: "q/op:v1.0.0", note: true},
		{name: "not like those beside", image: "q/op:v1.0.0", known: "sha256:dddd", standing: []string{"q/op:v0.8.0"}, beside: []string{a}, want: "q/op:v1.0.0"},
		{name: "by digest", image: b, known: "sha256:dddd", standing: []string{a}, want: b},
	} {
		r := request(tt.image)
		r.Bundle.Digest, r.Resolve = tt.known, func(string) string { return tt.told }
		var standing []BundleRef
		for _, image := range tt.standing {
			standing = append(standing, BundleRef{Image: image})
		}
		for _, image := range tt.beside {
			r.Beside = append(r.Beside, BundleRef{Image: image})
		}
		got, note := r.Pinned(standing)
		if got.Bundle.Image != tt.want || (note != "") != tt.note {
			t.Errorf("%s: got %s %q", tt.name, got.Bundle.Image, note)
		}
	}
}
