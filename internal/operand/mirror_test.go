package operand

import (
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
)

func image(name string) string { return "quay.io/example/" + name }

func withRelated(doc string, images ...string) string {
	doc += "relatedImages:\n"
	for _, i := range images {
		doc += "- {name: '', image: " + image(i) + "}\n"
	}
	return doc
}

func relatedSet(name, version, img string) string {
	return "---\nschema: olm.relatedimages\nname: " + name + "\nversion: " + version + "\nrelatedImages:\n- {name: a, image: " + image(img) + "}\n"
}

func mirrorSet(t *testing.T) *Set {
	return setOf(t,
		withRelated(bundleDoc("op", "1.0.0", "supports etcd 2.x", "takes set 1.x", "requires prom >=2.0.0"), "op:v1.0.0", "helper:v1")+
			withRelated(bundleDoc("op", "2.0.0", "supports etcd 2.x", "supports etcd 3.x", "supports backup 1.x", "takes set 1.x"), "helper:v2")+
			bundleDoc("other", "1.0.0"),
		operandEntry("etcd", "2.0.0")+operandEntry("etcd", "2.1.0")+operandEntry("etcd", "3.0.0")+operandEntry("etcd", "4.0.0")+
			operandEntry("backup", "1.0.0")+operandEntry("prom", "2.0.0")+operandEntry("prom", "1.0.0"),
		relatedSet("set", "1.0.0", "set:v1.0")+relatedSet("set", "1.1.0", "set:v1.1")+relatedSet("set", "2.0.0", "set:v2.0")+relatedSet("tools", "1.0.0", "tools:v1"),
		bundleDoc("prom", "1.0.0", "supports prom 1.x || 2.x", "takes tools 1.x"))
}

