package extending

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/template"
)

var update = flag.Bool("update", false, "rewrite the lists of kinds and forms in schemas and pages")

// The lists of kinds and forms for people and editors are generated from the tables. Their order is the page's.
func TestListsAreMadeOfTheTables(t *testing.T) {
	var names, proofs []string
	for _, f := range event.Forms() {
		names = append(names, string(f.Name))
		for _, p := range f.Proofs {
			proofs = append(proofs, string(p))
		}
	}
	enum := func(key string, values ...string) func(string) string {
		list := regexp.MustCompile(`("` + key + `": \{[^{}]*"enum": )\[([^\]]*)\]`)
		return func(schema string) string {
			m := list.FindStringSubmatchIndex(schema)
			if m == nil {
				t.Fatalf("there is no list of %s", key)
			}
			old := schema[m[4]:m[5]]
			for i, v := range values {
				values[i] = strconv.Quote(v)
			}
			if strings.Contains(old, "null") {
				values = append(values, "null")
			}
			stand := regexp.MustCompile(`"[^"]*"|null`).FindAllString(old, -1)
			if now := inOrder(stand, values); !slices.Equal(now, stand) {
				return schema[:m[4]] + strings.Join(now, ", ") + schema[m[5]:]
			}
			return schema
		}
	}
	row := regexp.MustCompile("(?m)^\\| `([a-z_-]+)`")
	senders := func(page string) string {
		head, rest, _ := strings.Cut(page, "<!-- senders -->\n")
		old, tail, ok := strings.Cut(rest, "<!-- /senders -->")
		if !ok {
			t.Fatal("docs/relay.md has no place for the senders")
		}
		var stand []string
		for _, m := range row.FindAllStringSubmatch(old, -1) {
			stand = append(stand, m[1])
		}
		table := "\n| from | proof | setup in the registry |\n|---|---|---|\n"
		for _, sender := range inOrder(stand, event.Senders()) {
			f := event.FormsOf(sender)[0]
			table += fmt.Sprintf("| `%s` | `%s` | %s |\n", sender, strings.ReplaceAll(event.InWords(f.Proofs), ", ", "`, `"), f.Setup)
		}
		return head + "<!-- senders -->\n" + table + "\n<!-- /senders -->" + tail
	}
	for file, edits := range map[string][]func(string) string{
		"../config/graft.schema.json":         {enum("create", template.Creatable()...)},
		"../event/client-payload.schema.json": {enum("source", append(names, "")...)},
		"../relay/relay.schema.json":          {enum("from", event.Senders()...), enum("proof", proofs...)},
		"../../docs/relay.md":                 {senders},
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := string(text)
		for _, edit := range edits {
			want = edit(want)
		}
		if want == string(text) {
			continue
		}
		if !*update {
			t.Errorf("%s is stale: go test ./internal/extending -update rewrites it", file)
		} else if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// inOrder returns the wanted ones, each once. Listed ones keep their order.
func inOrder(stand, wanted []string) []string {
	out := slices.DeleteFunc(slices.Clone(stand), func(s string) bool { return !slices.Contains(wanted, s) })
	for _, w := range wanted {
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}
