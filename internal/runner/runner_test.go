package runner

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/olmgraft/graft/internal/failure"
)

// A terminal shows colours of Graft, and escapes whatever else it would obey. A status fits into its columns.
func TestTerminal(t *testing.T) {
	for text, want := range map[string]string{
		"\x1b[1mop\x1b[0m \x1b[36m@@\x1b[0m\n": "\x1b[1mop\x1b[0m \x1b[36m@@\x1b[0m\n",
		"\x1b[2J\x1b[31;8m\x1b]0;t\a\u009b2J":  `\u001b[2J\u001b[31;8m\u001b]0;t\u0007\u009b2J`,
		"a\rb\r\n::x::##[y]\tz\u202e":          `a\u000db` + "\r\n::x::##[y]\tz" + `\u202e`,
		"\xff":                                 "\uFFFD",
	} {
		s := state{terminal: true}
		if got := string(s.defuse([]byte(text), true)); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
		var parts []byte
		s = state{terminal: true}
		for line := range strings.SplitAfterSeq(text, "\n") {
			parts = append(parts, s.defuse([]byte(line), false)...)
		}
		if parts = append(parts, s.defuse(nil, true)...); string(parts) != want {
			t.Errorf("line by line, %q is shown as %q, want %q", text, parts, want)
		}
	}
	for line, want := range map[string]string{"abcdef": "abcde", "a\x1b[\tb": "a?[?b", "日本語": "日本", "a\u200bb": "a?b"} {
		if got := fitted(line, 5); got != want {
			t.Errorf("%q is shown as %q, want %q", line, got, want)
		}
	}
}

func TestDefuse(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"graft: 2 bundles\n":       "graft: 2 bundles\n",
		"::error::x":               `:\u003aerror::x`,
		" \t::error::x":            " \t" + `:\u003aerror::x`,
		"\u00a0\u3000::error::x":   "\u00a0\u3000" + `:\u003aerror::x`,
		"a\n::error::x\n":          "a\n" + `:\u003aerror::x` + "\n",
		"a\r\n::x::":               "a\r\n" + `:\u003ax::`,
		"a\r::x::":                 `a\u000d::x::`,
		"a\u2028::x::":             `a\u2028::x::`,
		"a\u2029::x::\u0085::\v\f": `a\u2029::x::\u0085::\u000b\u000c`,
		"\u2028::x::":              `\u2028::x::`,
		"std::x a::b":              "std::x a::b",
		":::x::":                   `:\u003a:x::`,
		": :x":                     ": :x",
		":\u200b:x::":              `:\u200b:x::`,
		":\u0301:x::":              ":\u0301" + `\u003ax::`,
		"a ##[error]x":             `a ##\u005berror]x`,
		"###[x]##[y]":              `###\u005bx]##\u005by]`,
		"#[x] # #[y]":              "#[x] # #[y]",
		"##\u200d[x]":              `##\u200d[x]`,
		"##\u0488[x]":              "##\u0488" + `\u005bx]`,
		"\ufeff::x::":              `\ufeff::x::`,
		"\u202ex\u2066":            `\u202ex\u2066`,
		"\U000e0041":               `\udb40\udc41`,
		"\u3164\ufe0f\u034f\ue000": `\u3164\ufe0f\u034f\ue000`,
		"\x1b[31mred":              `\u001b[31mred`,
		"%0A::error::x":            "%0A::error::x",
		"\xc0\xa3#[x] \xff":        "\ufffd\ufffd#[x] \ufffd",
		"größer, 日本語, \U0001f600":  "größer, 日本語, \U0001f600",
	} {
		if got := Defuse(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if got := Defuse(want); got != want {
			t.Errorf("%q: once more it is %q", text, got)
		}
	}
}

// obeyed is the runner's own rule, applied after removing everything that the runner might ignore.
var obeyed = regexp.MustCompile(`(?m)^[\s\p{Z}]*::|##\[`)

func holdDefused(t *testing.T, text string) {
	t.Helper()
	text = strings.ReplaceAll(text, "\r\n", "\n")
	plain := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.M, r) {
			return -1
		}
		if r != '\n' && r != '\t' && !unicode.IsGraphic(r) {
			t.Errorf("%U stays in %q", r, text)
		}
		return r
	}, text)
	if command := obeyed.FindString(plain); command != "" {
		t.Errorf("a runner finds %q in %q", command, text)
	}
}

