package controller

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/util/jsonpath"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/testkit/effort"
)

// clientGo evaluates an expression with client-go's library. Each {} must give one plain value.
func clientGo(object any, expression string) (text string, err error) {
	defer func() {
		if bug := recover(); bug != nil {
			err = fmt.Errorf("panic: %v", bug)
		}
	}()
	j := jsonpath.New("template")
	if err := j.Parse(expression); err != nil {
		return "", err
	}
	results, err := j.FindResults(object)
	if err != nil {
		return "", err
	}
	for _, one := range results {
		if len(one) != 1 {
			return "", errors.New("several values")
		}
		plain, err := catalogsource.Plain(one[0].Interface())
		if err != nil {
			return "", err
		}
		text += plain
	}
	return text, nil
}

var pathObject = map[string]any{
	"a": map[string]any{"b": "x", "b.c": "y", "b}": "z", "\"b\"": "q", "é": "e"}, "": "e", "n": nil, "t": true, "f": 2.5, "i": int64(3), "s": "",
	"l": []any{int64(1), 2.5, []any{true, nil}, nil}, "one": []any{"only"}, "none": []any{}, "m": map[string]any{"k": map[string]any{"b": "deep"}},
	"items": []any{
		map[string]any{"type": "Ready", "v": int64(3), "w": map[string]any{"x": "1"}}, map[string]any{"type": "Other", "v": int64(4), "tags": []any{"p", "q"}},
		map[string]any{"type": "Late)", "v": int64(9), "ok": true, "r": 1.5},
	},
}

// agree compares the evaluation of an expression with client-go's. client-go's result varies if an expression
// visits the keys of a mapping, so agree then asks several times.
func agree(t *testing.T, expression string) (ok bool) {
	t.Helper()
	got, err := catalogsource.JSONPath(pathObject, expression)
	if err != nil && (strings.Contains(err.Error(), "a string has no parts") || strings.Contains(err.Error(), "longer than") || strings.Contains(err.Error(), "more than")) {
		return false // Graft's own rules refuse it
	}
	var want string
	var wantErr error
	for range 200 {
		want, wantErr = clientGo(pathObject, expression)
		if (err == nil) == (wantErr == nil) && got == want {
			return err == nil
		}
		if wantErr != nil && strings.HasPrefix(wantErr.Error(), "panic") {
			return false
		}
		if !strings.Contains(expression, "*") && !strings.Contains(expression, "..") {
			break
		}
	}
	t.Errorf("%q is %q, %v; and by client-go %q, %v", expression, got, err, want, wantErr)
	return false
}

// Unions, ranges, filters and everything else give the same as client-go.
func TestJSONPathAgrees(t *testing.T) {
	for expression, want := range map[string]string{
		"{.a.b}": "x", `{.a['b\.c']}`: "y", "{.l[0]}-{.l[1]}": "1-2.5", "{.l[-2][0]}": "true", "{.one[*]}": "only", "{.one[0:1]}": "only", "{.m..b}": "deep", "{.m.*.b}": "deep",
		`{.items[?(@.type=="Ready")].v}`: "3", `{.items[?(@.v>4)].type}`: "Late)", `{.items[?(@.type=='Late)')].v}`: "9", `{.items[?(@.tags)].v}`: "4", `{.items[?(@.ok)].v}`: "9",
		"{range.items[*]}{.v}-{end}x": "3-4-9-x", "{range.items[*]}{.type}{end}": "ReadyOtherLate)", "{range.items[?(@.tags)]}{.v}:{range.tags[*]}{@}{end};{end}": "4:pq;",
		`{.items['0','1'].v}`: "", `{['a','m']['b']}`: "x", `{.items[0,1].tags[0]}`: "p", "{.items[0:3:2].w.x}": "1", `{"v"}{.i}`: "v3", "{.items[-1:].v}": "9",
	} {
		if got, err := catalogsource.JSONPath(pathObject, expression); got != want || (err == nil) != (want != "") {
			t.Errorf("%s is %q, %v", expression, got, err)
		}
		agree(t, expression)
	}
}

// Expressions from parts of the grammar, complete and broken.
func TestJSONPathAgreesAtRandom(t *testing.T) {
	pieces := []string{
		".a", ".b", ".items", ".l", ".n", ".v", ".type", ".tags", ".m", ".k", ".one", ".none", ".w.x", ".*", "..", "..v", "[0]", "[-1]", "[*]", "[0:1]", "[:]", "[::2]", "[1:]", "[5]", "[0,1]", "[]", "[1,]", "['a','m']", "['b']", "['b\\.c']", "['a.b']",
		`[?(@.v==3)]`, `[?(@.v)]`, `[?(@.type=="Ready")]`, `[?(@.v>=4)]`, `[?(@.v<@.v)]`, `[?(@.type!='Other')]`, `[?(@.ok==true)]`, `[?(@.r<2.0)]`, `[?(@.v===3)]`, `[?(@.w[0])]`, `[?(@..x=="1")]`, `[?(@[0])]`, `[?(3==@.v)]`, `[0,?(@.v==3)]`,
		"$", "@", `"x"`, `'y\'z'`, `"\u00e9"`, "3", "-2.5", "true", "range", "end", "range.items[*]", "range.l[*]", "range.none[*]", "}{", "}{end}{", "}-{", "}", "{", "]", "[", "'", `\`, ".", "x", ":", "é", "",
	}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	gave := 0
	for range effort.Of(t, 20_000, 100_000, 2_000_000) {
		expression := "{"
		for range 1 + random.IntN(6) {
			expression += pieces[random.IntN(len(pieces))]
		}
		if agree(t, expression+"}") {
			gave++
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d expressions have a value", gave)
	if gave < 500 {
		t.Error("too few to say anything")
	}
}

func FuzzJSONPath(f *testing.F) {
	for _, e := range []string{"{.a.b}", "{$.a.b}", `{.a.b\.c}`, "{.l[-3]}", "{.a['b']}x", "{}", "{.}", "{.l[00]}", "{$@.a.b}", "{.a.b}}", "{.a\\}.b}", "{.a.\"b\"}", "{.l[-0]}", `{.items[?(@.type=="Ready")].v}`, "{range.items[*]}{.v}{end}", "{.items[0,1].v}", "{..b}"} {
		f.Add(e)
	}
	f.Fuzz(func(t *testing.T, expression string) { agree(t, expression) })
}

// The limits apply to the cost of any expression and object.
func TestJSONPathIsBounded(t *testing.T) {
	deep := any("x")
	for range 2000 {
		deep = map[string]any{"a": deep}
	}
	list := make([]any, 50_000)
	for i := range list {
		list[i] = map[string]any{"v": int64(i)}
	}
	object := map[string]any{"a": strings.Repeat("x", 100<<10), "l": list, "d": deep}
	for expression, why := range map[string]string{
		strings.Repeat("{.a}", 256):               "more than 8192 bytes",
		"{range.l[*]}{range$.l[*]}{.v}{end}{end}": "l is not found",
		"{..v}":   "values",
		"{..d..}": "more than 200000 values",
		"{.l[*,*,*,*,*,*,*,*]['v','v','v','v','v','v']}":     "more than 200000 values",
		"{['l','l','l'][?(@.v>=0)].v}":                       "more than 200000 values",
		"{" + strings.Repeat("['l','l']", 100) + "}":         "is not found",
		"{" + strings.Repeat("x", budget.TemplatePath) + "}": "longer than 1024 bytes",
	} {
		begun := time.Now()
		_, err := catalogsource.JSONPath(object, expression)
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%.60s: %.200v", expression, err)
		}
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("%.60s took %v", expression, took)
		}
	}
}
