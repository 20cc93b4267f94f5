package internal_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// edge lists the files that make a program's writers, which defuse the output on GitHub's runner.
var edge = map[string][]string{
	"os.Stdout":     {"internal/command/command.go"},
	"os.Stderr":     {"internal/command/command.go"},
	"runner.NewLog": {"internal/command/command.go"},
	".ToRunner":     {"internal/action/action.go"},
}

// aside lists functions that write to standard output or standard error directly.
var aside = []string{
	"fmt.Print", "fmt.Printf", "fmt.Println", "print", "println", "os.NewFile", "log.Default", "log.Writer", "slog.Default", "log.SetOutput",
	"log.Print", "log.Printf", "log.Println", "log.Fatal", "log.Fatalf", "log.Fatalln", "log.Panic", "log.Panicf", "log.Panicln", "log.Output",
	"slog.Debug", "slog.Info", "slog.Warn", "slog.Error", "slog.Log", "debug.PrintStack", "syscall.Write", "syscall.Stdout", "syscall.Stderr", "unix.Write", "os.StartProcess",
}

// All programs write to standard output and standard error through a runner.Log, which only its own package can
// make.
func TestOutputGoesThroughTheRunnersLog(t *testing.T) {
	read := 0
	for _, dir := range []string{"../internal", "../cmd"} {
		err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
			name := filepath.ToSlash(strings.TrimPrefix(file, ".."+string(filepath.Separator)))
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "internal/testkit/") {
				return err
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			read++
			for _, found := range around(name, text) {
				t.Errorf("%s goes around the writers of a program: %s", name, found)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if read < 100 {
		t.Errorf("only %d files were read", read)
	}
}

// around returns the calls in a file that bypass the writers of a program.
func around(name string, text []byte) (all []string) {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return []string{err.Error()}
	}
	for _, imported := range file.Imports {
		path, _ := strconv.Unquote(imported.Path.Value)
		watched := slices.Contains([]string{"os", "fmt", "log", "log/slog", "syscall", "runtime/debug"}, path) || strings.HasSuffix(path, "/internal/runner")
		if watched && imported.Name != nil {
			all = append(all, "another name of "+path)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		used, field := "", ""
		switch n := n.(type) {
		case *ast.SelectorExpr:
			field = "." + n.Sel.Name
			if x, ok := n.X.(*ast.Ident); ok {
				used = x.Name + field
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok {
				used = f.Name
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING && (strings.Contains(n.Value, "/dev/std") || strings.Contains(n.Value, "/dev/fd") || strings.Contains(n.Value, "/proc/self/fd")) {
				all = append(all, n.Value)
			}
		case *ast.CompositeLit:
			if selector(n.Type) == "http.Server" && !hasKey(n, "ErrorLog") {
				all = append(all, "an http.Server without ErrorLog")
			}
		}
		for _, one := range []string{used, field} {
			if files, ok := edge[one]; ok && !slices.Contains(files, name) {
				all = append(all, one)
			}
		}
		if slices.Contains(aside, used) {
			all = append(all, used)
		}
		return true
	})
	return all
}

func selector(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok {
			return x.Name + "." + s.Sel.Name
		}
	}
	return ""
}

func hasKey(lit *ast.CompositeLit, key string) bool {
	return slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		name, ok := kv.Key.(*ast.Ident)
		return ok && name.Name == key
	})
}

func TestWaysAroundAreFound(t *testing.T) {
	for text, want := range map[string]string{
		`fmt.Fprintln(a.Err, "x"); use(log.New(a.Err, "", 0))`: "[]",
		`fmt.Fprintln(os.Stderr, "x")`:                         "[os.Stderr]",
		`use(func() any { return os.Stdout })`:                 "[os.Stdout]",
		`fmt.Println("x")`:                                     "[fmt.Println]",
		`println("x")`:                                         "[println]",
		`log.Printf("x")`:                                      "[log.Printf]",
		`slog.Warn("x")`:                                       "[slog.Warn]",
		`os.WriteFile("/dev/stderr", x, 0)`:                    "[\"/dev/stderr\"]",
		`use(runner.NewLog(x, false))`:                         "[runner.NewLog]",
		`a.Out.ToRunner().Write(x)`:                            "[.ToRunner]",
		`use(http.Server{Handler: x})`:                         "[an http.Server without ErrorLog]",
		`use(&http.Server{ErrorLog: x})`:                       "[]",
	} {
		if got := fmt.Sprint(around("x.go", []byte("package x\nfunc f() { "+text+" }"))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if got := around("x.go", []byte("package x\nimport out \"fmt\"\n")); len(got) != 1 {
		t.Errorf("another name of fmt: %q", got)
	}
}
