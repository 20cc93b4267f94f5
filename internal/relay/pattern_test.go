package relay

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, tt := range []struct{ pattern, repository, want string }{
		{"quay.io/{org}/{name}-bundle", "quay.io/octo/op-bundle", "map[name:op org:octo]"},
		{"quay.io/{org}/{name}-bundle", "quay.io/octo/-bundle", "no"},
		{"quay.io/{org}/{name}-bundle", "quay.io/octo/op-bundle-bundle", "map[name:op-bundle org:octo]"},
		{"quay.io/{org}/{name}-bundle", "quay.io/octo/team/op-bundle", "no"},
		{"quay.io/{org}/**/{name}", "quay.io/octo/a/b/op", "map[name:op org:octo]"},
		{"quay.io/{org}/**/{name}", "quay.io/octo/op", "no"},
		{"ghcr.io/{org}/**", "ghcr.io/octo/a/b", "map[org:octo]"},
		{"ghcr.io/{org}/**", "ghcr.io/octo", "no"},
		{"{host}/x-{org}/*", "quay.io/x-octo/y", "map[host:quay.io org:octo]"},
		{"ghcr.io/*", "ghcr.io/a", "map[]"},
		{"aba{x}aba", "aba", "no"},
		{"aba{x}aba", "ababa", "no"},
	} {
		got := "no"
		if captures, ok := match(tt.pattern, tt.repository); ok {
			got = fmt.Sprint(captures)
		}
		if got != tt.want {
			t.Errorf("%s of %s: %s, want %s", tt.pattern, tt.repository, got, tt.want)
		}
	}
	if got := fill("{org}/{name}-catalog", map[string]string{"org": "octo", "name": "op"}); got != "octo/op-catalog" {
		t.Error(got)
	}
}

func TestCaptures(t *testing.T) {
	for pattern, want := range map[string]string{
		"quay.io/{org}/{name}-bundle": "", "quay.io/**": "", "quay.io/a*b*/{x}/**": "", "quay.io/x**/y": "",
		"quay.io/{a}{b}": "{a}{b} is ambiguous", "quay.io/*-{b}": "*-{b} is ambiguous",
		"q/{a}/**/b/**": "** occurs twice, so the captures are ambiguous", "q/{a}/x**": "x** has ** beside other text; with captures, ** must be a whole part",
		"q/{a": "a brace has no counterpart", "q/a}": "a brace has no counterpart", "q/{}": "{} is not a valid capture", "q/{A}": "{A} is not a valid capture",
		"q/{a}/{a}": "{a} occurs twice",
	} {
		if got := checkCaptures(pattern); got != want {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}

func TestOverlap(t *testing.T) {
	for _, tt := range []struct {
		a, b, except, want string
	}{
		{"quay.io/{org}/{name}-bundle", "quay.io/octo/{name}", "", "quay.io/octo/x-bundle"},
		{"quay.io/{org}/{name}-bundle", "quay.io/octo/{name}", "quay.io/octo/**", ""},
		{"quay.io/{org}/{name}-bundle", "quay.io/octo/{name}", "quay.io/octo/x-*", "quay.io/octo//-bundle"},
		{"quay.io/{org}/{name}-bundle", "quay.io/{org}/{name}-catalog", "", ""},
		{"quay.io/{org}/{name}", "docker.io/{org}/{name}", "", ""},
		{"quay.io/{org}/**", "quay.io/octo/{name}", "", "quay.io/octo/x"},
		{"quay.io/{org}/{name}", "quay.io/{org}/{name}", "quay.io/*/*", ""},
	} {
		var except []string
		if tt.except != "" {
			except = []string{tt.except}
		}
		got, _ := overlap(tt.a, tt.b, except)
		if strings.Contains(tt.want, "//") {
			// Any other such name is correct.
			if _, named := match(tt.a, got); !named || strings.HasPrefix(got, "quay.io/octo/x-") {
				t.Errorf("%q", got)
			}
			continue
		}
		if got != tt.want {
			t.Errorf("%s and %s without %q: %q, want %q", tt.a, tt.b, tt.except, got, tt.want)
		}
	}
}

// Both patterns match the name that overlap finds, and no exception does. If overlap finds none, no short name
// is matched by both.
func TestOverlapIsMatch(t *testing.T) {
	parts := []string{"a", "b", "ab", "*", "a*", "*b", "{x}", "a{x}", "{x}b"}
	var texts []string
	letters := strings.Split("a b ab aa bb ba aab abb", " ")
	for _, first := range letters {
		for _, second := range letters {
			texts = append(texts, first+"/"+second, first+"/"+second+"/a", first+"/"+second+"/ab")
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	pattern := func() string {
		all := []string{parts[random.IntN(len(parts))]}
		for range 1 + random.IntN(2) {
			all = append(all, strings.Replace(parts[random.IntN(len(parts))], "x", string(rune('p'+len(all))), 1))
		}
		if random.IntN(4) == 0 {
			all[len(all)-1] = "**"
		}
		return strings.Join(all, "/")
	}
	found := map[bool]int{}
	for range 2000 {
		a, b, except := pattern(), pattern(), pattern()
		names := func(name string) bool {
			_, inA := match(a, name)
			_, inB := match(b, name)
			_, out := match(except, name)
			return inA && inB && !out
		}
		got, _ := overlap(a, b, []string{except})
		found[got != ""]++
		if got != "" && !names(got) {
			t.Fatalf("%s and %s without %s: %q is no such name", a, b, except, got)
		}
		if i := slices.IndexFunc(texts, names); got == "" && i >= 0 {
			t.Fatalf("%s and %s without %s: there is %q", a, b, except, texts[i])
		}
	}
	if found[true] < 100 || found[false] < 100 {
		t.Errorf("%v", found)
	}
}

// A target with captures sends to the repository that the image's name gives, and to no other.
func TestCapturesAreFilled(t *testing.T) {
	t.Parallel()
	w := begin(t, setup{config: map[string]string{
		"targets": `[{images: ["quay.io/{org}/{name}-bundle"], repositories: ["{org}/{name}"], except: ["quay.io/octo/out-*"]}]`,
	}})
	for image, want := range map[string]int{
		"quay.io/octo/catalog-bundle:v1": 202, "quay.io/octo/other-bundle:v1": 202, "quay.io/octo/catalog-bundle:v2": 202,
		"quay.io/octo/out-bundle:v1": 200, "quay.io/octo/catalog:v1": 200, "quay.io/under_score/catalog-bundle:v1": 200,
	} {
		if status, body := w.hook(image); status != want {
			t.Errorf("%s: %d %s", image, status, body)
		}
	}
	w.settled()
	told := map[string]int{}
	for _, d := range w.hub.Dispatches() {
		told[d.Owner+"/"+d.Repo]++
	}
	if fmt.Sprint(told) != "map[octo/catalog:2 octo/other:1]" {
		t.Errorf("%v", told)
	}
	if !strings.Contains(w.log.String(), "which gives under_score/catalog") {
		t.Errorf("%s", w.log)
	}
}
