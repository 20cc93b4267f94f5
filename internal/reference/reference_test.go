package reference

import (
	"strings"
	"testing"
)

func TestCut(t *testing.T) {
	for image, want := range map[string][3]string{
		"q.io/x/op:v1":               {"q.io/x/op", "v1", ""},
		"q.io/x/op@sha256:ab":        {"q.io/x/op", "", "sha256:ab"},
		"q.io/x/op:v1@sha256:ab":     {"q.io/x/op", "v1", "sha256:ab"},
		"q.io:5000/x/op":             {"q.io:5000/x/op", "", ""},
		"q.io:5000/x/op:v1":          {"q.io:5000/x/op", "v1", ""},
		"localhost:5000/op@sha256:a": {"localhost:5000/op", "", "sha256:a"},
		"op":                         {"op", "", ""},
	} {
		if r, tag, digest := Cut(image); [3]string{r, tag, digest} != want {
			t.Errorf("%s: got %q %q %q", image, r, tag, digest)
		}
	}
}

func TestParse(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("a", 64)
	for _, ok := range []string{"quay.io/a/b:v1", "quay.io/a/b", "busybox", "a/b:1.2_3-x", "localhost:5000/a" + digest, "[::1]:5000/a:b", "quay.io/a:v1" + digest, "Registry.example.com/a__b/c--d:X"} {
		if _, err := Parse(ok); err != nil {
			t.Errorf("%s: %v", ok, err)
		}
	}
	for _, bad := range []string{"", " ", "quay.io/", "quay.io/a:", "quay.io/A:v1", "quay.io/a/{x}:v1", "quay.io/a:v{x}", "quay.io/a@sha256:ab", "-.io/a", "quay.io//a", "a b", "quay.io/a..b", "quay.io/a___b", "quay.io:0/a", "quay.io:65536/a", "[::1/a", "[::g]/a", "[1.2.3.4]/a", "quay.io/" + strings.Repeat("a", 256), "https://quay.io/a"} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
}
