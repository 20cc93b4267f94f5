package publish

import (
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template/kind"
)

const bodyOfTwo = `**New channel:** <code>fast</code> in <code>a.yaml</code>

Adds bundle <code>op.v1</code>, version <code>1.0.0</code> of package <code>op</code>.

- image: <code>quay.io/x/op:v1</code>

Adds bundle <code>op.v2</code>, version <code>2.0.0</code> of package <code>op</code>.

- image: <code>quay.io/x/op:v2</code>
- digest: <code>sha256:ab</code>

> [!WARNING]
> take care

> [!WARNING]
> and more

In <code>a.yaml</code>, <code>b.yaml</code>, <code>c.yaml</code>:

| channel | bundle | before | after |
|---|---|---|---|
| <code>Stable</code> in <code>b.yaml</code> | <code>op.v1</code> |  | <code>added</code> |
| <code>fast</code> in <code>a.yaml</code> | <code>op.v2</code> | <code>replaces nothing</code> | <code>replaces op.v1</code> |
| <code>fast</code> in <code>a.yaml</code> | <code>op.v2</code> | <code>stage</code> | <code>prod</code> |
| <code>stable</code> in <code>a.yaml</code> | <code>op.v1</code> |  | <code>replaces op.v0</code> |
| <code>stable</code> in <code>a.yaml</code> | <code>op.v2</code> | <code>replaces op.v0</code> | <code>replaces op.v1</code> |
| in <code>a.yaml</code> | <code>default channel</code> | <code>stable</code> | <code>fast</code> |
| in <code>c.yaml</code> | <code>etcd</code> |  | <code>version 3.1.1</code> |

| manifest | CatalogSource | before | after |
|---|---|---|---|
| <code>c.yaml</code> | <code>cat</code> | <code>old</code> | <code>new</code> |

The repository has no catalog of <code>a.yaml</code>, <code>b.yaml</code>, and Graft did not verify its graph.

Findings:

- warning <code>entry-pruned</code>: it is gone
- warning <code>skip-unknown</code>: nobody

<details><summary>Why these places</summary>

- <code>a.yaml</code>: note of a
- <code>d.yaml</code> was left out: it is old
- <code>e.yaml</code> was left out: of another
- why not

</details>

<details><summary>Reproduce it</summary>

` + "```" + `
graft publish --dry-run --image quay.io/x/op:v1
graft publish --dry-run --image quay.io/x/op:v2 --channels stable,fast
` + "```" + `

To reject it, close the pull request: Graft does not propose the same again.

</details>
`