// For any text, written in any parts: no line of it is a command, and JSON keeps its value.
func FuzzDefuse(f *testing.F) {
	f.Add("a\r\n::error::x ##[y] \u2028::z\xe2\x80", 3)
	f.Add("\u200b:\u0301:#\u0301#[", 1)
	f.Add("\xe2", 1)
	f.Fuzz(func(t *testing.T, text string, size int) {
		whole := Defuse(text)
		holdDefused(t, whole)
		var out bytes.Buffer
		log := NewLog(&out, true)
		for rest := text; rest != ""; {
			n := min(max(size, 1), len(rest))
			if _, err := io.WriteString(log, rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		holdDefused(t, out.String())
		if !strings.HasPrefix(whole, out.String()) || len(whole)-len(out.String()) > len(`\u000d`)*3 {
			t.Errorf("%q in parts of %d is %q, and at once %q", text, size, out.String(), whole)
		}
		encoded, err := json.Marshal(map[string]string{text: text})
		if err != nil {
			t.Fatal(err)
		}
		var before, after map[string]string
		if err := json.Unmarshal(encoded, &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(Defuse(string(encoded))), &after); err != nil {
			t.Fatalf("%q is no JSON any more: %v", encoded, err)
		}
		for key, value := range before {
			if after[key] != value {
				t.Errorf("%q became %q", before, after)
			}
		}
	})
}

func TestLogOutsideOfARunner(t *testing.T) {
	var out bytes.Buffer
	if _, err := io.WriteString(NewLog(&out, false), "::error::\x1b[0m ##[x]\xff"); err != nil || out.String() != "::error::\x1b[0m ##[x]\xff" {
		t.Errorf("written is %q, %v", out.String(), err)
	}
}

func TestToRunner(t *testing.T) {
	var out bytes.Buffer
	log := NewLog(&out, true)
	to := log.ToRunner()
	for _, line := range []string{
		"::set-output name=x::y\n", "::stop-commands::x\n", "::error::x", "error\n", "", "::error::x\n::add-mask::y\n", "::error::x\r::add-mask::y\n", "::error a=\n::x\n",
	} {
		if _, err := io.WriteString(to, line); !failure.Is(err, failure.Internal) {
			t.Errorf("%q is taken: %v", line, err)
		}
	}
	if _, err := io.WriteString(log, "begun"); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"::error file=a%3Ab,title=x::it is ##[x]\u2028%0A::y\n", "::add-mask::##[\u200bsecret\n", "::endgroup::\n"} {
		if _, err := io.WriteString(to, line); err != nil {
			t.Fatal(err)
		}
	}
	want := "begun\n" + `::error file=a%3Ab,title=x::it is ##\u005bx]\u2028%0A::y` + "\n::add-mask::##[\u200bsecret\n::endgroup::\n"
	if out.String() != want {
		t.Errorf("written is %q, want %q", out.String(), want)
	}
}

// A document is written unchanged, or only up to the line with a command.
func TestDocuments(t *testing.T) {
	for text, fails := range map[string]bool{
		"a: b\n  # [x] ##[ [link](y) std::x ::1\n\u200b\xff\r\n": false,
		"a\n  ::error file=x::y\n":                               true,
		"a\r::add-mask::y":                                       true,
		"a\u2028::add-mask::y":                                   true,
		"\ufeff::add-mask::y":                                    true,
		"a: ##[stop-commands]x":                                  true,
		"a: #\u200b#[group a=b;]x":                               true,
		"a: :: b ::\n::\n::not one":                              false,
	} {
		for _, size := range []int{1, 5, len(text)} {
			var out bytes.Buffer
			to := NewLog(&out, true).Documents()
			var err error
			for rest := text; rest != "" && err == nil; {
				n := min(size, len(rest))
				_, err = io.WriteString(to, rest[:n])
				rest = rest[n:]
			}
			if fails != failure.Is(err, failure.Usage) || !fails && out.String() != text || !strings.HasPrefix(text, out.String()) {
				t.Errorf("%q by %d: %q, %v", text, size, out.String(), err)
			}
		}
	}
}

// No runner reads the content of a file.
func TestDocumentsInAFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "catalog.yaml")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(NewLog(file, true).Documents(), "::error::x\n"); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != "::error::x\n" {
		t.Errorf("written is %q, %v", text, err)
	}
}
