package event

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/olmgraft/graft/internal/failure"
)

func TestAllowed(t *testing.T) {
	for _, tt := range []struct {
		pattern, repository string
		want                bool
	}{
		{"quay.io/org/op", "quay.io/org/op", true},
		{"quay.io/org/op", "quay.io/org/op2", false},
		{"quay.io/org/op", "quay.io/org/o", false},
		{"quay.io/org/*", "quay.io/org/op", true},
		{"quay.io/org/*", "quay.io/org/team/op", false},
		{"quay.io/org/*", "quay.io/org", false},
		{"quay.io/org/*-bundle", "quay.io/org/op-bundle", true},
		{"quay.io/org/*-bundle", "quay.io/org/op-bundle-old", false},
		{"quay.io/org*", "quay.io/org-evil", true}, // as written
		{"quay.io/org*", "quay.io/org-evil/op", false},
		{"quay.io/*/op", "quay.io/org/op", true},
		{"quay.io/*/op", "quay.io/org/team/op", false},
		{"quay.io/org/**", "quay.io/org/op", true},
		{"quay.io/org/**", "quay.io/org/team/op", true},
		{"quay.io/org/**", "quay.io/org2/op", false},
		{"quay.io/**/op", "quay.io/a/b/op", true},
		{"quay.io/**/op", "quay.io/op", false},
		{"**/op", "quay.io/a/op", true},
		{"**", "quay.io/a/op", true},
		{"*", "quay.io/a/op", false},
		{"*/op", "quay.io/op", true},
		{"*.example.com/**", "r.example.com/op", true},
		{"*.example.com/**", "evil.com/r.example.com/op", false},
		{"*.example.com/**", "r.example.com.evil.com/op", false},
		{"*.example.com/**", "r.example.com:5000/op", false},
		{"*.example.com:*/**", "r.example.com:5000/op", true},
		{"quay.io/org/op", "evil.example/quay.io/org/op", false},
		{"org/op", "docker.io/org/op", false},
		{"docker.io/library/*", "docker.io/library/op", true},
		{"Quay.io/org/op", "quay.io/org/op", false},
		{"quay.io/org/o?", "quay.io/org/op", false},
		{"quay.io/org/[a-z]p", "quay.io/org/op", false},
		{"quayxio/org/op", "quay.io/org/op", false},
		{"quay.io/org/***", "quay.io/org/team/op", true},
		{"", "quay.io/org/op", false},
	} {
		if got := Allowed([]string{tt.pattern}, tt.repository); got != tt.want {
			t.Errorf("%s allows %s: %v", tt.pattern, tt.repository, got)
		}
	}
	if Allowed(nil, "quay.io/org/op") {
		t.Error("no pattern allows a repository")
	}
	if !Allowed([]string{"ghcr.io/**", "quay.io/**"}, "quay.io/org/op") {
		t.Error("the second of two patterns is not heard")
	}
}

func TestCheck(t *testing.T) {
	p := Publication{Repository: "quay.io/org/op", Tag: "v1"}
	if err := Check([]string{"quay.io/org/*"}, "--allowed-repositories", p); err != nil {
		t.Error(err)
	}
	for _, patterns := range [][]string{nil, {"quay.io/other/*"}} {
		if err := Check(patterns, "--allowed-repositories", p); !failure.Is(err, failure.BundleNotAllowed) || !strings.Contains(err.Error(), "quay.io/org/op:v1") {
			t.Errorf("%q: %v", patterns, err)
		}
	}
}

// The matcher agrees with an equivalent regular expression.
func FuzzAllowed(f *testing.F) {
	for _, seed := range [][2]string{
		{"quay.io/org/*", "quay.io/org/op"}, {"quay.io/**", "quay.io/a/b"}, {"***a*b", "xa/ab"}, {"*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaa"}, {"", ""},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, repository string) {
		if len(pattern)*len(repository) > 1<<12 || !utf8.ValidString(pattern) || !utf8.ValidString(repository) {
			return
		}
		expression := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*\*`, `.*`)
		expression = strings.ReplaceAll(expression, `\*`, `[^/]*`)
		want := regexp.MustCompile(`(?s)\A` + expression + `\z`).MatchString(repository)
		if got := Allowed([]string{pattern}, repository); got != want {
			t.Errorf("%q allows %q: %v, want %v", pattern, repository, got, want)
		}
		if !strings.Contains(repository, "*") && !Allowed([]string{repository}, repository) {
			t.Errorf("%q does not allow itself", repository)
		}
	})
}

func BenchmarkAllowed(b *testing.B) {
	patterns := []string{strings.Repeat("*a", 120)}
	repository := strings.Repeat("a", 254) + "b"
	for b.Loop() {
		Allowed(patterns, repository)
	}
}
