package operand

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/testkit/corpus"
	"github.com/olmgraft/graft/internal/yamledit"
)

// catalogYAML is the test's own reading of a catalog.
type catalogYAML struct {
	Schema, Package, Name, Image string
	RelatedImages                []struct{ Image string } `yaml:"relatedImages"`
}

// The mirror list of a published catalog, and of each of its bundles, contains exactly the images of its bundles.
func TestMirrorOfPublishedCatalogs(t *testing.T) {
	corpus.Each(t, func(t *testing.T, c corpus.Corpus) {
		for _, file := range c.Files(t, "validate/real/*.yaml") {
			mirrorOf(t, corpus.Name(file), c.Read(t, file))
		}
	})
}

func mirrorOf(t *testing.T, file string, text []byte) {
	want := map[string]map[string]bool{"": {}}
	for _, part := range strings.Split("\n"+string(text), "\n---\n") {
		var d catalogYAML
		if err := yaml.Unmarshal([]byte(part), &d); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if d.Schema != "olm.bundle" {
			continue
		}
		own := map[string]bool{d.Image: true}
		for _, r := range d.RelatedImages {
			own[r.Image] = true
		}
		delete(own, "")
		want[d.Name] = own
		maps.Copy(want[""], own)
	}
	docs, err := fbc.Read(file, text)
	if err != nil {
		t.Fatal(err)
	}
	s := &Set{}
	if err := s.Add(docs); err != nil {
		t.Fatal(err)
	}
	for name, images := range want {
		sel := Selection{}
		if name != "" {
			sel.Bundles = []string{name}
		}
		got, err := s.Mirror(sel)
		if err != nil || !slices.Equal(got, slices.Sorted(maps.Keys(images))) {
			t.Errorf("%s %s: %v: %d images, want %d", file, name, err, len(got), len(images))
		}
	}
	t.Logf("%s: %d bundles, %d images", file, len(want)-1, len(want[""]))
}

// csvYAML is the test's own reading of a ClusterServiceVersion.
type csvYAML struct {
	Kind     string
	Metadata struct{ Annotations map[string]string }
	Spec     struct {
		RelatedImages []struct{ Image string } `yaml:"relatedImages"`
		Install       struct {
			Spec struct {
				Deployments []struct {
					Spec struct {
						Template struct {
							Spec struct {
								Containers     []containerYAML
								InitContainers []containerYAML `yaml:"initContainers"`
							}
						}
					}
				}
			}
		}
	}
}

type containerYAML struct {
	Image string
	Env   []struct{ Name, Value string }
}

// After pinning, a published bundle names no image by tag in any place that operators and mirrors read. The test
// pins four versions of each operator.
func TestPinPublishedBundles(t *testing.T) {
	corpus.Each(t, pinPublished)
}

func pinPublished(t *testing.T, c corpus.Corpus) {
	files, changed, looked := 0, 0, map[string]int{}
	bundles := c.Bundles(t, "*")
	for _, ref := range slices.Sorted(maps.Keys(bundles)) {
		operator, _, _ := strings.Cut(ref, ":")
		if looked[operator]++; looked[operator] > 4 {
			continue
		}
		bundle := bundles[ref]
		err := fs.WalkDir(bundle, "manifests", func(p string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			f, err := yamledit.Open(p, bundle[p].Data)
			if err != nil || !IsCSV(f) {
				return nil //nolint:nilerr // the test ignores other manifests
			}
			files++
			changed += pinAndCheck(t, ref, f)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 8 || changed < 15 {
		t.Errorf("only %d images of %d files were pinned", changed, files)
	}
}

func pinAndCheck(t *testing.T, ref string, f *yamledit.File) int {
	places, err := Images(f, KnownTemplates)
	if err != nil {
		t.Fatalf("%s: %v", ref, err)
	}
	digests, changed := map[string]string{}, 0
	for _, p := range places {
		if ByTag(p.Image) {
			digests[p.Image] = "sha256:" + strings.Repeat("a", 64)
			changed++
		}
	}
	out, err := Pin(f, places, digests)
	if err != nil {
		t.Errorf("%s: %v", ref, err)
		return 0
	}
	var csv csvYAML
	if err := yaml.Unmarshal(out, &csv); err != nil {
		t.Fatalf("%s: %v", ref, err)
	}
	left := []string{csv.Metadata.Annotations["containerImage"]}
	for _, r := range csv.Spec.RelatedImages {
		left = append(left, r.Image)
	}
	for _, d := range csv.Spec.Install.Spec.Deployments {
		pod := d.Spec.Template.Spec
		for _, c := range slices.Concat(pod.Containers, pod.InitContainers) {
			left = append(left, c.Image)
			for _, env := range c.Env {
				if strings.HasPrefix(env.Name, "RELATED_IMAGE_") {
					left = append(left, env.Value)
				}
			}
		}
	}
	for _, image := range left {
		if image != "" && !strings.Contains(image, "@sha256:") {
			t.Errorf("%s: %s is left", ref, image)
		}
	}
	return changed
}
