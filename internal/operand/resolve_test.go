package operand

import (
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
)

func request(t *testing.T, text string) Request {
	t.Helper()
	q, err := ParseRequest(text)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func operandEntry(name, version string) string {
	return "---\nschema: olm.operand\nname: " + name + "\nversion: " + version + "\nimages:\n- {name: " + name + ", image: quay.io/example/" + name + "@sha256:" + strings.ReplaceAll(version, ".", "") + "a}\n"
}

func bundleDoc(pkg, version string, claims ...string) string {
	text := "---\nschema: olm.bundle\npackage: " + pkg + "\nname: " + pkg + ".v" + version + "\nimage: quay.io/example/" + pkg + ":v" + version +
		"\nproperties:\n- {type: olm.package, value: {packageName: " + pkg + ", version: " + version + "}}\n"
	for _, c := range claims {
		kind, rest, _ := strings.Cut(c, " ")
		name, r, _ := strings.Cut(rest, " ")
		typ := map[string]string{"supports": TypeSupported, "requires": TypeRequired, "takes": TypeRelatedImageBundle}[kind]
		text += "- {type: " + typ + ", value: {name: " + name + ", version: \"" + r + "\"}}\n"
	}
	return text
}

func TestResolveSeed(t *testing.T) {
	s := setOf(t, seedOperandBundle, seedOperand, operandEntry("prometheus", "2.5.0")+bundleDoc("prometheus", "1.0.0", "supports prometheus >=2.0.0"))
	b, err := s.Bundle("etcdoperator-community.v0.6.1")
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(b, []Request{request(t, "etcd")})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Asked[0]; got.Entry.Version.String() != "3.1.1" || got.Reason != "the highest version for etcdoperator-community.v0.6.1, which supports 3.1.1 or >= 2.1.0 < 3.0.0" {
		t.Errorf("got %s: %s", got.Entry.Version, got.Reason)
	}
	if got := r.Required[0]; len(r.Required) != 1 || got.Entry.Version.String() != "2.5.0" || got.By.Name != "prometheus.v1.0.0" {
		t.Errorf("got %+v", r.Required)
	}

	s = setOf(t, seedRelatedBundle, seedRelated)
	r, err = s.Resolve(&s.Bundles[0], []Request{request(t, "etcdoperator-related")})
	if err != nil || r.Asked[0].Entry.Version.String() != "0.9.0" {
		t.Errorf("%v: %+v", err, r)
	}
}

func TestResolveReason(t *testing.T) {
	s := setOf(t, bundleDoc("op", "1.0.0", "supports etcd >=2.0.0 <4.0.0"),
		operandEntry("etcd", "4.0.0")+operandEntry("etcd", "3.5.0")+operandEntry("etcd", "3.4.0")+operandEntry("etcd", "1.0.0"))
	r, err := s.Resolve(&s.Bundles[0], []Request{request(t, "etcd@<3.5.0 || 4.0.0")})
	if err != nil {
		t.Fatal(err)
	}
	want := "the highest version within <3.5.0 || 4.0.0 for op.v1.0.0, which supports >=2.0.0 <4.0.0; skipped: 4.0.0 (not supported), 3.5.0 (not requested)"
	if got := r.Asked[0]; got.Entry.Version.String() != "3.4.0" || got.Reason != want {
		t.Errorf("got %s: %s", got.Entry.Version, got.Reason)
	}
}

func TestUnresolvable(t *testing.T) {
	op := bundleDoc("op", "1.0.0", "supports etcd >=2.0.0 <3.0.0", "takes set 1.x", "takes set >=1.2.0")
	needy := bundleDoc("op", "1.0.0", "requires prom >=2.0.0", "requires log 1.x")
	log := operandEntry("log", "1.1.0") + bundleDoc("log", "1.0.0", "supports log >=1.0.0")
	for name, test := range map[string]struct {
		catalogs []string
		request  string
		want     string
	}{
		"not taken":       {[]string{op}, "kafka", "resolving kafka for op.v1.0.0: the bundle supports no operand of that name; it supports etcd, set"},
		"takes nothing":   {[]string{bundleDoc("op", "1.0.0")}, "kafka", "the bundle supports no operand of that name and no other"},
		"no entry":        {[]string{op}, "etcd", "no catalog has an olm.operand named etcd"},
		"no set":          {[]string{op, operandEntry("set", "1.3.0")}, "set", "no catalog has an olm.relatedimages named set"},
		"asked, untaken":  {[]string{op, operandEntry("etcd", "3.1.0"), operandEntry("etcd", "2.0.0")}, "etcd@>=3.0.0", "the bundle supports >=2.0.0 <3.0.0, and the nearest of 2 versions is 3.1.0 at b.yaml:2, which is requested and not supported"},
		"taken, unasked":  {[]string{op, operandEntry("etcd", "2.0.0")}, "etcd@2.1.0", "the nearest of 1 version is 2.0.0 at b.yaml:2, which is supported and not requested"},
		"neither":         {[]string{op, operandEntry("etcd", "1.0.0")}, "etcd@2.1.0", "1.0.0 at b.yaml:2, which is neither requested nor supported"},
		"two truths":      {[]string{op, operandEntry("etcd", "2.1.0"), strings.Replace(operandEntry("etcd", "2.1.0"), "sha256:", "sha256:b", 1)}, "etcd", "resolving etcd 2.1.0: b.yaml:2 and c.yaml:2 give it different images"},
		"no provider":     {[]string{needy, log}, "", "resolving prom, which op.v1.0.0 requires within >=2.0.0: no bundle supports it"},
		"provided, none":  {[]string{needy, log, bundleDoc("prom", "1.0.0", "supports prom 2.x")}, "", "no catalog has an entry for it, although prom.v1.0.0 supports 2.x"},
		"provided, lower": {[]string{needy, log, bundleDoc("prom", "1.0.0", "supports prom 1.x"), operandEntry("prom", "1.0.0"), operandEntry("prom", "2.0.0")}, "", "none of its entries (2.0.0, 1.0.0) is both in that range and supported: prom.v1.0.0 supports 1.x"},
		"package held": {[]string{needy, operandEntry("log", "1.1.0") + bundleDoc("prom", "1.0.0", "supports log >=1.0.0"),
			bundleDoc("prom", "2.0.0", "supports prom 2.x"), operandEntry("prom", "2.0.0")}, "", "prom.v2.0.0 supports it, but prom.v1.0.0 of the same package is already chosen"},
	} {
		t.Run(name, func(t *testing.T) {
			s := setOf(t, test.catalogs...)
			b, err := s.Bundle("op.v1.0.0")
			if err != nil {
				t.Fatal(err)
			}
			var asked []Request
			if test.request != "" {
				asked = append(asked, request(t, test.request))
			}
			_, err = s.Resolve(b, asked)
			if f := failure.Of(err); f == nil || f.Code != failure.OperandUnresolvable || !strings.Contains(f.Message, test.want) || f.File == "" {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// An entry for a package applies only to that package, and there overrides the entry for all packages.
func TestEntryOfPackage(t *testing.T) {
	own := func(pkg, version string) string {
		return strings.NewReplacer("name: etcd\n", "name: etcd\npackage: "+pkg+"\n", "example/etcd", pkg+"/etcd").Replace(operandEntry("etcd", version))
	}
	for name, test := range map[string]struct{ entries, want string }{
		"other":      {own("other", "2.1.0") + operandEntry("etcd", "2.0.0"), "2.0.0 quay.io/example/etcd"},
		"own":        {own("op", "2.1.0") + operandEntry("etcd", "2.0.0"), "2.1.0 quay.io/op/etcd"},
		"in place":   {operandEntry("etcd", "2.1.0") + own("op", "2.1.0"), "2.1.0 quay.io/op/etcd"},
		"only lower": {operandEntry("etcd", "2.1.0") + own("op", "2.0.0"), "2.1.0 quay.io/example/etcd"},
	} {
		s := setOf(t, bundleDoc("op", "1.0.0", "supports etcd 2.x", "requires etcd 2.x"), test.entries)
		r, err := s.Resolve(&s.Bundles[0], []Request{request(t, "etcd")})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []Chosen{r.Asked[0], r.Required[0]} {
			image, _, _ := strings.Cut(c.Entry.Images[0].Image, "@")
			if got := c.Entry.Version.String() + " " + image; got != test.want {
				t.Errorf("%s: got %s, want %s", name, got, test.want)
			}
		}
	}
}

func TestBundleByName(t *testing.T) {
	one := bundleDoc("op", "1.0.0", "supports etcd 2.x")
	s := setOf(t, one, one)
	if b, err := s.Bundle("op.v1.0.0"); err != nil || b.File != "a.yaml" {
		t.Errorf("%v: %+v", err, b)
	}
	s = setOf(t, one, bundleDoc("op", "1.0.0", "supports etcd 3.x"))
	if _, err := s.Bundle("op.v1.0.0"); !failure.Is(err, failure.OperandUnresolvable) || !strings.Contains(err.Error(), "a.yaml:2 and b.yaml:2 differ") {
		t.Errorf("got %v", err)
	}
	if _, err := s.Bundle("op.v2.0.0"); !failure.Is(err, failure.OperandUnresolvable) {
		t.Errorf("got %v", err)
	}
}

func TestParseRequest(t *testing.T) {
	for _, bad := range []string{"", "@1.0.0", "etcd@", "etcd@about 3"} {
		if _, err := ParseRequest(bad); !failure.Is(err, failure.Usage) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// The search stops at its bound.
func TestSearchIsBounded(t *testing.T) {
	var docs strings.Builder
	docs.WriteString(bundleDoc("op", "1.0.0", "requires a 1.x", "requires b 1.x", "requires c 1.x", "requires d 1.x", "requires e 1.x", "requires z 1.x"))
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		docs.WriteString(operandEntry(name, "1.0.0"))
		for i := range 12 {
			docs.WriteString(bundleDoc(name, "1.0."+string(rune('0'+i%10))+strings.Repeat("1", i/10), "supports "+name+" 1.x"))
		}
	}
	// Only an old version of a provides z, and no b fits that version.
	docs.WriteString(operandEntry("z", "1.0.0") + bundleDoc("op", "2.0.0", "supports z 1.x"))
	s := setOf(t, docs.String())
	b, err := s.Bundle("op.v1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Resolve(b, nil); err == nil || !strings.Contains(err.Error(), "steps found no providers that fit together") {
		t.Errorf("got %v", err)
	}
}

func variables(t *testing.T, s *Set, prefix string, requests ...string) []string {
	t.Helper()
	var asked []Request
	for _, q := range requests {
		asked = append(asked, request(t, q))
	}
	r, err := s.Resolve(&s.Bundles[0], asked)
	if err != nil {
		t.Fatal(err)
	}
	all, err := r.Variables(prefix)
	if err != nil {
		return []string{err.Error()}
	}
	return strings.Split(strings.TrimSpace(Env(all)), "\n")
}

// The variables of the design document: ETCD_DEFAULT, ETCD_V2 and ETCD_V3.
func TestVariables(t *testing.T) {
	s := setOf(t, bundleDoc("op", "1.0.0", "supports etcd >=2.0.0", "supports 3-scale 1.x", "takes etcd-related 1.x", "supports etcd-x 1.x"),
		operandEntry("etcd", "2.1.5")+operandEntry("etcd", "3.0.0")+operandEntry("etcd", "3.1.1")+operandEntry("3-scale", "1.0.0"),
		"schema: olm.relatedimages\nname: etcd-related\nversion: 1.0.0\nrelatedImages:\n- {name: default, image: \"quay.io/coreos/etcd:stable\"}\n"+
			"- {name: etcd-2.1.5, image: \"quay.io/coreos/etcd@sha256:12345\"}\n- {name: etcd-3.1.1, image: \"quay.io/coreos/etcd@sha256:12345\"}\n",
		"schema: olm.operand\nname: etcd-x\nversion: 1.0.0\nimages:\n- {name: etcd-x-metrics, image: i/m}\n- {name: exporter, image: i/e}\n")
	for _, test := range []struct {
		prefix   string
		requests []string
		want     []string
	}{
		{"etcd", []string{"etcd-related"}, []string{"ETCD_DEFAULT=quay.io/coreos/etcd:stable", "ETCD_V2=quay.io/coreos/etcd@sha256:12345", "ETCD_V3=quay.io/coreos/etcd@sha256:12345"}},
		{"", []string{"etcd-related"}, []string{"DEFAULT=quay.io/coreos/etcd:stable", "ETCD_V2=quay.io/coreos/etcd@sha256:12345", "ETCD_V3=quay.io/coreos/etcd@sha256:12345"}},
		{"", []string{"etcd", "etcd@2.x"}, []string{"ETCD_DEFAULT=quay.io/example/etcd@sha256:311a", "ETCD_V2=quay.io/example/etcd@sha256:215a", "ETCD_V3=quay.io/example/etcd@sha256:311a"}},
		{"", []string{"etcd@3.x"}, []string{"ETCD_V3=quay.io/example/etcd@sha256:311a"}},
		{"", []string{"3-scale@1.0.0"}, []string{"_3_SCALE_V1=quay.io/example/3-scale@sha256:100a"}},
		{"", []string{"etcd-x@1.0.0"}, []string{"ETCD_X_EXPORTER_V1=i/e", "ETCD_X_METRICS_V1=i/m"}},
	} {
		if got := variables(t, s, test.prefix, test.requests...); !slices.Equal(got, test.want) {
			t.Errorf("%v:\ngot  %q\nwant %q", test.requests, got, test.want)
		}
	}
	if got := variables(t, s, "", "etcd@3.0.0", "etcd@3.1.1"); !strings.Contains(got[0], "ETCD_V3 would be both") {
		t.Errorf("got %q", got)
	}
}