func TestMirror(t *testing.T) {
	s := mirrorSet(t)
	entry := func(name, version string) string { return name + "@sha256:" + strings.ReplaceAll(version, ".", "") }
	prom := []string{"prom:v1.0.0", "tools:v1", entry("prom", "2.0.0")}
	op1 := slices.Concat([]string{"op:v1.0.0", "helper:v1"}, prom)
	op2 := []string{"op:v2.0.0", "helper:v2"}
	set := []string{"set:v1.1"}
	for name, test := range map[string]struct {
		bundles, packages, operands []string
		want                        [][]string
	}{
		"a bundle":           {[]string{"op.v1.0.0"}, nil, nil, [][]string{op1, set, {entry("etcd", "2.0.0"), entry("etcd", "2.1.0")}}},
		"one operand":        {[]string{"op.v1.0.0"}, nil, []string{"etcd"}, [][]string{op1, set, {entry("etcd", "2.1.0")}}},
		"a version":          {[]string{"op.v1.0.0"}, nil, []string{"etcd@2.0.0"}, [][]string{op1, set, {entry("etcd", "2.0.0")}}},
		"operands":           {[]string{"op.v2.0.0"}, nil, []string{"etcd@2.x", "etcd@3.x"}, [][]string{op2, set, {entry("etcd", "2.1.0"), entry("etcd", "3.0.0")}}},
		"a set by version":   {[]string{"op.v2.0.0"}, nil, []string{"set@1.0.0"}, [][]string{op2, {"set:v1.0"}}},
		"a package":          {nil, []string{"op"}, []string{"etcd@3.x"}, [][]string{op1, op2, set, {entry("etcd", "3.0.0")}}},
		"bundle and package": {[]string{"op.v2.0.0"}, []string{"other"}, []string{"backup"}, [][]string{op2, set, {"other:v1.0.0", entry("backup", "1.0.0")}}},
		"all": {nil, nil, nil, [][]string{op1, op2, set, {"other:v1.0.0", entry("etcd", "2.0.0"), entry("etcd", "2.1.0"), entry("etcd", "3.0.0"),
			entry("backup", "1.0.0"), entry("prom", "1.0.0")}}},
		"provider, set asked": {[]string{"op.v1.0.0"}, nil, []string{"set@1.0.0"}, [][]string{op1, {"set:v1.0"}}},
	} {
		t.Run(name, func(t *testing.T) {
			sel := Selection{Bundles: test.bundles, Packages: test.packages}
			for _, q := range test.operands {
				sel.Operands = append(sel.Operands, request(t, q))
			}
			got, err := s.Mirror(sel)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, i := range slices.Concat(test.want...) {
				if strings.Contains(i, "@") {
					i += "a"
				}
				want = append(want, image(i))
			}
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// A chosen provider uses the requested set and no other. A bundle in two catalogs needs the images of both.
func TestMirrorOfChosenProviders(t *testing.T) {
	s := setOf(t, bundleDoc("a", "1.0.0", "requires prom 1.x"), withRelated(bundleDoc("p", "1.0.0", "supports prom 1.x", "takes set 1.x"), "one"),
		withRelated(bundleDoc("p", "1.0.0", "supports prom 1.x", "takes set 1.x"), "two"),
		operandEntry("prom", "1.0.0"), relatedSet("set", "1.0.0", "set:v1.0"), relatedSet("set", "1.1.0", "set:v1.1"))
	got, err := s.Mirror(Selection{Bundles: []string{"a.v1.0.0", "p.v1.0.0"}, Operands: []Request{request(t, "set@1.0.0")}})
	want := []string{image("a:v1.0.0"), image("one"), image("p:v1.0.0"), image("prom@sha256:100a"), image("set:v1.0"), image("two")}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v: got %q, want %q", err, got, want)
	}
}

func TestMirrorFails(t *testing.T) {
	s := mirrorSet(t)
	for _, test := range []struct {
		sel  Selection
		want string
	}{
		{Selection{Bundles: []string{"op.v9"}}, "no catalog has it"},
		{Selection{Packages: []string{"nothing"}}, "no catalog has a bundle of it"},
		{Selection{Packages: []string{"other"}, Operands: []Request{{Name: "etcd"}}}, "no bundle supports an operand of that name"},
		{Selection{Packages: []string{"op"}, Operands: []Request{request(t, "etcd@4.0.0")}}, "which is requested and not supported"},
		{Selection{Packages: []string{"op"}, Operands: []Request{request(t, "set@2.0.0")}}, "which is requested and not supported"},
	} {
		if _, err := s.Mirror(test.sel); !failure.Is(err, failure.OperandUnresolvable) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test.sel, err)
		}
	}
	s = setOf(t, bundleDoc("op", "1.0.0", "supports etcd 1.x"), operandEntry("etcd", "1.0.0"), strings.Replace(operandEntry("etcd", "1.0.0"), "sha256:", "sha256:b", 1))
	if _, err := s.Mirror(Selection{}); !failure.Is(err, failure.OperandUnresolvable) || !strings.Contains(err.Error(), "give it different images") {
		t.Errorf("got %v", err)
	}
	s = setOf(t, bundleDoc("op", "1.0.0", "requires prom 1.x"))
	if _, err := s.Mirror(Selection{}); !failure.Is(err, failure.OperandUnresolvable) {
		t.Errorf("got %v", err)
	}
	s = setOf(t, withRelated(bundleDoc("op", "1.0.0"), "a"))
	s.Bundles[0].Related[0].Image = "quay.io/a\nquay.io/b"
	if _, err := s.Mirror(Selection{}); !failure.Is(err, failure.TemplateMalformed) || failure.Of(err).Line != 2 {
		t.Errorf("got %v", err)
	}
	s = setOf(t, bundleDoc("op", "1.0.0", "takes set 1.x"), relatedSet("set", "2.0.0", "set:v2"))
	if _, err := s.Mirror(Selection{}); !failure.Is(err, failure.OperandUnresolvable) || !strings.Contains(err.Error(), "the bundle uses 1.x, and no catalog has an olm.relatedimages in that range") {
		t.Errorf("got %v", err)
	}
}

func TestMirrorOutput(t *testing.T) {
	images := []string{"busybox", "docker.io/redis:1.0", "example/app:latest", "localhost:5000/a/b@sha256:12", "quay.io/a/b:v1", "quay.io/a/b:v1@sha256:12", "quay.io/a/b@sha256:12"}
	want := `docker.io:
  images:
    example/app:
    - latest
    library/busybox:
    - latest
    library/redis:
    - '1.0'
localhost:5000:
  images:
    a/b:
    - sha256:12
quay.io:
  images:
    a/b:
    - sha256:12
    - v1
`
	if got := Skopeo(images); got != want {
		t.Errorf("got\n%s", got)
	}
	want = "kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\nmirror:\n  additionalImages:\n  - name: busybox\n  - name: quay.io/a/b:v1\n"
	if got := ImageSet([]string{"busybox", "quay.io/a/b:v1"}); got != want {
		t.Errorf("got\n%s", got)
	}
	if got := Skopeo(nil) + ImageSet(nil); !strings.HasPrefix(got, "{}\n") || !strings.HasSuffix(got, "additionalImages: []\n") {
		t.Errorf("got\n%s", got)
	}
}
