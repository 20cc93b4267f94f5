package catalogsource

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/olmgraft/graft/internal/budget"
)

// An object larger than 1 MiB is refused without evaluation, and the condition reports that.
func TestLargeObjectsAreRefused(t *testing.T) {
	const template = "quay.io/sample/catalog:{group:foo.example.com,version:v1,kind:Sample,name:one,namespace:ns,jsonpath:{.a}}"
	numbers := make([]any, 300_000)
	for i := range numbers {
		numbers[i] = int64(100)
	}
	many := map[string]any{"a": "v1"}
	for i := range 40_000 {
		many[fmt.Sprintf("key-of-a-mapping-%06d", i)] = nil
	}
	for what, object := range map[string]map[string]any{
		"text":    {"a": "v1", "b": strings.Repeat("x", budget.TemplateObject)},
		"numbers": {"a": "v1", "b": numbers},
		"keys":    many,
		"pieces":  {"a": "v1", "b": []any{strings.Repeat("x", budget.TemplateObject/2), map[string]any{"c": strings.Repeat("x", budget.TemplateObject/2)}}},
	} {
		r := Resolve(template, Values{Objects: func(Lookup) (any, error) { return object, nil }, Path: JSONPath})
		conditions := r.Conditions()
		if r.OK() || conditions[1].Reason != UnableToResolve || !strings.Contains(conditions[0].Message, "the object is larger than 1 MiB") {
			t.Errorf("%s: %v", what, conditions)
		}
	}
	small := map[string]any{"a": "v1", "b": strings.Repeat("x", budget.TemplateObject-100)}
	if r := Resolve(template, Values{Objects: func(Lookup) (any, error) { return small, nil }, Path: JSONPath}); r.Image != "quay.io/sample/catalog:v1" {
		t.Errorf("just below: %v", r.Conditions())
	}
}

// An evaluation ends at its time limit, whatever its cost.
func TestJSONPathEndsWithItsTime(t *testing.T) {
	list := make([]any, 10_000)
	for i := range list {
		list[i] = map[string]any{"v": int64(i)}
	}
	object := map[string]any{"l": list}
	now, looks := time.Unix(0, 0), 0
	slow := func() time.Time {
		looks++
		now = now.Add(budget.TemplateSeconds * time.Second / 4)
		return now
	}
	_, err := evaluate(object, "{.l[?(@.v<0)]}", slow)
	if err == nil || !strings.Contains(err.Error(), "it takes longer than 2 s") {
		t.Errorf("got %v", err)
	}
	if looks > 10 {
		t.Errorf("it went on for %d looks at the clock", looks)
	}
	now, looks = time.Unix(0, 0), 0
	back := func() time.Time { looks++; now = now.Add(-time.Hour); return now }
	if got, err := evaluate(object, "{.l[?(@.v==9999)].v}", back); err != nil || got != "9999" || looks < 3 {
		t.Errorf("by a clock that is set back: %q, %v, after %d looks", got, err, looks)
	}
}

// Compared text costs by its length, for long values and long keys.
func TestJSONPathCountsText(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	object := map[string]any{"l": []any{map[string]any{"s": long + "a", "t": long + "b"}}, "m": map[string]any{long + "a": "1", long + "b": "2"}}
	for _, expression := range []string{
		"{['l'" + strings.Repeat(",'l'", 150) + "][?(@.s==@.t)]}",
		"{['m'" + strings.Repeat(",'m'", 150) + "].*}",
		"{['m'" + strings.Repeat(",'m'", 150) + "]..}",
	} {
		if _, err := JSONPath(object, expression); err == nil || !strings.Contains(err.Error(), "more than 200000 values") {
			t.Errorf("%.40s: %v", expression, err)
		}
	}
}

// A reference that is too long is not parsed, and the condition stays short.
func TestLongReferencesAreRefused(t *testing.T) {
	for what, piece := range map[string]string{
		"lookups begun": "{group:", "lookups": "{group:a,version:b,kind:C,name:,namespace:,jsonpath:{", "braces": "{a}", "closed": "}", "umlauts": "ä{", "plain": "x", "lines": "{\n",
	} {
		reference := "a/b:" + strings.Repeat(piece, 256<<10/len(piece))
		begun := time.Now()
		parts := Parse(reference)
		if len(parts) != 1 || parts[0].Broken == nil || parts[0].Text != reference {
			t.Errorf("%s: %d parts", what, len(parts))
		}
		r := Resolve(reference, Values{})
		if took := time.Since(begun); took > time.Second && quickest(func() { Resolve(reference, Values{}) }) > time.Second {
			t.Errorf("%s: it took %v", what, took)
		}
		for i, c := range r.Conditions() {
			if c.Reason != InvalidTemplate || len(c.Message) > 1000 || !utf8.ValidString(c.Message) || i == 0 && !strings.Contains(c.Message, "it is longer than 16 KiB") {
				t.Errorf("%s: %v", what, c)
			}
		}
		if err := CheckTemplate(reference); err == nil || len(err.Error()) > 1000 {
			t.Errorf("%s: %.200v", what, err)
		}
	}
}

// Parsing a reference of the maximum length does not take quadratic time.
func TestReferencesAreReadInTime(t *testing.T) {
	for _, piece := range []string{"{group:", "{group:a,version:b,kind:C,name:,namespace:,jsonpath:{", "{a}", "}", "{", `{group:a,version:b,kind:C,name:,namespace:,jsonpath:{"`} {
		reference := strings.Repeat(piece, budget.TemplateText/len(piece))
		if took := quickest(func() { _ = Resolve(reference, Values{}).Conditions() }); took > time.Second {
			t.Errorf("%s: it took %v", piece, took)
		}
	}
}

// quickest returns the shortest of several runs, because other work on the machine may delay most of them.
func quickest(f func()) time.Duration {
	least := time.Hour
	for range 5 {
		begun := time.Now()
		f()
		if least = min(least, time.Since(begun)); least < time.Second {
			break
		}
	}
	return least
}
