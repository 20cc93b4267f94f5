package plan

import (
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/template/kind"
)

func bundleOf(version string) kind.Bundle {
	return kind.Bundle{
		Name: "op.v" + version, Version: semver.MustParse(version), Package: "op",
		Image: "quay.io/example/op-bundle:v" + version,
	}
}

func TestPattern(t *testing.T) {
	b := bundleOf("1.2.3-rc.1")
	for _, tt := range []struct{ pattern, want, err string }{
		{"", "", ""},
		{"stable", "stable", ""},
		{"{package}/{name}/{version}", "op/op.v1.2.3-rc.1/1.2.3-rc.1", ""},
		{"v{major}.{minor}.{patch}", "v1.2.3", ""},
		{"op.v{major}.{minor}.{previousPatch}", "op.v1.2.2", ""},
		{"{template}", "", "{template} has no value here"},
		{"{}", "", "{} has no value here"},
		{"{ name }", "", "{ name } has no value here"},
		{"{name", "", "an opening brace without a closing one"},
		{"{{name}}", "", "an opening brace without a closing one"},
		{"name}", "", "a closing brace without an opening one"},
		{"{name}}", "", "a closing brace without an opening one"},
	} {
		got, err := Pattern(tt.pattern).For(b)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%q is %q, %v; want %q, %s", tt.pattern, got, err, tt.want, tt.err)
		}
	}
	if _, err := Pattern("{previousPatch}").For(bundleOf("1.2.0")); err == nil {
		t.Error("1.2.0 has a previous patch")
	}
	if !Pattern("stable").Constant() || Pattern("v{major}").Constant() || !Pattern("v{major}").Uses("major") || Pattern("v{major}").Uses("minor") {
		t.Error("Constant or Uses are wrong")
	}
}

func TestVersionRule(t *testing.T) {
	for _, tt := range []struct {
		rule, version string
		want          bool
	}{
		{"", "1.0.0", true},
		{"", "1.0.0-rc.1", true},
		{"prerelease", "1.0.0-rc.1", true},
		{"prerelease", "1.0.0", false},
		{"prerelease", "1.0.0+build", false},
		{"release", "1.0.0+build", true},
		{"release", "1.0.0-rc.1", false},
		{">=1.0.0 <2.0.0", "1.9.9", true},
		{">=1.0.0 <2.0.0", "2.0.0", false},
		{">=1.0.0 <2.0.0", "2.0.0-rc.1", true}, // it is below 2.0.0
		{"1.2.x || 2.x", "1.2.9", true},
		{"1.2.x || 2.x", "1.3.0", false},
		{"nonsense", "1.0.0", false},
	} {
		if got := VersionRule(tt.rule).Fits(semver.MustParse(tt.version)); got != tt.want {
			t.Errorf("%q fits %s: %v", tt.rule, tt.version, got)
		}
	}
	if VersionRule("nonsense").Check() == nil || VersionRule("release").Check() != nil {
		t.Error("Check is wrong")
	}
}

func TestPlatform(t *testing.T) {
	for s, want := range map[string]Platform{"v4.20": {4, 20}, "4.9": {4, 9}, "v5.0": {5, 0}, "1.31": {1, 31}} {
		if got, ok := ParsePlatform(s); !ok || got != want {
			t.Errorf("%s is %v, %v", s, got, ok)
		}
	}
	for _, s := range []string{"", "v4", "4.20.1", "v4.x", "V4.20", "=v4.20", "v4.20 ", "99999.0", "-4.2", "４.2"} {
		if got, ok := ParsePlatform(s); ok {
			t.Errorf("%q is %v", s, got)
		}
	}
	for p, want := range map[string]string{
		"catalogs/v4.20/op/catalog.yaml": "4.20",
		"v4.12/op/v4.13/catalog.yaml":    "4.13",
		"catalogs/v4.20.yaml":            "4.20",
		"4.16/catalog.json":              "4.16",
		"catalogs/latest/catalog.yaml":   "",
		"catalog.yaml":                   "",
		"catalog/v4.17":                  "4.17",
		"v4.17/op-4.20/catalog.yaml":     "4.17",

		"catalog/coo-product-v4.17/catalog.yaml": "4.17",
		"catalog/op-product-4.17/catalog.yaml":   "4.17",
		"catalog-4-14":                           "4.14",
		"fbc-4.20.yaml":                          "4.20",
		"ocp4.16/catalog.yaml":                   "4.16",
		"op-1.2-v5.0-amd64/catalog.yaml":         "5.0",
		"op-4.17.1/catalog.yaml":                 "",
		"op-1.2.3/catalog.yaml":                  "",
		"release-1.4/catalog.yaml":               "",
		"release-4.2/catalog.yaml":               "",
		"logging-6.2/catalog.yaml":               "",
		"2024-4-14/catalog.yaml":                 "",
		"op-r4.14/catalog.yaml":                  "",
		"op-4.14x/catalog.yaml":                  "",
	} {
		got, ok := PlatformOf(p)
		if ok != (want != "") || ok && got.String() != want {
			t.Errorf("%s is for %v, %v", p, got, ok)
		}
	}
	if (Platform{4, 9}).Compare(Platform{4, 10}) >= 0 || (Platform{5, 0}).Compare(Platform{4, 22}) <= 0 || (Platform{4, 9}).Compare(Platform{4, 9}) != 0 {
		t.Error("the order is wrong")
	}
	for p, objects := range map[Platform]bool{{4, 12}: true, {4, 16}: true, {4, 17}: false, {5, 0}: false, {1, 30}: false} {
		if p.wantsObjects() != objects {
			t.Errorf("%s wants objects: %v", p, !objects)
		}
	}
}

