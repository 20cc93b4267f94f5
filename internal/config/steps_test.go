package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/reference"
)

func TestRewrite(t *testing.T) {
	c, err := Parse("graft.yaml", []byte(`targets:
- template: a.yaml
  rewrite: [{from: 'quay.io/tenant/op-*', to: 'registry.example.com:5000/op'}]
  catalogs:
  - path: a/catalog.yaml
  - path: b/catalog.yaml
    rewrite: [{from: quay.io/, to: example.com/}]
`))
	if err != nil {
		t.Fatal(err)
	}
	target := c.Targets[0]
	if want := (reference.Rewrites{{From: "quay.io/tenant/op-*", To: "registry.example.com:5000/op"}}); !slices.Equal(target.Rewrite, want) {
		t.Errorf("the target has %v", target.Rewrite)
	}
	if want := (reference.Rewrites{{From: "quay.io/", To: "example.com/"}}); !slices.Equal(target.Catalogs[1].Rewrite, want) || target.Catalogs[0].Rewrite != nil {
		t.Errorf("the catalogs have %v and %v", target.Catalogs[0].Rewrite, target.Catalogs[1].Rewrite)
	}
}

func TestFiles(t *testing.T) {
	c, err := Parse("graft.yaml", []byte(`targets:
- template: a.yaml
  files:
  - path: '{package}.env'
    at: DIGEST
  - path: images.json
    at: '[name={name}].image'
    value: '{image}'
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []plan.FileSetup{
		{Line: 4, Col: 11, Path: "{package}.env", At: "DIGEST", Value: "{repository}@{digest}"},
		{Line: 6, Col: 11, Path: "images.json", At: "[name={name}].image", Value: "{image}"},
	}
	if got := c.Targets[0].Files; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAfter(t *testing.T) {
	c, err := Parse("graft.yaml", []byte("after:\n  run: [./a.sh, 'b | c']\n  changes: ['deploy/**']\n"))
	want := plan.AfterSetup{File: "graft.yaml", Line: 2, Col: 8, Run: []string{"./a.sh", "b | c"}, Changes: []string{"deploy/**"}}
	if err != nil || !reflect.DeepEqual(c.After, want) {
		t.Errorf("got %v, want %v (%v)", c.After, want, err)
	}
	setup, _, err := c.Setup(fstest.MapFS{}, "op", "1.0.0")
	if err != nil || !reflect.DeepEqual(setup.After, want) {
		t.Errorf("the setup has %v (%v)", setup.After, err)
	}
	for text, want := range map[string]string{
		"after: {run: [a]}":                      "graft.yaml:1:8: reading after: changes is missing",
		"after: {run: [], changes: [a]}":         "graft.yaml:1:14: reading after.run",
		"after: {run: [' '], changes: [a]}":      "graft.yaml:1:15: reading after.run[0]",
		"after: {run: [a], changes: ['../x/*']}": `graft.yaml:1:29: reading after.changes[0]: "../x/*" is not a path within the repository`,
	} {
		if _, err := Parse("graft.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestStepsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"rewrite: [{from: 'quay.io/a@sha256:1', to: b.io}]":                  `3:20: reading targets[0].rewrite[0].from: "quay.io/a@sha256:1" is not the beginning of image names`,
		"rewrite: [{from: quay.io/a, to: 'b.io/*'}]":                         `3:35: reading targets[0].rewrite[0].to: "b.io/*" is not the beginning of image names`,
		"rewrite: [{from: quay.io/a}]":                                       `3:13: reading targets[0].rewrite[0]: to is missing`,
		"rewrite: [{from: quay.io/a, to: quay.io/a/b}]":                      `3:12: reading targets[].rewrite: what quay.io/a becomes, quay.io/a/b, would be rewritten again`,
		"catalogs: [{path: c.yaml, rewrite: [{from: a.io, to: 'a.io/b/'}]}]": `3:38: reading targets[].rewrite: what a.io becomes, a.io/b/, would be rewritten again`,
		"files: [{path: a.env, at: 'images[0]'}]":                            `3:29: reading targets[].files: images[0] is not the name of a variable`,
		"files: [{path: a.json, at: 'images[0'}]":                            `3:30: reading targets[].files: images[0 has a bracket that is not closed`,
		"files: [{path: '../a.env', at: A}]":                                 `3:18: reading targets[0].files[0].path: "../a.env" is not a path within the repository`,
		"files: [{path: a.env, at: A, value: '{sha}'}]":                      `3:39: reading targets[0].files[0].value: "{sha}" is not a text that Graft can fill in`,
	} {
		_, err := Parse("graft.yaml", []byte("targets:\n- template: a.yaml\n  "+text+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
