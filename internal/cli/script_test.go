package cli

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/olmgraft/graft/internal/testkit/registry"
)

var update = flag.Bool("update", false, "rewrite what the scripts and generated pages expect")

// TestScripts runs the commands that a person types.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Setup: func(env *testscript.Env) error {
			env.Setenv("ROOT", root)
			return nil
		},
		Dir:                 "../../testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exitcode":    exitCode,
			"push":        push,
			"requests":    requests,
			"catalog":     catalogImage,
			"repository":  makeRepository,
			"enterprise":  enterprise,
			"pulls":       pulls,
			"merge":       merge,
			"setstate":    setState,
			"remote":      remote,
			"person":      person,
			"alone":       alone,
			"plain":       plain,
			"servedemo":   serveDemo,
			"head":        headOf,
			"changed":     changedFiles,
			"branches":    branches,
			"branch":      branch,
			"workflow":    workflowToken,
			"report":      holdReport,
			"outputs":     outputs,
			"layout":      layout,
			"quickstart":  quickStart,
			"freeaddress": freeAddress,
			"announce":    announce,
			"dispatched":  dispatched,
		},
	})
}

// exitcode 31 graft insert ... runs a command and checks its exit code.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode CODE COMMAND [ARG...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if e, ok := err.(interface{ ExitCode() int }); ok {
		got = itoa(e.ExitCode())
	} else if err != nil {
		ts.Fatalf("running %v: %v", args[1:], err)
	}
	if got != args[0] {
		ts.Fatalf("%v exited with %s, want %s", args[1:], got, args[0])
	}
}

// push op:v1.0.0 DIR stores a bundle directory in the script's own registry, whose address is in $REGISTRY.
// With a package and a version it makes a small bundle.
func push(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: push REPOSITORY:TAG DIR, or push REPOSITORY:TAG PACKAGE VERSION")
	}
	s := serversOf(ts).Registry
	var b registry.Bundle
	var err error
	if len(args) == 3 {
		b = registry.Small(args[1], args[1]+".v"+args[2], args[2])
	} else {
		b, err = registry.FromDir(os.DirFS(ts.MkAbs(args[1])))
		ts.Check(err)
	}
	_, err = s.Push(args[0], b, registry.Form{})
	ts.Check(err)
}

// requests 4 checks the number of requests since the last call. Without a number it starts to count.
func requests(ts *testscript.TestScript, _ bool, args []string) {
	s := serversOf(ts).Registry
	if got := itoa(s.Count()); len(args) > 0 && got != args[0] {
		ts.Fatalf("%s requests, want %v", got, args)
	}
	s.Reset()
}

// catalog op-catalog:v1 FILE stores a catalog image with the file.
func catalogImage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: catalog REPOSITORY:TAG FILE")
	}
	text, err := os.ReadFile(ts.MkAbs(args[1]))
	ts.Check(err)
	archive, err := registry.Tar(registry.Entry{Name: "configs/op/catalog.yaml", Data: text})
	ts.Check(err)
	layer, err := registry.Pack(archive, registry.Gzip, true)
	ts.Check(err)
	_, err = serversOf(ts).Registry.PushImage(args[0], registry.Image{
		OCI: true, Labels: map[string]string{"operators.operatorframework.io.index.configs.v1": "/configs"}, Layers: []registry.Layer{layer},
	})
	ts.Check(err)
}
