package yamlread

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/budget"
)

// A fault is placed where the text becomes wrong. Common mistakes come with a hint.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		rule, src string
		line, col int
		says      string
	}{
		{"a colon in a text", "a: 1\nx: a: b\n", 2, 5, "needs quotes"},
		{"an open bracket", "a: 1\nb: [\n", 2, 4, "did not find expected node content"},
		{"an unknown escape", "a: \"\\d\"\n", 1, 5, "single quotes"},
		{"a tab", "a:\n\t- b\n", 2, 1, "not with tabs"},
		{"a reserved sign", "k: v\na: @b\n", 2, 4, "needs quotes"},
		{"not a number of JSON", "a: 1\nb: [1, .nan]\n", 2, 8, "NaN has no form in JSON"},
		{"minus infinity", "b: -.inf\n", 1, 4, "has no form in JSON"},
		{"an unknown alias", "a: *x\n", 1, 5, "unknown anchor"},
		{"an anchor in itself", "a: &a [*a]\n", 1, 1, ""},
		{"a control character", "a: b\x01\n", 1, 5, "control characters"},
		{"a list as a key", "[a]: b\n", 1, 1, ""},
	} {
		_, err := ToJSON([]byte(c.src))
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Msg, c.says) {
			t.Errorf("%s: %v, want ...%s...", c.rule, err, c.says)
			continue
		}
		if c.says != "" && (e.Line != c.line || e.Col != c.col) {
			t.Errorf("%s: at %d:%d, want %d:%d: %s", c.rule, e.Line, e.Col, c.line, c.col, e.Msg)
		}
		if e.Line < 1 || e.Col < 1 || strings.ContainsAny(e.Msg, "\n") {
			t.Errorf("%s: %+v", c.rule, e)
		}
	}
}

func TestAliases(t *testing.T) {
	if out, err := ToJSON([]byte("a: &x {k: 1}\nb: *x\nc:\n  <<: *x\n")); err != nil || string(out) != `{"a":{"k":1},"b":{"k":1},"c":{"k":1}}` {
		t.Errorf("%s, %v", out, err)
	}
	// Text that only resembles an anchor is not searched for aliases.
	for _, text := range []string{"a: b & c * d\n", "a: 1&2 * 3\n"} {
		if names([]byte(text), '&') {
			t.Errorf("%q has no anchor", text)
		}
	}
	long := "a: &x " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*x, ", 100) + "]\n"
	if _, err := ToJSON([]byte(long)); err == nil || !strings.Contains(err.Error(), "aliases") {
		t.Errorf("100 MiB by aliases: %v", err)
	}
	var deep strings.Builder
	deep.WriteString("a0: &a0 [x]\n")
	for i := 1; i <= budget.DocumentDepth; i++ {
		fmt.Fprintf(&deep, "a%d: &a%d [*a%d]\n", i, i, i-1)
	}
	if _, err := ToJSON([]byte(deep.String())); err == nil || !strings.Contains(err.Error(), "aliases") {
		t.Errorf("a chain of aliases: %.100v", err)
	}
}

func TestTooManyValues(t *testing.T) {
	_, err := ToJSON([]byte("a: [" + strings.Repeat("a,", budget.DocumentValues) + "]\n"))
	if err == nil || !strings.Contains(err.Error(), "values") {
		t.Errorf("%.100v", err)
	}
}

func TestLoaded(t *testing.T) {
	got, err := Loaded([]byte(`{"b":12345678901234567890,"a":"\u003c&>","c":1.0}`))
	if want := `{"a":"<&>","b":12345678901234567000,"c":1}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

func FuzzToJSON(f *testing.F) {
	for _, s := range []string{"a: 1\n", "a: b: c\n", "a: [\n", "a: &x 1\nb: *x\n", "- |\n x\n", "\"a\\", "a: .nan\n", "%YAML 1.1\n---\n", "\uFEFFa: b\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		begun := time.Now()
		_, err := ToJSON(src)
		if took := time.Since(begun); took > 5*time.Second {
			t.Fatalf("%q took %v", src, took)
		}
		if e := (*Error)(nil); err != nil && (!errors.As(err, &e) || e.Line < 1 || e.Col < 1) {
			t.Fatalf("%q: %v", src, err)
		}
	})
}
