package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/olmgraft/graft/internal/command"
)

// Every report is valid by its schema.
func TestReportsHoldToTheSchema(t *testing.T) {
	compiler := jsonschema.NewCompiler()
	schema, err := compiler.Compile("../../docs/report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	template := filepath.Join(dir, "basic.yaml")
	src, err := os.ReadFile("../../testdata/templates/basic.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(template, src, 0o644); err != nil {
		t.Fatal(err)
	}
	insert := []string{"insert", "--json", "--image", "quay.io/example/op-bundle:v1.0.1", "--name", "op.v1.0.1", "--version", "1.0.1", "--package", "op", "--channel", "stable,fast"}
	for _, args := range [][]string{
		{"detect", "--json", template},
		{"detect", "--json", "../../testdata/templates/semver.yaml"},
		append(insert, "--dry-run", template),
		append(insert, template),
		append(insert, template),
		append(insert, "--replaces", "op.v0.0.1", template),
		append(insert, filepath.Join(dir, "missing.yaml")),
		{"insert", "--json", template},
		{"formulary", "--json"},
		{"formulary", "--json", "deprecate"},
		{"nonsense", "--json"},
	} {
		var out, errs bytes.Buffer
		Main(context.Background(), args, command.IO{In: strings.NewReader(""), Out: &out, Err: &errs, Env: func(string) (string, bool) { return "", false }})
		report, err := jsonschema.UnmarshalJSON(&out)
		if err != nil {
			t.Errorf("%v prints no JSON: %v", args, err)
			continue
		}
		if err := schema.Validate(report); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
}
