package operand

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/yamledit"
)

func etcdEntry(t *testing.T, version string) Entry {
	t.Helper()
	e, err := NewEntry(SchemaOperand, "", "etcd", version, []fbc.RelatedImage{{Name: "etcd", Image: "quay.io/coreos/etcd:v" + strings.ReplaceAll(version, "+", "_")}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func added(t *testing.T, text string, e Entry) string {
	t.Helper()
	f, err := yamledit.Open("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	i, out, err := Add([]*yamledit.File{f}, e, KnownTemplates)
	if err != nil {
		t.Fatal(err)
	}
	if i < 0 {
		return text
	}
	return string(out)
}

// The text must stay unchanged except for the lines between <<< and >>>, which are new.
var addTests = map[string]struct{ version, text string }{
	"between": {"3.1.1", `---
schema: olm.operand
name: etcd # up
version: 3.1.0
images:
- name: etcd
  image: quay.io/coreos/etcd:v3.1.0
<<<
---
schema: olm.operand
name: etcd
version: 3.1.1
images:
- name: etcd
  image: quay.io/coreos/etcd:v3.1.1
>>>
---
schema: olm.operand
name: etcd
version: 3.2.0
images:
- name: etcd
  image: quay.io/coreos/etcd:v3.2.0
`},
	"downward, other names between": {"3.1.1", `schema: olm.package
name: op
---
schema: "olm.operand"
name: "etcd"
images: [{name: "etcd", image: "quay.io/coreos/etcd:v3.2.0"}]
version: "3.2.0"
---
schema: olm.operand
name: kafka
version: 3.1.5
images: [{name: kafka, image: quay.io/a/kafka}]
<<<
---
schema: "olm.operand"
name: "etcd"
images: [{name: "etcd", image: "quay.io/coreos/etcd:v3.1.1"}]
version: "3.1.1"
>>>
---
schema: "olm.operand"
name: "etcd"
images: [{name: "etcd", image: "quay.io/coreos/etcd:v3.1.0"}]
version: "3.1.0"
`},
	"first of the file": {"2.0.0", `<<<
---
schema: olm.operand
name: etcd
version: 2.0.0
images:
  - name: etcd
    image: quay.io/coreos/etcd:v2.0.0
>>>
---
schema: olm.operand
name: etcd
version: 3.0.0
images:
  - name: etcd
    image: quay.io/coreos/etcd:v3.0.0
`},
	"first of its name": {"2.0.0", `---
schema: olm.operand
name: kafka
version: 3.0.0
images:
- name: kafka
  image: quay.io/a/kafka
<<<
---
schema: olm.operand
name: etcd
version: 2.0.0
images:
- name: etcd
  image: quay.io/coreos/etcd:v2.0.0
>>>
---
schema: olm.channel
name: stable
`},
	"basic template": {"3.1.1", `schema: olm.template.basic
entries:
  - schema: olm.package
    name: op

  - schema: olm.operand
    name: etcd
    version: 3.1.0
    images:
      - name: etcd
        image: quay.io/coreos/etcd:v3.1.0

<<<
  - schema: olm.operand
    name: etcd
    version: 3.1.1
    images:
      - name: etcd
        image: quay.io/coreos/etcd:v3.1.1

>>>
  # the image of the bundle
  - schema: olm.bundle
    image: quay.io/example/op:v1
`},
	"basic template, the first": {"3.1.1", `schema: olm.template.basic
entries:
- schema: olm.bundle
  image: quay.io/example/op:v1
<<<
- schema: olm.operand
  name: etcd
  version: 3.1.1
  images:
  - name: etcd
    image: quay.io/coreos/etcd:v3.1.1
>>>
`},
	"respin": {"3.1.0+2", `---
schema: olm.operand
name: etcd
version: 3.1.0+1
images:
- name: etcd
  image: quay.io/coreos/etcd:v3.1.0_1
<<<
---
schema: olm.operand
name: etcd
version: 3.1.0+2
images:
- name: etcd
  image: quay.io/coreos/etcd:v3.1.0_2
>>>
---
schema: olm.operand
name: etcd
version: 3.1.0+10
images:
- name: etcd
  image: quay.io/coreos/etcd:v3.1.0_10
`},
}

func TestAdd(t *testing.T) {
	for name, test := range addTests {
		t.Run(name, func(t *testing.T) {
			before, rest, _ := strings.Cut(test.text, "<<<\n")
			more, after, _ := strings.Cut(rest, ">>>\n")
			for _, eol := range []string{"\n", "\r\n"} {
				as := strings.NewReplacer("\n", eol).Replace
				got := added(t, as(before+after), etcdEntry(t, test.version))
				if got != as(before+more+after) {
					t.Errorf("got\n%s", got)
				}
				if again := added(t, got, etcdEntry(t, test.version)); again != got {
					t.Error("adding it again changes the text")
				}
			}
		})
	}
}

// The resulting file does not depend on the order in which versions arrive.
func TestAddInAnyOrder(t *testing.T) {
	versions := []string{"1.0.0", "1.0.0+1", "1.1.0-rc.1", "1.1.0", "1.1.0 ap", "1.1.0 op", "1.5.0 op", "2.0.0", "10.0.0"}
	for _, text := range []string{
		"---\n# of 1.5.0\nschema: olm.operand\nname: etcd\nversion: 1.5.0\nimages: [{name: etcd, image: quay.io/a/b}]\n",
		"---\nschema: olm.package\nname: op\n---\nschema: olm.channel\nname: stable\n",
		"schema: olm.template.basic\nentries:\n- {schema: olm.package, name: op}\n- {schema: olm.bundle, image: quay.io/a/b}\n",
		`{"schema": "olm.operand", "name": "etcd", "version": "1.5.0", "images": [{"name": "etcd", "image": "quay.io/a/b"}]}` + "\n",
	} {
		want := ""
		for seed := range uint64(30) {
			got := text
			for _, i := range rand.New(rand.NewPCG(seed, 1)).Perm(len(versions)) {
				version, pkg, _ := strings.Cut(versions[i], " ")
				e := etcdEntry(t, version)
				e.Package = pkg // exists next to the entry for all packages
				got = added(t, got, e)
			}
			if want == "" {
				want = got
			}
			if got != want {
				t.Fatalf("seed %d: got\n%s\nwant\n%s", seed, got, want)
			}
		}
		if _, err := fbc.Read("f", []byte(want)); err != nil {
			t.Error(err)
		}
	}
}

func TestAddRefuses(t *testing.T) {
	e := etcdEntry(t, "1.0.0")
	for text, code := range map[string]failure.Code{
		"schema: olm.operand\nname: etcd\nversion: 1.0.0\nimages: [{name: etcd, image: quay.io/other}]\n": failure.BundleConflict,
		"schema: olm.operand\nname: etcd\nversion: v1\nimages: [{name: etcd, image: quay.io/other}]\n":    failure.TemplateMalformed,
		"schema: olm.semver\n":                      failure.TemplateUnsupported,
		"kind: Deployment\n":                        failure.TemplateUnsupported,
		"schema: olm.template.basic\nentries: []\n": failure.EditRefused,
		"a: [\n": failure.TemplateMalformed,
	} {
		f, err := yamledit.Open("f.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := Add([]*yamledit.File{f}, e, KnownTemplates); !failure.Is(err, code) || failure.Of(err).File != "f.yaml" {
			t.Errorf("%q: %v", text, err)
		}
	}
	one, _ := yamledit.Open("a.yaml", []byte("schema: olm.package\nname: a\n"))
	two, _ := yamledit.Open("b.yaml", []byte("schema: olm.operand\nname: b\nversion: 1.0.0\nimages: [{name: b, image: b}]\n"))
	if i, _, err := Add([]*yamledit.File{one, two}, e, KnownTemplates); err != nil || i != 1 {
		t.Errorf("%d %v", i, err)
	}
	// Versions in separate files form one list.
	high, _ := yamledit.Open("c.yaml", []byte("# "+strings.Repeat("-", 500)+"\nschema: 'olm.operand'\nname: 'etcd'\nversion: '2.0.0'\nimages: [{name: etcd, image: b}]\n"))
	low, _ := yamledit.Open("d.yaml", []byte("schema: olm.operand\nname: etcd\nversion: 0.1.0\nimages: [{name: etcd, image: b}]\n"))
	if i, text, err := Add([]*yamledit.File{low, one, high}, e, KnownTemplates); err != nil || i != 2 || !strings.HasPrefix(string(text), "schema: 'olm.operand'\nname: 'etcd'\nversion: '1.0.0'\n") {
		t.Errorf("%d %v %s", i, err, text)
	}
	if _, _, err := Add([]*yamledit.File{one, one}, e, KnownTemplates); !failure.Is(err, failure.EditRefused) {
		t.Errorf("got %v", err)
	}
	image := []fbc.RelatedImage{{Name: "a", Image: "quay.io/a"}}
	for _, test := range []struct {
		schema, name, version string
		images                []fbc.RelatedImage
	}{
		{"olm.bundle", "a", "1.0.0", image}, {SchemaOperand, "", "1.0.0", image}, {SchemaOperand, "a", "v1", image}, {SchemaOperand, "a", "1.0.0", nil},
		{SchemaOperand, "a", "1.0.0", append(image, image...)}, {SchemaOperand, "a", "1.0.0", []fbc.RelatedImage{{Name: "a", Image: "https://a"}}},
	} {
		if _, err := NewEntry(test.schema, "", test.name, test.version, test.images); !failure.Is(err, failure.Usage) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}
