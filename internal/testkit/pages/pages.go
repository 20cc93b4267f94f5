// Package pages reads what the project's pages show: the commands in their code blocks, and the names
// in their code spans.
package pages

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// Page is a page in Markdown, by its path from the top of the project.
type Page struct {
	File  string
	Spans []Span
	// Commands are the simple commands of its blocks, in their order.
	Commands []Command
	// Tables lists the first column of each table, with its title first.
	Tables [][]string
}

// Span is a piece of code within a paragraph or a cell.
type Span struct {
	Line int
	Text string
}

// Command is a simple command in a code block: its program first.
type Command struct {
	File string
	Line int
	// Words are without quotes. go run ./cmd/PROGRAM is PROGRAM.
	Words []string
	// Dir is the folder that a cd before it leads to, "." without one.
	Dir string
	// Around is what the page says of the block: the text before it, and the comments in it.
	Around string
}

// Read reads all pages of the project, whose top is root.
func Read(t testing.TB, root string) (all []Page) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".md":
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		all = append(all, Parse(filepath.ToSlash(rel), src))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Fatalf("%s has only %d pages", root, len(all))
	}
	return all
}

// Parse reads one page.
func Parse(file string, src []byte) Page {
	p := Page{File: file}
	at := func(offset int) int { return 1 + bytes.Count(src[:offset], []byte("\n")) }
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(src))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it never fails
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n.Kind() {
		case ast.KindCodeSpan:
			p.Spans = append(p.Spans, Span{at(begin(n)), plain(n, src)})
		case ast.KindFencedCodeBlock, ast.KindCodeBlock:
			if lines := n.Lines(); lines.Len() > 0 && isShell(n, src) {
				p.block(string(lines.Value(src)), at(lines.At(0).Start), before(n, src))
			}
		}
		switch n.Kind().String() {
		case "TableHeader":
			p.Tables = append(p.Tables, []string{plain(n.FirstChild(), src)})
		case "TableRow":
			last := len(p.Tables) - 1
			p.Tables[last] = append(p.Tables[last], plain(n.FirstChild(), src))
		}
		return ast.WalkContinue, nil
	})
	return p
}

// isShell reports whether a block may have commands: it names no language, or a shell.
func isShell(n ast.Node, src []byte) bool {
	fenced, ok := n.(*ast.FencedCodeBlock)
	return !ok || slices.Contains([]string{"", "sh", "bash", "console", "shell"}, string(fenced.Language(src)))
}

// before is the text of the paragraph before a block.
func before(n ast.Node, src []byte) string {
	if n = n.PreviousSibling(); n == nil {
		return ""
	}
	return plain(n, src)
}

// plain is the text of a node, without marks.
func plain(n ast.Node, src []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(src))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

func begin(n ast.Node) int {
	if t, ok := n.FirstChild().(*ast.Text); ok {
		return t.Segment.Start
	}
	return 0
}

// programs are those whose names begin a command in a block that shows other lines too.
var programs = regexp.MustCompile(`^(\$ |[A-Z_]+=\S+ )*(graft|graft-[a-z]+|go|bash|cd|git|kubectl|helm|docker|podman|act|gh|curl|openssl|cosign|opm|oc|oc-mirror|skopeo|nats|yq|jq)( |$)`)

func (p *Page) block(code string, line int, around string) {
	prompts := strings.HasPrefix(code, "$ ") || strings.Contains(code, "\n$ ")
	for _, l := range strings.Split(code, "\n") {
		if _, remark, ok := strings.Cut(" "+l, " # "); ok {
			around += " " + remark
		}
	}
	lines := strings.Split(strings.TrimRight(code, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		first, one := i, strings.TrimSpace(lines[i])
		for strings.HasSuffix(one, `\`) && i+1 < len(lines) {
			i++
			one = strings.TrimSuffix(one, `\`) + strings.TrimSpace(lines[i])
		}
		if prompts != strings.HasPrefix(one, "$ ") || !programs.MatchString(one) {
			continue
		}
		dir := "."
		for _, words := range Split(strings.TrimPrefix(one, "$ ")) {
			if words[0] == "cd" && len(words) == 2 {
				dir = words[1]
				continue
			}
			p.Commands = append(p.Commands, Command{p.File, line + first, words, dir, around})
		}
	}
}

var assigned = regexp.MustCompile(`^[A-Za-z_]+=`)

// Split gives the simple commands of a line of a shell: without assignments before them, redirections and comments.
func Split(line string) (all [][]string) {
	var words []string
	var word strings.Builder
	var quote rune
	begun, redirected := false, false
	endWord := func() {
		if begun && !redirected && (len(words) > 0 || !assigned.MatchString(word.String())) {
			words = append(words, word.String())
		}
		redirected = redirected && !begun
		word.Reset()
		begun = false
	}
	endCommand := func() {
		endWord()
		if len(words) > 3 && words[0] == "go" && words[1] == "run" && strings.HasPrefix(words[2], "./cmd/") || len(words) == 3 && words[1] == "run" && strings.HasPrefix(words[2], "./cmd/") {
			words = append([]string{strings.TrimPrefix(words[2], "./cmd/")}, words[3:]...)
		}
		if len(words) > 0 {
			all = append(all, words)
		}
		words = nil
	}
	for i, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == ' ':
			endWord()
		case r == '#' && !begun:
			endCommand()
			return all
		case r == '>' || r == '<':
			if !strings.ContainsAny(word.String(), "0123456789") {
				endWord()
			}
			word.Reset()
			begun, redirected = false, true
		case r == '|' && !begun && strings.HasPrefix(line[i:], "| "), r == ';', r == '&':
			endCommand()
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	endCommand()
	return all
}
