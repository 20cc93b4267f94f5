package markdown_test

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/olmgraft/graft/internal/markdown"
)

func TestPlain(t *testing.T) {
	// Harmless text does not change.
	for _, s := range []string{
		"", "Add etcd 0.9.4 to Fast and Stable", "quay.io/operator/etcd@sha256:66a37fd61a06a43969854ee6d3e21087a98b93838e284a6086b13917f96b0d9b",
		"v1.2.3-rc.1+build_5", "a & b <c> `d` *e* _f_ | g", "mail me@example.com", "Ünïcödé 日本語 👩‍💻", "half / half", "100%",
	} {
		if got := markdown.Plain(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
	for in, want := range map[string]string{
		"hi @octocat":                   "hi @|octocat",
		"(@org/team)":                   "(@|org/team)",
		"é@octocat":                     "é@|octocat",
		"_@octocat":                     "_@|octocat",
		"fixes #12":                     "fixes #|12",
		"closes acme/catalog#12":        "closes acme/catalog#|12",
		"resolves GH-12, gh-3":          "resolves GH-|12, gh-|3",
		"fix https://x.y/o/r/issues/1":  "fix https:|//x.y/o/r/issues/1",
		"see www.example.com":           "see www|.example.com",
		"&#64;octocat":                  "&#|64;octocat",
		"::add-mask::x":                 ":|:add-mask:|:x",
		"::::":                          ":|:|:|:",
		"##[error]x":                    "#|#[error]x",
		"[skip ci] [CI Skip] [no ci]":   "[|skip ci] [|CI Skip] [|no ci]",
		"[skip actions]":                "[|skip actions]",
		"***NO_CI***":                   "***|NO_CI***",
		"/lgtm":                         "/|lgtm",
		" \n/ok-to-test ":               "/|ok-to-test",
		"one\r\ntwo\tthree\x00four":     "one two three four",
		"a\u2028b\u2029c\u0085d":        "a b c d",
		"a\u202eb\u2066c\ufeffd\u200be": "abcde",
		"\xff\xfe":                      "\ufffd",
	} {
		if got := strings.ReplaceAll(markdown.Plain(in), "\u200b", "|"); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"a | b":                      `a \| b`,
		`a \| b`:                     `a \\\| b`,
		"<!-- graft: {} -->":         `&lt;!-- graft: \{\} --&gt;`,
		"</details>":                 "&lt;/details&gt;",
		"&lt;b&gt;":                  "&amp;lt;b&amp;gt;",
		"[x](y) ![z](w)":             `\[x\](y) !\[z\](w)`,
		"`a` **b** _c_ ~~d~~ $e$":    "\\`a\\` \\*\\*b\\*\\* \\_c\\_ \\~\\~d\\~\\~ \\$e\\$",
		"# head":                     `\# head`,
		"- item":                     `\- item`,
		"1. item":                    `1\. item`,
		"12) item":                   `12\) item`,
		"1.2.3":                      `1\.2.3`,
		"> quote":                    "&gt; quote",
		"=====":                      `\=====`,
		"etcd.v0.9.4":                "etcd.v0.9.4",
		"quay.io/a/b@sha256:12":      "quay.io/a/b@sha256:12",
		"x\n\n```\nfence":            "x \\`\\`\\` fence",
		"fixes #1 for @me":           "fixes #¦1 for @¦me",
		"https://evil.example/a?b=c": "https:¦//evil.example/a?b=c",
	} {
		if got := strings.ReplaceAll(markdown.Escape(in), "\u200b", "¦"); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	if got := markdown.Code("a|b<c>"); got != `<code>a\|b&lt;c&gt;</code>` {
		t.Errorf("%q", got)
	}
}

var dangers = []*regexp.Regexp{
	regexp.MustCompile(`(^|[^0-9A-Za-z])@[0-9A-Za-z]`),
	regexp.MustCompile(`#[0-9]`),
	regexp.MustCompile(`(?i)\bgh-[0-9]`),
	regexp.MustCompile(`://`),
	regexp.MustCompile(`(?i)\bwww\.`),
	regexp.MustCompile(`::`),
	regexp.MustCompile(`##\[`),
	regexp.MustCompile(`(?i)\[(skip ci|ci skip|no ci|skip actions|actions skip)\]`),
	regexp.MustCompile(`^\s*/[a-zA-Z]`),
	regexp.MustCompile(`[\r\n\x00-\x1f\x{2028}\x{2029}\x{202a}-\x{202e}\x{2066}-\x{2069}]`),
}

// rendered returns Markdown without markup as text, with escapes and entities decoded.
func rendered(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", s[i+1]) >= 0 {
			i++
		}
		out.WriteByte(s[i])
	}
	return html.UnescapeString(out.String())
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{
		"hi @octocat fixes #1", "a | b \\| c", "<!-- x -->", "::error::", "&#64;me", "\\@me", "\\", "`", "[skip ci]", "/lgtm", "GH-1",
		"@\u200bme", "@\u202eme", "#\x001", "www.www.x", ":::", "[[skip ci]", "1.", "*_~`<&", "＠me", "\u3164@a", "2\t\u200d",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		plain, escaped := markdown.Plain(s), markdown.Escape(s)
		for _, danger := range dangers {
			for kind, text := range map[string]string{"plain": plain, "escaped": escaped, "rendered": rendered(escaped)} {
				if at := danger.FindString(text); at != "" {
					t.Fatalf("%q: %s %q has %q", s, kind, text, at)
				}
			}
		}
		if !utf8.ValidString(escaped) || strings.ContainsAny(escaped, "<>") {
			t.Fatalf("%q: %q", s, escaped)
		}
		if rendered(escaped) != plain {
			t.Fatalf("%q: renders as %q, not as %q", s, rendered(escaped), plain)
		}
		// No pipe ends a cell: an odd number of backslashes precedes each.
		for i := range len(escaped) {
			slashes := 0
			for slashes < i && escaped[i-1-slashes] == '\\' {
				slashes++
			}
			if escaped[i] == '|' && slashes%2 == 0 {
				t.Fatalf("%q: %q ends a cell", s, escaped)
			}
		}
		// All visible characters stay.
		want := strings.Join(strings.FieldsFunc(strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) || r == '\u2800' || r == '\u3164' {
				return -1
			}
			return r
		}, strings.ToValidUTF8(s, "\ufffd")), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
		if got := strings.NewReplacer("\u200b", "", "\u200c", "", "\u200d", "").Replace(plain); got != want {
			t.Fatalf("%q: shows %q, not %q", s, got, want)
		}
	})
}