// The body has each bundle, edge, finding, reason and command, and everything that was left out, in this order.
func TestBody(t *testing.T) {
	bundle := func(name, version, image, digest string, channels ...string) subject {
		p, err := event.ParseReference(image)
		if err != nil {
			t.Fatal(err)
		}
		return &bundleImage{versioned: versioned{
			asked:  Request{Publication: p, Asked: plan.Asked{Channels: channels}},
			bundle: kind.Bundle{Name: name, Package: "op", Version: semver.MustParse(version), Image: image, Digest: digest},
		}}
	}
	w := &Work{
		subjects: []subject{bundle("op.v1", "1.0.0", "quay.io/x/op:v1", ""), bundle("op.v2", "2.0.0", "quay.io/x/op:v2", "sha256:ab", "stable", "fast")},
		Warnings: []string{"take care", "and more"},
		Targets: []Target{
			{Template: "a.yaml", Notes: []string{"note of a"}, Changes: []kind.Change{
				{What: kind.BundleAdded, Name: "op.v1", To: "quay.io/x/op:v1"},
				{What: kind.EntryAdded, Channel: "stable", Name: "op.v1", To: "replaces op.v0"},
				{What: kind.EntryRewired, Channel: "stable", Name: "op.v2", From: "op.v0", To: "op.v1"},
				{What: kind.EntryRewired, Channel: "fast", Name: "op.v2", To: "op.v1"},
				{What: kind.ChannelCreated, Channel: "fast"},
				{What: kind.DefaultChannelSet, From: "stable", To: "fast"},
				{What: kind.BundlePromoted, Channel: "fast", Name: "op.v2", From: "stage", To: "prod"},
			}},
			{Template: "b.yaml", Changes: []kind.Change{{What: kind.BundleAdded, Channel: "Stable", Name: "op.v1", To: "quay.io/x/op:v1"}}},
			{Template: "c.yaml", entries: true, Changes: []kind.Change{{What: kind.OperandAdded, Name: "etcd", To: "3.1.1"}, {What: kind.CatalogSourceSet, Name: "cat", From: "old", To: "new"}}},
		},
		Findings: []graph.Finding{{ID: "entry-pruned", Level: graph.Warning, Message: "it is gone"}, {ID: "skip-unknown", Level: graph.Warning, Message: "nobody"}},
		LeftOut:  []plan.LeftOut{{Template: "d.yaml", Reason: "it is old"}, {Template: "a.yaml", Catalog: "e.yaml", Reason: "of another"}},
		Reasons:  []string{"why not", "why not"},
	}
	var b strings.Builder
	w.describe(&b)
	if got := strings.NewReplacer(`1\.0.0`, "1.0.0", `2\.0.0`, "2.0.0").Replace(b.String()); got != bodyOfTwo {
		t.Errorf("got\n%s", got)
	}
}

// The next upgrade of installed versions is written once for catalogs with the same change.
func TestBodyTellsNextUpgrades(t *testing.T) {
	w := newSetup(t)
	w.repo.merge(w.publish(t, w.push(t, "1.1.0")).Branch)
	r := Request{Publication: w.push(t, "1.2.0")}
	r.Asked.Edges = plan.Edges{Replaces: "op.v1.1.0", Skips: []string{"op.v1.0.0"}}
	results, err := Publish(t.Context(), []Request{r}, w.o)
	if err != nil {
		t.Fatal(err)
	}
	const want = "Next upgrades of installed versions:\n\n- <code>stable</code>: <code>1\\.0.0</code>: next <code>1\\.2.0</code>, was <code>1\\.1.0</code>\n" +
		"- <code>stable</code>: <code>1\\.1.0</code>: next <code>1\\.2.0</code>, was none\n\n"
	body := results[0].Body
	if !strings.Contains(body, want) || strings.Count(body, "```mermaid") != 1 || !strings.Contains(body, "The graph of 1 catalog was verified: no findings.") {
		t.Errorf("got\n%s", body)
	}
}

// A change of two packages does not say of each bundle that the catalog of the other package lacks it.
func TestBodyOfTwoPackages(t *testing.T) {
	catalog := func(pkg string) Catalog {
		docs, err := fbc.Read(pkg+".yaml", []byte("schema: olm.package\nname: "+pkg+"\n---\nschema: olm.bundle\nname: "+pkg+".v1\npackage: "+pkg+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		var b graph.Builder
		b.Add(docs)
		return Catalog{Path: pkg + ".yaml", After: b.Catalog()}
	}
	w := &Work{}
	for _, pkg := range []string{"a", "b"} {
		w.subjects = append(w.subjects, &bundleImage{versioned: versioned{bundle: kind.Bundle{Name: pkg + ".v1", Package: pkg}}})
		w.Targets = append(w.Targets, Target{Catalogs: []Catalog{catalog(pkg)}})
	}
	var b strings.Builder
	if w.without(&b); b.Len() > 0 {
		t.Errorf("got %s", b.String())
	}
	w.subjects[0].(*bundleImage).bundle.Name = "a.v2"
	if w.without(&b); b.String() != "<code>a.v2</code> is not in <code>a.yaml</code>.\n\n" {
		t.Errorf("got %s", b.String())
	}
}
