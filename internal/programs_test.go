package internal_test

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// programs lists those that tests of this module may start: a clone tests itself with Go, git and POSIX tools.
// Tests that need another program are in a module below conformance/.
var programs = []string{
	"go", "git", "graft", "graft-demo", "graft-relay",
	"[", "cat", "cd", "chmod", "cmp", "cp", "diff", "echo", "grep", "head", "ln", "ls", "mkdir", "mv", "printf", "rm", "sed", "sh", "sleep", "sort", "tail", "touch", "tr", "wc",
}

// variables lists the programs that are not named at the call.
var variables = map[string]string{
	"internal/relay/binary_test.go: name":                          "graft-relay, by its callers",
	"internal/atomicfile/journal_test.go: os.Args[0]":              "the test itself, to be killed",
	"internal/testkit/hostile/hostile_test.go: os.Args[0]":         "the test itself, whose memory is measured",
	"internal/testkit/child/child.go: os.Args[0]":                  "the test itself, whose files are limited",
	"internal/atomicfile/fault_linux_test.go: os.Args[0]":          "the test itself, whose system calls fail",
	`internal/relay/faults_linux_test.go: "observed"`:              "the test itself, whose system calls fail",
	"internal/relay/faults_linux_test.go: relay":                   "graft-relay, as it was found in the PATH",
	`internal/cli/faults_linux_test.go: "observed"`:                "the test itself, whose system calls fail",
	"internal/testkit/syscalls/syscalls_linux_test.go: os.Args[0]": "the test itself, whose system calls fail",
	`internal/testkit/syscalls/syscalls_linux_test.go: "true"`:     "true, which POSIX has",
	"internal/cli/script_test.go: args[1]":                         "exitcode, which is read in the scripts",
	"internal/testkit/gitremote/server.go: git":                    "git, as it was found in the PATH",
}

// Tests, the testkit and the scripts start no other program.
func TestProgramsOfTests(t *testing.T) {
	read := map[string]int{}
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		_, nested := os.Stat(filepath.Join(file, "go.mod"))
		if d.IsDir() {
			if file != ".." && (nested == nil || strings.HasPrefix(d.Name(), ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		name := filepath.ToSlash(strings.TrimPrefix(file, ".."+string(filepath.Separator)))
		foreign := foreignToGo
		switch {
		case strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "internal/testkit/") && strings.HasSuffix(name, ".go"):
		case strings.HasSuffix(name, ".txtar"):
			foreign = foreignToScript
		default:
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		read[filepath.Ext(name)]++
		for _, program := range foreign(name, text) {
			t.Errorf("%s starts %s", name, program)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read[".go"] < 100 || read[".txtar"] < 20 {
		t.Errorf("only these were read: %v", read)
	}
}

// foreignToGo returns the programs that a Go file starts and tests may not.
func foreignToGo(name string, text []byte) (all []string) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil {
		return []string{err.Error()}
	}
	for _, imported := range file.Imports {
		if imported.Path.Value == `"os/exec"` && imported.Name != nil {
			all = append(all, "an import of os/exec under another name")
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if kind := source(files, n.Type); kind == "exec.Cmd" || kind == "os.ProcAttr" {
				all = append(all, "something by "+kind)
			}
		case *ast.CallExpr:
			program := map[string]int{"exec.Command": 0, "exec.LookPath": 0, "exec.CommandContext": 1, "ts.Exec": 0}
			at, starts := program[source(files, n.Fun)]
			if !starts || at >= len(n.Args) {
				return true
			}
			what := source(files, n.Args[at])
			literal, err := strconv.Unquote(what)
			known := err == nil && slices.Contains(programs, literal)
			built := variables[name+": "+what] != "" || err != nil && strings.Contains(what, "graft")
			if !known && !built {
				all = append(all, what)
			}
		}
		return true
	})
	return all
}

func source(files *token.FileSet, n ast.Node) string {
	var b strings.Builder
	if n == nil || format.Node(&b, files, n) != nil {
		return ""
	}
	return b.String()
}

var (
	scriptLine = regexp.MustCompile(`(?m)^!?[ \t]*(?:\[[^\]]*\][ \t]*)?(?:exec|exitcode[ \t]+\S+)[ \t]+(\S+)[ \t]*(.*)$`)
	quoted     = regexp.MustCompile(`"[^"]*"`)
	notPOSIX   = regexp.MustCompile(`\bsed (?:-[a-zA-Z]+ )*-[a-zA-Z]*i`)
)

// foreignToScript returns those of a script. In the argument of sh -c, the first word of each command counts.
func foreignToScript(name string, text []byte) (all []string) {
	for _, m := range scriptLine.FindAllStringSubmatch(string(txtar.Parse(text).Comment), -1) {
		started := []string{m[1]}
		if _, command, ok := strings.Cut(strings.TrimSuffix(m[2], "'"), "-c '"); m[1] == "sh" && ok {
			for _, simple := range regexp.MustCompile(`[;|&]+`).Split(quoted.ReplaceAllString(command, "Q"), -1) {
				words := slices.DeleteFunc(strings.Fields(simple), func(w string) bool { return strings.Contains(w, "=") && w != "=" })
				if len(words) > 0 {
					started = append(started, words[0])
				}
			}
		}
		for _, program := range started {
			if !slices.Contains(programs, program) {
				all = append(all, program)
			}
		}
		if option := notPOSIX.FindString(m[0]); option != "" {
			all = append(all, option)
		}
	}
	return all
}

func TestForeignProgramsAreFound(t *testing.T) {
	for _, test := range []struct {
		foreign    func(string, []byte) []string
		text, want string
	}{
		{foreignToGo, `exec.Command("git", "jq")`, "[]"},
		{foreignToGo, `exec.CommandContext(ctx, graft(t), "jq")`, "[]"},
		{foreignToGo, `exec.Command("jq")`, `["jq"]`},
		{foreignToGo, `exec.CommandContext(t.Context(), "skopeo", "copy")`, `["skopeo"]`},
		{foreignToGo, `exec.LookPath("dot")`, `["dot"]`},
		{foreignToGo, `exec.Command(name)`, `[name]`},
		{foreignToGo, `use(exec.Cmd{Path: "/usr/bin/jq"})`, `[something by exec.Cmd]`},
		{foreignToGo, `use(&os.ProcAttr{})`, `[something by os.ProcAttr]`},
		{foreignToGo, `ts.Exec("yq")`, `["yq"]`},
		{foreignToGo, `import run "os/exec"`, `[an import of os/exec under another name]`},
		{foreignToScript, "exec graft x\n! exec cmp a b\nexec sh -c 'sed \"s|a;b|c|\" x > y; X=1 graft y && [ $? = 2 ]'\n-- x --\nexec jq", "[]"},
		{foreignToScript, "exec jq .", "[jq]"},
		{foreignToScript, "! exec yq", "[yq]"},
		{foreignToScript, "[unix] exec dot x", "[dot]"},
		{foreignToScript, "exitcode 2 skopeo copy", "[skopeo]"},
		{foreignToScript, "exec sh -c 'cat x | jq . && yq'", "[jq yq]"},
		{foreignToScript, "exec sed -i s/a/b/ x", "[sed -i]"},
	} {
		text := test.text
		if strings.Contains(text, "(") {
			text = "func f() { " + text + " }"
		}
		if strings.HasPrefix(text, "func") || strings.HasPrefix(text, "import") {
			text = "package x\n" + text
		}
		if got := fmt.Sprint(test.foreign("x", []byte(text))); got != test.want {
			t.Errorf("%s: %s, want %s", test.text, got, test.want)
		}
	}
}