// The rows of the published table of the label's rules, and labels of published bundles.
func TestSupport(t *testing.T) {
	for _, tt := range []struct {
		label   string
		in, out string
		warning bool
	}{
		{"", "4.1 4.5 5.0", "", false},
		{"v4.5", "4.5 4.6 4.8 4.22 5.0", "4.4", false},
		{"v4.6", "4.6 4.7 4.10", "4.5", false},
		{"=v4.6", "4.6", "4.5 4.7 4.60", false},
		{"v4.5-v4.7", "4.5 4.6 4.7", "4.4 4.8 4.70", false},
		{"v4.5,v4.6", "4.5 4.6 4.7 4.8 5.0", "4.4", false},
		{"v4.6,v4.5", "4.5 4.6 4.7 4.8", "4.4", false},
		{"v4.6,v4.7", "4.6 4.7 4.8", "4.5", true},
		{"v4.8,v4.6,v4.7", "4.6 4.9", "4.5", true},
		{"v4.5,v4.5", "4.5 4.6", "4.4", true},
		{"4.12", "4.12 4.13", "4.11", false},
		{"4.14-4.17", "4.14 4.17", "4.13 4.18", false},
		{"v3.6-v4.8", "4.1 4.8", "4.9", false},
		{"v4.12-v4.12", "4.12", "4.11 4.13", false},
		{" v4.12 - v4.13 ", "4.12 4.13", "4.14", false},
		{"=4.12.3", "4.12", "4.13", false},
	} {
		s, err := ParseSupport(tt.label)
		if err != nil || (s.Warning != "") != tt.warning {
			t.Errorf("%q: %+v, %v", tt.label, s, err)
			continue
		}
		for _, v := range strings.Fields(tt.in) {
			if p, _ := ParsePlatform(v); !s.Holds(p) {
				t.Errorf("%q leaves out %s", tt.label, v)
			}
		}
		for _, v := range strings.Fields(tt.out) {
			if p, _ := ParsePlatform(v); s.Holds(p) {
				t.Errorf("%q holds %s", tt.label, v)
			}
		}
	}
	for _, label := range []string{"latest", "v4", ">=v4.12", "v4.12-", "-v4.12", "v4.13-v4.12", "=v4.12-v4.13", "v4.12,", "v4.12;v4.13", "==v4.12", "v4.12-v4.13-v4.14", "="} {
		if s, err := ParseSupport(label); err == nil {
			t.Errorf("%q is %+v", label, s)
		}
	}
}

func TestLocalPath(t *testing.T) {
	for p, want := range map[string]string{"a/b.yaml": "a/b.yaml", "./a//b/": "a/b", "a/./b": "a/b", "..a/b..": "..a/b.."} {
		if got, ok := localPath(p); !ok || got != want {
			t.Errorf("%q is %q, %v", p, got, ok)
		}
	}
	for _, p := range []string{"", ".", "./", "..", "/", "/etc/passwd", "a/../b", "a/..", "../a", "a/../../b", `a\b`, `..\a`, "C:/a", "c:a", "a\x00b", "a\nb", "//a", "\xff"} {
		if got, ok := localPath(p); ok {
			t.Errorf("%q is %q", p, got)
		}
	}
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{"{package}/v{major}", "v4.12-v4.15", "v4.5,v4.6", "a/../b", ">=1.0.0 <2.0.0", "{previousPatch}", "C:\\x"} {
		f.Add(s)
	}
	b := bundleOf("1.2.3")
	f.Fuzz(func(t *testing.T, s string) {
		out, err := Pattern(s).For(b)
		if err == nil && Pattern(s).Constant() && out != s {
			t.Errorf("%q became %q", s, out)
		}
		if support, err := ParseSupport(s); err == nil {
			low, high := support.Holds(Platform{0, 0}), support.Holds(Platform{99999, 0})
			if support.from != nil && (!support.Holds(*support.from) || support.to != nil && !support.Holds(*support.to)) || low && support.from != nil && *support.from != (Platform{}) || high && support.to != nil {
				t.Errorf("%q contains a wrong version, or not its bounds", s)
			}
		}
		if clean, ok := localPath(s); ok && (!fs.ValidPath(clean) || clean == "." || path.Clean(clean) != clean) {
			t.Errorf("%q is %q", s, clean)
		}
		_ = VersionRule(s).Fits(b.Version)
	})
}
