package controller

import (
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/catalogsource"
)

func TestPath(t *testing.T) {
	object := map[string]any{"spec": map[string]any{"foo": map[string]any{"bar": "v2"}}, "n": nil,
		"l": []any{map[string]any{"type": "Ready", "v": int64(3)}, map[string]any{"type": "Other", "v": 4.5}}}
	for expression, want := range map[string]string{
		"{.spec.foo.bar}": "v2", `{.l[?(@.type=="Ready")].v}`: "3", "{.l[1].v}": "4.5", "{.spec.foo.bar}-{.l[0].v}": "v2-3", "{.spec.foo['bar']}": "v2", "{..bar}": "v2",
	} {
		if got, err := Path(object, expression); got != want || err != nil {
			t.Errorf("%s is %q, %v", expression, got, err)
		}
	}
	for _, expression := range []string{"{.spec}", "{.l}", "{.l[*].v}", "{.n}", "{.x}", "{.", "{.l[?(@.type==}", "{.l[9]}", "{.spec.foo.bar}{.l[*].v}"} {
		if got, err := Path(object, expression); err == nil {
			t.Errorf("%s is %q", expression, got)
		}
	}
	// What would take longer than the object is large is not evaluated.
	for _, expression := range []string{
		"{['spec','spec']['foo','foo']['bar']}", "{..bar..}", "{.l[?(@..v==@..type)].v}", "{range .l[*]}{.v}{end}", "{.spec.foo['" + strings.Repeat("x", catalogsource.MaxPath) + "']}",
		"{.l[?(@.v==1)][?(@.v==1)][?(@.v==1)][?(@.v==1)][?(@.v==1)]}",
	} {
		if _, err := Path(object, expression); err == nil || !strings.HasPrefix(err.Error(), "reading ") {
			t.Errorf("%.40s: %v", expression, err)
		}
	}
}

// What the command knows without a cluster is what client-go gives.
func FuzzFieldPath(f *testing.F) {
	for _, e := range []string{"{.a.b}", "{$.a.b}", `{.a.b\.c}`, `{.a['b\.c']}`, "{.l[0]}", "{.l[-1]}", "{.l[-3]}", "{.a.b}-{.l[1]}", "{.l[2][0]}", "{.a['b']}x", "{}", "{.}", "{.l[00]}", "{@.a['b']['c']}", "{$@.a.b}", "{.a.b}}", "{.a\\}.b}", "{.a.\"b\"}", "{.l[-0]}"} {
		f.Add(e)
	}
	object := map[string]any{"a": map[string]any{"b": "x", "b.c": "y", "b}": "z", "\"b\"": "q"}, "l": []any{int64(1), 2.5, []any{true}}, "": "e", "n": nil}
	f.Fuzz(func(t *testing.T, expression string) {
		got, err := catalogsource.FieldPath(object, expression)
		if err != nil {
			return
		}
		if want, err := Path(object, expression); err != nil || got != want {
			t.Fatalf("%q is %q, and %q by client-go, %v", expression, got, want, err)
		}
	})
}
