package reference_test

import (
	"testing"

	"github.com/olmgraft/graft/internal/reference"
)

func TestRewrites(t *testing.T) {
	rules := reference.Rewrites{
		{From: "quay.io/stage/op-bundle", To: "registry.example.com/org/op-operator-bundle"},
		{From: "quay.io/tenant/", To: "registry.example.com/org/"},
		{From: "stage.example.com", To: "registry.example.com"},
		{From: "quay.io/stage/sub/bundle-*", To: "registry.example.com/sub/bundle"},
		{From: "quay.io/stage/**", To: "registry.example.com/never"},
	}
	for image, want := range map[string]string{
		"quay.io/stage/op-bundle@sha256:1":       "registry.example.com/org/op-operator-bundle@sha256:1",
		"quay.io/stage/op-bundle:v1":             "registry.example.com/org/op-operator-bundle:v1",
		"quay.io/stage/op-bundle":                "registry.example.com/org/op-operator-bundle",
		"quay.io/tenant/a/b:v1@sha256:1":         "registry.example.com/org/a/b:v1@sha256:1",
		"quay.io/tenants/a:v1":                   "quay.io/tenants/a:v1",
		"stage.example.com/a/b:v1":               "registry.example.com/a/b:v1",
		"stage.example.com:5000/a/b:v1":          "stage.example.com:5000/a/b:v1",
		"quay.io/stage/sub/bundle-0-24@sha256:1": "registry.example.com/sub/bundle@sha256:1",
		"quay.io/stage/sub/bundle-0/24@sha256:1": "registry.example.com/never@sha256:1",
		"registry.example.com/a/quay.io/work:v1": "registry.example.com/a/quay.io/work:v1",
		"":                                       "",
	} {
		got := rules.Of(image)
		if got != want {
			t.Errorf("%s becomes %s, want %s", image, got, want)
		}
		if again := rules.Of(got); again != got {
			t.Errorf("%s becomes %s and then %s", image, got, again)
		}
	}
}

func TestRewritesThatNeverEnd(t *testing.T) {
	rules := reference.Rewrites{{From: "a.io/x", To: "b.io/x"}, {From: "c.io", To: "a.io"}}
	if rules.Check() != nil {
		t.Errorf("%v is refused", *rules.Check())
	}
	for _, rule := range []reference.Rewrite{{From: "a.io/y", To: "a.io/y/z"}, {From: "d.io", To: "c.io/x/"}} {
		if got := append(rules, rule).Check(); got == nil || *got != rule {
			t.Errorf("%v is allowed, or another refused: %v", rule, got)
		}
	}
}