func TestLimit(t *testing.T) {
	const pointer = "*cut: see the report*"
	long := strings.Repeat("0123456789\n", 50)
	details := func(summary, content string) string {
		return "<details>\n<summary>" + summary + "</summary>\n\n" + content + "\n</details>\n"
	}
	for name, tt := range map[string]struct {
		body string
		most int
		want string
	}{
		"short":              {"a\nb\n", 10, "a\nb\n"},
		"at the end of line": {"one\ntwo\nthree\nfour\n" + long, 40, "one\ntwo\nthree\n\n" + pointer},
		"within a fence":     {"```diff\n+a\n+b\n" + long + "```\nend\n", 45, "```diff\n+a\n+b\n```\n\n" + pointer},
		"a longer fence":     {"~~~~\n~~~\n" + long + "~~~~\n", 40, "~~~~\n~~~\n~~~~\n\n" + pointer},
		"one long line":      {strings.Repeat("x", 100), 50, pointer},
		"no room at all":     {strings.Repeat("x", 100), 10, "*cut: see "},
		"never within a comment": {"a\n<!--\n" + long + "-->\nb\n", 60,
			"a\n\n" + pointer},
		"the longest details first": {"top\n" + details("short", "x") + details("long", long) + "end\n", 250,
			"top\n" + details("short", "x") + "<details>\n<summary>long</summary>\n\n" + pointer + "\n\n</details>\nend\n"},
		"then those that are shorter": {details("a", long) + details("b", long+long), 250,
			"<details>\n<summary>a</summary>\n\n" + pointer + "\n\n</details>\n<details>\n<summary>b</summary>\n\n" + pointer + "\n\n</details>\n"},
		"details that cannot be folded": {"<details>\n" + long, 60, "<details>\n0123456789\n\n</details>\n\n" + pointer},
		"a fence within details":        {"<details>\n```\n" + long, 64, "<details>\n```\n0123456789\n```\n\n</details>\n\n" + pointer},
		"details as text":               {"```\n<details>\n</summary>\n" + long + "```\n", 60, "```\n<details>\n</summary>\n```\n\n" + pointer},
	} {
		got := markdown.Limit(tt.body, tt.most, pointer)
		if got != tt.want {
			t.Errorf("%s:\n%q\nwant\n%q", name, got, tt.want)
		}
	}
	if got := markdown.Limit(long, 3, "äöü"); got != "ä" {
		t.Errorf("%q", got)
	}
}

func FuzzLimit(f *testing.F) {
	f.Add("```\na\n```\n<details>\n<summary>x</summary>\n\ny\n</details>\n", 30, "p")
	f.Add("<!-- \n -->\n~~~\n", 10, "pointer")
	f.Add("<details><summary>\n</details></details>\n<details>", 20, "")
	f.Fuzz(func(t *testing.T, body string, most int, pointer string) {
		if most < 0 || most > 1<<20 || strings.ContainsAny(pointer, "`~<>-\r\n") {
			return
		}
		got := markdown.Limit(body, most, pointer)
		if len(got) > most {
			t.Fatalf("%d bytes, and %d are allowed", len(got), most)
		}
		if len(body) <= most && got != body {
			t.Fatal("a body that fits was changed")
		}
		if len(body) > most && len(pointer) <= most && !strings.Contains(got, pointer) {
			t.Fatalf("%q does not point to the rest", got)
		}
	})
}

func BenchmarkLimit(b *testing.B) {
	block := "<details>\n<summary>diff</summary>\n\n```diff\n" + strings.Repeat("+ a line of a diff that is as long as most\n", 5000) + "```\n</details>\n"
	body := strings.Repeat(block, 10)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		markdown.Limit(body, 65535, "see the report")
	}
}
