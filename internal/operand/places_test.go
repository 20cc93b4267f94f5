package operand

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/yamledit"
)

// The ClusterServiceVersion of the design document, with its lost indents restored.
const seedCSV = `kind: ClusterServiceVersion
metadata:
  name: etcd-operator
spec:
  relatedImages:
  - name: default
    image: quay.io/coreos/etcd:stable
  - name: etcd-2.1.5
    image: quay.io/coreos/etcd@sha256:12345
  - name: etcd-3.1.1
    image: quay.io/coreos/etcd@sha256:12345
  install:
    strategy: deployment
    spec:
      deployments:
      - name: etcd-operator
        spec:
          replicas: 1
          selector:
            matchLabels:
              app: etcd-operator
          template:
            metadata:
              labels:
                app: etcd-operator
            spec:
              containers:
              - name: etcdop
                image: etcd-operator:1.1
                ports:
                - containerPort: 80
                env:
                - name: ETCD_DEFAULT
                  value: quay.io/coreos/etcd:stable
                - name: ETCD_V2
                  value: quay.io/coreos/etcd@sha256:12345
                - name: ETCD_V3
                  value: quay.io/coreos/etcd@sha256:12345
`

func imagesIn(t *testing.T, text string) (*yamledit.File, []Place) {
	t.Helper()
	f, err := yamledit.Open("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	places, err := Images(f, KnownTemplates)
	if err != nil {
		t.Fatal(err)
	}
	return f, places
}

func pinned(t *testing.T, text string) string {
	t.Helper()
	f, places := imagesIn(t, text)
	digests := map[string]string{}
	for _, p := range places {
		digests[p.Image] = "sha256:" + strings.Repeat("a", 64)
	}
	out, err := Pin(f, places, digests)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestPinSeed(t *testing.T) {
	_, places := imagesIn(t, seedCSV)
	var got []string
	for _, p := range places {
		got = append(got, fmt.Sprintf("%d:%d %s %s %v", p.Line, p.Col, p.Field, p.Image, p.Pinned()))
	}
	want := []string{
		"7:12 relatedImages quay.io/coreos/etcd:stable false",
		"9:12 relatedImages quay.io/coreos/etcd@sha256:12345 true",
		"11:12 relatedImages quay.io/coreos/etcd@sha256:12345 true",
		"29:24 containers etcd-operator:1.1 false",
		"34:26 ETCD_DEFAULT quay.io/coreos/etcd:stable false",
		"36:26 ETCD_V2 quay.io/coreos/etcd@sha256:12345 true",
		"38:26 ETCD_V3 quay.io/coreos/etcd@sha256:12345 true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	digest := "@sha256:" + strings.Repeat("a", 64)
	expected := strings.NewReplacer("etcd:stable", "etcd"+digest, "etcd-operator:1.1", "etcd-operator"+digest).Replace(seedCSV)
	if got := pinned(t, seedCSV); got != expected {
		t.Errorf("got\n%s", got)
	}
	if again := pinned(t, expected); again != expected {
		t.Error("pinning again changes the text")
	}
}

// In a text in which every image has the tag TAG, each tag becomes a digest and nothing else changes. Texts that
// are not images have another tag.
func TestPinOnlyImages(t *testing.T) {
	for name, text := range map[string]string{
		"csv": `# comment: quay.io/x/y:other
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  annotations:
    containerImage: "quay.io/example/op:TAG" # quoted
    repository: https://github.com/example/op
    example.com/agent: quay.io/example/agent:TAG
    alm-examples: '[{"image": "quay.io/example/x:other"}]'
spec:
  description: |
    quay.io/example/op:other
  relatedImages:
  - {name: short, image: busybox:TAG}
  - image: 'quay.io/example/op:TAG'
  install:
    spec:
      deployments:
      - spec:
          template:
            metadata:
              annotations: {sidecar: "quay.io/example/sidecar:TAG", text: "a:other"}
            spec:
              initContainers:
              - image: quay.io/example/init:TAG
              containers:
              - image: localhost:5000/op:TAG@sha256:12345
              - image:   quay.io/example/op:TAG
                args: ["--image=quay.io/example/arg:other"]
                env:
                - {name: RELATED_IMAGE_A, value: agent:TAG}
                - {name: RELATED_IMAGE_EMPTY, value: ""}
                - {name: AGENT, value: agent:other}
                - {name: BOX, value: busybox:TAG}
                - {name: PORT, value: "localhost:8080"}
                - {name: URL, value: "http://quay.io/a:other"}
                - {name: HOSTED, value: quay.io/example/hosted:TAG}
                - {name: REPOSITORY, value: quay.io/example/hosted}
                - {name: REF, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
`,
		"csv in JSON": `{"kind": "ClusterServiceVersion", "spec": {"relatedImages": [{"name": "a", "image": "quay.io/a/b:TAG"}]}}`,
		"semver": "Schema: olm.semver\nGenerateMajorChannels: true\nCandidate:\n  Bundles:\n  - Image: quay.io/example/op:TAG # first\n" +
			"  - image: \"quay.io/example/op:TAG\"\nStable: {Bundles: [{Image: quay.io/example/op:TAG}]}\nOther: {Bundles: [{Image: a:other}]}\n",
		"basic": "schema: olm.template.basic\nentries:\n- {schema: olm.package, name: op, image: a:other}\n- schema: olm.bundle\n  image: quay.io/example/op:TAG\n" +
			"- schema: olm.operand\n  name: etcd\n  version: 1.0.0\n  images: [{name: etcd, image: quay.io/a/etcd:TAG}]\n  relatedImages: [{image: a:other}]\n",
		"catalog": "---\nschema: olm.bundle\nimage: quay.io/example/op:TAG\nproperties:\n- {type: olm.csv.metadata, value: {annotations: {containerImage: a:other}}}\n" +
			"relatedImages:\r\n- image: quay.io/example/op:TAG\r\n  name: \"\"\n---\nschema: olm.relatedimages\nrelatedImages:\n- {name: a, image: quay.io/a/b:TAG}\n---\n" +
			"schema: olm.other\nimage: a:other\n",
	} {
		t.Run(name, func(t *testing.T) {
			want := strings.ReplaceAll(strings.ReplaceAll(text, ":TAG@sha256:12345", ":KEPT"), ":TAG", "@sha256:"+strings.Repeat("a", 64))
			want = strings.ReplaceAll(want, ":KEPT", ":TAG@sha256:12345")
			if got := pinned(t, text); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// A word or address does not become an image because an image with that name is near it.
func TestWordsAreNoImages(t *testing.T) {
	related := map[string]bool{"busybox": true, "quay.io/a/b:v1": true}
	for _, tt := range []struct {
		field, text string
		want        bool
	}{
		{"MODE", "busybox", false},
		{"site", "example.com/foo:8080", false},
		{"SIDECAR", "quay.io/other/c:v1", true},
		{"SIDECAR_IMAGE", "example.com/foo:v2", true},
		{"containerImage", "example.com/foo:v2", true},
		{"anything", "quay.io/a/b:v1", true},
	} {
		if got := isImage(tt.field, tt.text, related); got != tt.want {
			t.Errorf("%s=%s: %v", tt.field, tt.text, got)
		}
	}
}

func TestPinRefuses(t *testing.T) {
	for text, code := range map[string]failure.Code{
		"schema: olm.template.goodstuff\n":     failure.TemplateUnsupported,
		"schema: olm.composite\n":              failure.TemplateUnsupported,
		"kind: Deployment\nspec: {image: a:b}": failure.TemplateUnsupported,
		"a: [\n":                               failure.TemplateMalformed,
	} {
		f, err := yamledit.Open("f.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Images(f, KnownTemplates); !failure.Is(err, code) {
			t.Errorf("%q: %v", text, err)
		}
	}
	f, places := imagesIn(t, "schema: olm.bundle\nimage: &i quay.io/a/b:v1\nrelatedImages:\n- image: *i\n")
	if len(places) != 1 {
		t.Errorf("an alias is counted again: %v", places)
	}
	if _, err := Pin(f, places, map[string]string{"quay.io/a/b:v1": "sha256:12345"}); !failure.Is(err, failure.EditRefused) {
		t.Errorf("got %v", err)
	}
	_, places = imagesIn(t, "schema: olm.bundle\nimage: $(IMAGE)\n")
	if e := places[0].Unpinned(); e.Code != failure.ImageUnpinned || e.Place() != "f.yaml:2:8" || !strings.Contains(e.Message, "not an image reference") {
		t.Errorf("got %v", e)
	}
}

func TestLock(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	all := map[string]string{"quay.io/b/b:v1": digest, "a": digest}
	text := formatLock(all)
	if want := lockHeader + "a " + digest + "\nquay.io/b/b:v1 " + digest + "\n"; string(text) != want {
		t.Errorf("got %s", text)
	}
	got, err := parseLock("images.lock", text)
	if err != nil || len(got) != 2 || got["a"] != digest {
		t.Errorf("%v %v", got, err)
	}
	for _, bad := range []string{"a", "a b c", "a sha256:12", "a:b " + digest + "\na:b sha256:" + strings.Repeat("b", 64), "a@sha256:12 " + digest} {
		if _, err := parseLock("images.lock", []byte("\n"+bad)); !failure.Is(err, failure.Config) || failure.Of(err).Line < 2 {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Wanted returns each image named by tag once.
func TestWanted(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	_, places := imagesIn(t, "schema: olm.bundle\nimage: a/b:v1\nrelatedImages:\n- image: c/d:v1\n- image: a/b:v1\n- image: e/f@"+digest+"\n")
	wanted, err := Wanted(places)
	if err != nil || len(wanted) != 2 || wanted["a/b:v1"].Line != 2 {
		t.Fatalf("%v %v", wanted, err)
	}
	text, err := Lock("images.lock", []byte("c/d:v1 "+digest+"\n"), map[string]string{"a/b:v1": digest})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Locked("images.lock", text, wanted); err != nil || got["a/b:v1"] != digest || got["c/d:v1"] != digest {
		t.Errorf("%v %v", got, err)
	}
	if _, err := Locked("images.lock", nil, wanted); !failure.Is(err, failure.BundleNotFound) || len(failure.All(err)) != 2 || failure.Of(err).Line != 2 {
		t.Errorf("got %v", err)
	}
	_, places = imagesIn(t, "schema: olm.bundle\nimage: $(IMAGE)\n")
	if _, err := Wanted(places); !failure.Is(err, failure.ImageUnpinned) {
		t.Errorf("got %v", err)
	}
}

func FuzzPin(f *testing.F) {
	f.Add([]byte(seedCSV))
	f.Add([]byte(seedOperand))
	f.Add([]byte(seedOperandBundle))
	f.Add([]byte("schema: olm.template.basic\nentries:\n- *a\n- &a {schema: olm.bundle, image: a:b}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := yamledit.Open("f", src)
		if err != nil {
			return
		}
		places, err := Images(file, KnownTemplates)
		if err != nil {
			return
		}
		digests := map[string]string{}
		for _, p := range places {
			if ByTag(p.Image) {
				digests[p.Image] = "sha256:12345"
			}
		}
		out, err := Pin(file, places, digests)
		if err != nil {
			return
		}
		again, err := yamledit.Open("f", out)
		if err != nil {
			t.Fatal(err)
		}
		left, err := Images(again, KnownTemplates)
		if err != nil || len(left) != len(places) {
			t.Fatalf("%v: %d images, were %d", err, len(left), len(places))
		}
		for _, p := range left {
			if ByTag(p.Image) {
				t.Fatalf("%s is left", p.Image)
			}
		}
	})
}
