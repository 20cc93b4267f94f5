package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// remedy is a text of the sources that says what to do about a failure.
type remedy struct {
	place string
	text  string
	verbs []string
}

// goFiles returns the Go files below a folder of the project, without tests.
func goFiles(dir string) (all []string) {
	_ = filepath.WalkDir(filepath.Join("../..", dir), func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.Contains(name, "/testkit/") {
			all = append(all, name)
		}
		return err
	})
	return all
}

// sources returns the text of all files that may define a name: sources, schemas and manifests.
var sources = sync.OnceValue(func() string {
	var b strings.Builder
	for _, file := range goFiles("internal") {
		text, _ := os.ReadFile(file)
		b.Write(regexp.MustCompile(`(?m)Fix\(.*$`).ReplaceAll(text, nil)) // a remedy is no proof of itself
	}
	for _, pattern := range []string{"internal/*/*.json", "deploy/*/*.yaml", "deploy/*/*/*.yaml", "action.yml", ".github/workflows/*.yml"} {
		files, _ := filepath.Glob("../../" + pattern)
		for _, file := range files {
			text, _ := os.ReadFile(file)
			b.Write(text)
		}
	}
	return b.String()
})

// remedies returns the arguments of Fix: literals, names of the package, and fields, parameters or functions
// with the name of a remedy.
func remedies(t *testing.T) (all []remedy) {
	t.Helper()
	named := map[string]map[string]string{} // texts of constants and variables, by package
	files := map[string]*ast.File{}
	set := token.NewFileSet()
	for _, name := range goFiles("internal") {
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = f
		dir := path.Dir(name)
		if named[dir] == nil {
			named[dir] = map[string]string{}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok {
				for i, id := range v.Names {
					if i < len(v.Values) {
						if text, ok := textOf(v.Values[i], nil); ok {
							named[dir][id.Name] = text
						}
					}
				}
			}
			return true
		})
	}
	for name, f := range files {
		file := strings.TrimPrefix(filepath.ToSlash(name), "../../")
		add := func(e ast.Expr, uses []string) bool {
			text, ok := textOf(e, named[path.Dir(name)])
			if ok && text != "" && !regexp.MustCompile(`^(%s)+\.?$`).MatchString(text) {
				at := set.Position(e.Pos())
				all = append(all, remedy{file + ":" + strconv.Itoa(at.Line), text, roomOf(file, uses)})
			}
			return ok
		}
		takes := takers(f)
		for _, d := range f.Decls {
			uses := usesOf(d, file)
			if len(uses) == 0 {
				uses = onlyOne(f, file)
			}
			collect(d, takes, func(e ast.Expr) bool { return add(e, uses) }, func(e ast.Expr) {
				t.Errorf("%s: cannot find the remedy", set.Position(e.Pos()))
			})
		}
	}
	return all
}

var isRemedy = regexp.MustCompile(`^(fix|Fix|remedy|Remedy)$`)

// collect passes the remedies of a declaration to add, and to missing the arguments of Fix that have an unknown
// form.
func collect(d ast.Node, takes map[string]int, add func(ast.Expr) bool, missing func(ast.Expr)) {
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok {
				if i, ok := takes[id.Name]; ok && i < len(n.Args) {
					add(n.Args[i])
				}
			}
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Fix" && len(n.Args) > 0 && !add(n.Args[0]) && !byName(n.Args[0]) {
				missing(n.Args[0])
			}
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok && isRemedy.MatchString(id.Name) {
				add(n.Value)
			}
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				if id, ok := l.(*ast.Ident); ok && i < len(n.Rhs) && isRemedy.MatchString(id.Name) {
					add(n.Rhs[i])
				}
			}
		case *ast.FuncDecl:
			if isRemedy.MatchString(n.Name.Name) && n.Type.Results != nil && len(n.Type.Results.List) == 1 {
				ast.Inspect(n, func(n ast.Node) bool {
					if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == 1 {
						add(r.Results[0])
					}
					return true
				})
			}
		}
		return true
	})
}

// takers returns the functions of a file that have a remedy as a parameter, with the parameter's index.
func takers(f *ast.File) map[string]int {
	takes := map[string]int{}
	note := func(name string, t *ast.FuncType) {
		i := 0
		for _, field := range t.Params.List {
			for _, p := range field.Names {
				if isRemedy.MatchString(p.Name) {
					takes[name] = i
				}
				i++
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			note(n.Name.Name, n.Type)
		case *ast.AssignStmt:
			for i, r := range n.Rhs {
				if fn, ok := r.(*ast.FuncLit); ok && i < len(n.Lhs) {
					if id, ok := n.Lhs[i].(*ast.Ident); ok {
						note(id.Name, fn.Type)
					}
				}
			}
		}
		return true
	})
	return takes
}

// byName reports whether an argument of Fix has the name of a remedy. Its text is collected at its assignment.
func byName(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return isRemedy.MatchString(e.Name)
	case *ast.SelectorExpr:
		return isRemedy.MatchString(e.Sel.Name)
	}
	return false
}

// textOf returns the text of an expression: a literal, a sum, or a name of the package.
func textOf(e ast.Expr, named map[string]string) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		x, ok := textOf(e.X, named)
		y, also := textOf(e.Y, named)
		if !ok || !also { // from another package
			x += "%s"
		}
		return x + y, ok || also
	case *ast.Ident:
		text, ok := named[e.Name]
		return text, ok
	case *ast.ParenExpr:
		return textOf(e.X, named)
	}
	return "", false
}

// usesOf returns the verbs whose commands a declaration builds.
func usesOf(d ast.Node, file string) (verbs []string) {
	if !strings.HasPrefix(file, "internal/cli/") {
		return nil
	}
	ast.Inspect(d, func(n ast.Node) bool {
		if kv, ok := n.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok && id.Name == "Use" {
				if text, ok := textOf(kv.Value, nil); ok {
					verb, _, _ := strings.Cut(text, " ")
					if family := path.Base(path.Dir(file)); family != "cli" && family != verb {
						verb = family + " " + verb
					}
					verbs = append(verbs, verb)
				}
			}
		}
		return true
	})
	return verbs
}

// onlyOne returns the verb of a file that defines exactly one.
func onlyOne(f *ast.File, file string) []string {
	if verbs := usesOf(f, file); len(verbs) == 1 {
		return verbs
	}
	return nil
}
