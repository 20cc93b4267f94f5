package budget

import (
	"flag"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/limits.md anew")

const page = "../../docs/limits.md"

// docs/limits.md states the values of the constants.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const begins, ends = "<!-- limits -->\n", "<!-- end of limits -->\n"
	before, rest, ok := strings.Cut(string(text), begins)
	current, after, ended := strings.Cut(rest, ends)
	if !ok || !ended {
		t.Fatalf("%s has no place for the tables", page)
	}
	want := tables(t)
	if *update {
		if err := os.WriteFile(page, []byte(before+begins+want+ends+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if current != want {
		t.Errorf("%s has\n%s\nwant\n%s", page, current, want)
	}
}

// tables returns one table for each group of constants.
func tables(t *testing.T) string {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "budget.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	info := types.Info{Defs: map[*ast.Ident]types.Object{}}
	if _, err := (&types.Config{}).Check("budget", files, []*ast.File{parsed}, &info); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, d := range parsed.Decls {
		group := d.(*ast.GenDecl)
		fmt.Fprintf(&out, "\n| %s | at most |\n|---|---|\n", strings.TrimSpace(group.Doc.Text()))
		for _, s := range group.Specs {
			one := s.(*ast.ValueSpec)
			if one.Comment == nil {
				t.Fatalf("%s has no comment", one.Names[0])
			}
			n, _ := constant.Int64Val(info.Defs[one.Names[0]].(*types.Const).Val())
			_, isShift := one.Values[0].(*ast.BinaryExpr)
			fmt.Fprintf(&out, "| %s | %s |\n", strings.TrimSpace(one.Comment.Text()), number(n, isShift))
		}
	}
	return out.String() + "\n"
}

// number formats sizes, which are shifts, with their units.
func number(n int64, size bool) string {
	unit := ""
	for _, next := range []string{" KiB", " MiB", " GiB"} {
		if size && n%1024 == 0 {
			n, unit = n/1024, next
		}
	}
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits + unit
}
