package publish

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/plan"
)

// A change in many channels shows the default channel first and the others by version, and folds the rest.
func TestBodyFoldsManyChannels(t *testing.T) {
	w := newSetup(t)
	template := strings.ReplaceAll(basicTemplate, "REGISTRY", w.Addr)
	var names []string
	for minor := 12; minor > 0; minor-- {
		name := fmt.Sprintf("stable-1.%d", minor)
		names = append(names, name)
		template += fmt.Sprintf("- schema: olm.channel\n  package: op\n  name: %s\n  entries:\n  - name: op.v1.0.0\n  - {name: op.v1.0.%d, replaces: op.v1.0.0}\n", name, minor)
		template += "- schema: olm.bundle\n  image: " + w.Addr + "/" + "op:" + w.push(t, fmt.Sprintf("1.0.%d", minor)).Tag + "\n"
	}
	w.repo.files["catalog-templates/v4.20.yaml"] = &fstest.MapFile{Data: []byte(template)}
	r := Request{Publication: w.push(t, "1.1.0"), Asked: plan.Asked{Channels: append(names, "stable")}}
	results, err := Publish(t.Context(), []Request{r}, w.o)
	if err != nil {
		t.Fatal(err)
	}
	body := results[0].Body
	table, rest, _ := strings.Cut(body, "<details>")
	if rows := strings.Count(table, "<code>op.v1.1.0</code> |"); rows != 8 || !strings.HasPrefix(rest, "<summary>5 more changes</summary>") {
		t.Errorf("%d rows before %.40q", rows, rest)
	}
	if a, b, c := strings.Index(table, "<code>stable</code>"), strings.Index(table, "<code>stable-1.1</code>"), strings.Index(table, "<code>stable-1.2</code>"); a < 0 || b < a || c < b {
		t.Errorf("the channels are not in order:\n%s", table)
	}
	_, picture, _ := strings.Cut(body, "```mermaid\n")
	picture, after, _ := strings.Cut(picture, "```")
	if strings.Count(picture, "subgraph") != 3 || strings.Index(picture, `["stable (default)"]`) < strings.Index(picture, `["stable-1.1"]`) {
		t.Errorf("the first picture is\n%s", picture)
	}
	if !strings.Contains(after, "<summary>More graphs</summary>") || strings.Count(after, "subgraph") != 10 {
		t.Errorf("folded is\n%s", after)
	}
}

// The picture of a rebuild is folded, because it shows no changes.
func TestBodyFoldsThePictureOfARebuild(t *testing.T) {
	w := newSetup(t)
	w.repo.merge(w.publish(t, w.push(t, "1.1.0")).Branch)
	again := w.tag(t, "v1.1.0-2", "1.1.0")
	again.Digest = ""
	r := Request{Publication: again, Asked: plan.Asked{Rebuild: plan.Replace}}
	results, err := Publish(t.Context(), []Request{r}, w.o)
	if err != nil {
		t.Fatal(err)
	}
	body := results[0].Body
	if at := strings.Index(body, "```mermaid"); at < 0 || !strings.Contains(body[:at], "<summary>More graphs</summary>") {
		t.Errorf("got\n%s", body)
	}
}
