package event

import (
	"strings"
	"testing"
)

func TestParseReference(t *testing.T) {
	sha512 := "sha512:" + strings.Repeat("ab", 64)
	component := strings.Repeat("a", 200)
	for _, tt := range []struct{ image, repository, tag, digest string }{
		{"quay.io/x/y:v1", "quay.io/x/y", "v1", ""},
		{"quay.io/x/y@" + digest1, "quay.io/x/y", "", digest1},
		{"quay.io/x/y:v1@" + digest1, "quay.io/x/y", "v1", digest1},
		{"quay.io/x/y@" + sha512, "quay.io/x/y", "", sha512},
		{"Quay.IO/x/y:V1", "quay.io/x/y", "V1", ""},
		{"x:v1", "docker.io/library/x", "v1", ""},
		{"x/y:v1", "docker.io/x/y", "v1", ""},
		{"docker.io/x:v1", "docker.io/library/x", "v1", ""},
		{"index.docker.io/x:v1", "docker.io/library/x", "v1", ""},
		{"registry-1.docker.io/x/y:v1", "docker.io/x/y", "v1", ""},
		{"localhost/x:v1", "localhost/x", "v1", ""},
		{"localhost:5000/x:v1", "localhost:5000/x", "v1", ""},
		{"localhost:5000", "docker.io/library/localhost", "5000", ""}, // as docker reads it
		{"registry:5000/x/y/z:v1", "registry:5000/x/y/z", "v1", ""},
		{"10.0.0.1/x:v1", "10.0.0.1/x", "v1", ""},
		{"[::1]:5000/x:v1", "[::1]:5000/x", "v1", ""},
		{"[2001:DB8::1]/x:v1", "[2001:db8::1]/x", "v1", ""},
		{"quay.io/a.b_c__d---e/f:_1.2-3", "quay.io/a.b_c__d---e/f", "_1.2-3", ""},
		{"a.io/" + strings.Repeat("a", 250) + ":" + strings.Repeat("t", 128), "a.io/" + strings.Repeat("a", 250), strings.Repeat("t", 128), ""},
	} {
		p, err := ParseReference(tt.image)
		if err != nil || p.Repository != tt.repository || p.Tag != tt.tag || p.Digest != tt.digest {
			t.Errorf("%s: %+v, %v", tt.image, p, err)
			continue
		}
		again, err := ParseReference(p.Image())
		if err != nil || again.Image() != p.Image() {
			t.Errorf("%s reads as %s, and that as %s, %v", tt.image, p.Image(), again.Image(), err)
		}
	}
	for _, image := range []string{
		"", "quay.io/x/y", "quay.io/x/y:", "quay.io/x/y@", ":v1", "@" + digest1, "/x:v1", "quay.io/:v1", "quay.io//x:v1", "quay.io/x/:v1",
		"quay.io/X:v1", "X:v1", "X/y:v1", "quay.io/x..y:v1", "quay.io/x___y:v1", "quay.io/-x:v1", "quay.io/x-:v1", "quay.io/../x:v1", "quay.io/x/./y:v1",
		"quay.io/x:-v1", "quay.io/x:.v1", "quay.io/x:v1+b", "quay.io/x:" + strings.Repeat("t", 129), "quay.io/x:v1:v2",
		"quay.io/x@sha256:" + strings.Repeat("a", 63), "quay.io/x@sha256:" + strings.Repeat("a", 65), "quay.io/x@sha256:" + strings.Repeat("A", 64),
		"quay.io/x@sha512:" + strings.Repeat("a", 64), "quay.io/x@sha1:" + strings.Repeat("a", 40), "quay.io/x@" + digest1 + "@" + digest1,
		"https://quay.io/x:v1", "docker://quay.io/x:v1", "quay.io./x:v1", ".io/x:v1", "-a.io/x:v1", "a-.io/x:v1", "a..io/x:v1", "a_b.io/x:v1",
		"user@quay.io/x:v1", "quay.io:0/x:v1", "quay.io:65536/x:v1", "quay.io:http/x:v1", "quay.io:/x:v1", "[::1/x:v1", "[::g]/x:v1", "::1/x:v1",
		"quay.io/x:v1\n", "\nquay.io/x:v1", "quay.io/x:v1\x00", "quay.io/x y:v1", "quay.io/x:v1 ", "quay.io/ü:v1", "quаy.io/x:v1" /* a Cyrillic a */, "quay.io/x:v1\u202e",
		"a.io/" + strings.Repeat("a", 251) + ":v1", component + ".io/" + component + ":v1",
	} {
		if p, err := ParseReference(image); err == nil {
			t.Errorf("%q is read as %+v", image, p)
		} else {
			isOneFault(t, err)
		}
	}
}

func TestReference(t *testing.T) {
	for _, tt := range []struct {
		p                Publication
		reference, image string
	}{
		{Publication{Repository: "quay.io/x", Tag: "v1"}, "quay.io/x:v1", "quay.io/x:v1"},
		{Publication{Repository: "quay.io/x", Digest: digest1}, "quay.io/x@" + digest1, "quay.io/x@" + digest1},
		{Publication{Repository: "quay.io/x", Tag: "v1", Digest: digest1}, "quay.io/x@" + digest1, "quay.io/x:v1@" + digest1},
	} {
		if tt.p.Reference() != tt.reference || tt.p.Image() != tt.image {
			t.Errorf("%s and %s, want %s and %s", tt.p.Reference(), tt.p.Image(), tt.reference, tt.image)
		}
	}
}
