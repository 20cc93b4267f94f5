package graph

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

const operandCatalog = `---
schema: olm.package
name: op
defaultChannel: stable
---
schema: olm.channel
package: op
name: stable
entries:
- name: op.v1.0.0
---
schema: olm.bundle
package: op
name: op.v1.0.0
image: quay.io/example/op@sha256:1212121212121212121212121212121212121212121212121212121212121212
properties:
- type: olm.package
  value: {packageName: op, version: 1.0.0}
- type: olm.operand.supported
  value: {name: etcd, version: 3.x}
relatedImages:
- {name: "", image: "quay.io/example/op@sha256:1212121212121212121212121212121212121212121212121212121212121212"}
---
schema: olm.operand
name: etcd
version: 3.1.1
images:
- {name: etcd, image: "quay.io/coreos/etcd@sha256:1212121212121212121212121212121212121212121212121212121212121212"}
`

func TestOperandFindings(t *testing.T) {
	const (
		claim = "  value: {name: etcd, version: 3.x}\n"
		entry = "---\nschema: olm.operand\nname: etcd\nversion: 4.0.0\nimages:\n- {name: etcd, image: \"quay.io/coreos/etcd@sha256:1212121212121212121212121212121212121212121212121212121212121212\"}\n"
	)
	replace := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(operandCatalog) }
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"sound":            {operandCatalog, nil},
		"empty range":      {replace("version: 3.x", "version: 2.x"), []string{"operand-range-empty 12", "operand-unused 24"}},
		"missing":          {replace("name: etcd, version: 3.x", "name: kafka, version: 3.x"), []string{"operand-missing 12", "operand-unused 24"}},
		"missing set":      {replace(claim, claim+"- type: olm.relatedImageBundle\n  value: {name: etcd, version: 3.x}\n"), []string{"operand-missing 12"}},
		"unused":           {operandCatalog + entry, []string{"operand-unused 30"}},
		"used by required": {replace(claim, claim+"- type: olm.operand.required\n  value: {name: etcd, version: 4.x}\n") + entry, nil},
		"other package":    {replace("name: etcd\n", "name: etcd\npackage: other\n"), []string{"operand-missing 12", "operand-unused 24"}},
		"entry by tag":     {replace("etcd@sha256:1212121212121212121212121212121212121212121212121212121212121212", "etcd:v3"), []string{"operand-image-by-tag 24"}},
		"images by tag":    {replace("op@sha256:1212121212121212121212121212121212121212121212121212121212121212", "op:v1"), []string{"image-by-tag 12"}},
		"entry invalid":    {operandCatalog + strings.Replace(entry, "4.0.0", "4", 1), []string{"operand-invalid 30"}},
		"claim invalid":    {replace("version: 3.x", "version: three"), []string{"operand-invalid 19", "operand-unused 24"}},
		"by name":          {replace("type: olm.operand.supported", "name: olm.operand.supported"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			found := Verify(load("c.yaml", []byte(test.text)), nil, Levels{Of: map[string]Level{"image-by-tag": Warning}})
			var got []string
			for _, f := range found {
				if strings.HasPrefix(f.ID, "operand-") || strings.HasPrefix(f.ID, "image-") || f.ID == "document-ignored" {
					got = append(got, f.ID+" "+strconv.Itoa(f.Line))
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// Images named by tag are reported only on request, and then fail as unpinned.
func TestImageByTagIsOff(t *testing.T) {
	text := strings.ReplaceAll(operandCatalog, "op@sha256:1212121212121212121212121212121212121212121212121212121212121212", "op:v1")
	if found := Verify(load("c.yaml", []byte(text)), nil, Levels{Strict: true}); len(found) > 0 {
		t.Errorf("got %v", found)
	}
	found := Verify(load("c.yaml", []byte(text)), nil, Levels{Of: map[string]Level{"image-by-tag": Error}})
	if all := Failures(found); len(all) != 1 || all[0].Code != failure.ImageUnpinned || !strings.Contains(all[0].Message, "2 of its images are named by tag, such as quay.io/example/op:v1") {
		t.Errorf("got %v", all)
	}
}

// Published bundles are not read in full again, but their claims still use entries.
func TestOperandsOfPublishedBundles(t *testing.T) {
	before, _, _ := strings.Cut(operandCatalog, "---\nschema: olm.bundle")
	_, after, _ := strings.Cut(operandCatalog, "---\nschema: olm.operand")
	// In opm's layout the version is found without parsing.
	docs, err := fbc.Read("c.yaml", []byte(before+`---
image: quay.io/example/op:v1.0.0
name: op.v1.0.0
package: op
properties:
- type: olm.operand.supported
  value:
    name: etcd
    version: 3.x
- type: olm.package
  value:
    packageName: op
    version: 1.0.0
schema: olm.bundle
---
schema: olm.operand`+after))
	if err != nil {
		t.Fatal(err)
	}
	if !docs[2].Canonical() {
		t.Fatalf("the bundle is not in opm's layout:\n%s", docs[2].Raw())
	}
	base := Builder{Light: true}
	base.Add(docs)
	published := base.Catalog()
	now := Builder{Known: published}
	now.Add(docs)
	if found := Verify(now.Catalog(), published, Levels{}); len(found) > 0 {
		t.Errorf("got %v", found)
	}
}
