package config

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/testkit/corpus"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template/kind"
)

// The test puts each release of the corpus into a repository with its original layout. The plan must make the
// request that the release's configuration describes. Other tests check that templates accept such requests.
func TestReleasesThatHappened(t *testing.T) {
	corpus.Each(t, func(t *testing.T, c corpus.Corpus) {
		files := c.Files(t, "replay/*/case.json")
		for _, file := range files {
			replay(t, file)
		}
		t.Logf("%d releases planned", len(files))
	})
}

func replay(t *testing.T, file string) {
	var c struct {
		Operator, Version, CSV, Template string
		Config                           json.RawMessage
	}
	read(t, file, &c)
	var want struct {
		Channels, Skips     []string
		Replaces, SkipRange string
		DefaultChannel      string
	}
	if err := json.Unmarshal(c.Config, &want); err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(filepath.Dir(file))
	before, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "before.yaml"))
	folder := "operators/" + c.Operator + "/"
	fsys := fstest.MapFS{
		folder + c.Version + "/release-config.yaml": &fstest.MapFile{Data: []byte(`{"catalog_templates": [` + string(c.Config) + `]}`)},
		folder + "ci.yaml": &fstest.MapFile{Data: []byte(`{"fbc": {"enabled": true, "catalog_mapping": [{"template_name": "` + c.Template +
			`", "catalog_names": ["v4.16", "v4.17"], "type": "olm.template.basic"}]}, "reviewers": ["a"]}`)},
	}
	if before != nil {
		fsys[folder+"catalog-templates/"+c.Template] = &fstest.MapFile{Data: before}
	}
	setup, layout, err := Default().Setup(fsys, c.Operator, c.Version)
	if err != nil || layout != Community {
		t.Errorf("%s: %s, %v", name, layout, err)
		return
	}
	b := kind.Bundle{Name: c.CSV, Version: semver.MustParse(c.Version), Package: c.Operator, Image: newImage(t, file, before)}
	// The community's pipeline renders every mapped catalog, even for bundles whose label excludes it.
	p, err := plan.Make(fsys, plan.Input{Bundle: b, Setup: setup, OpenShiftVersions: labelOf(c.Version)})
	if err != nil || len(p.Targets) != 1 || len(p.Targets[0].Requests) != 1 || len(p.Targets[0].Catalogs) != 2 {
		t.Errorf("%s: planned %+v, %v", name, p, err)
		return
	}
	target := p.Targets[0]
	r := target.Requests[0]
	if target.Template != folder+"catalog-templates/"+c.Template || target.Create != (before == nil) || !slices.Equal(r.Channels, want.Channels) ||
		r.Replaces != want.Replaces || !slices.Equal(r.Skips, want.Skips) || r.SkipRange != want.SkipRange || r.DefaultChannel != want.DefaultChannel {
		t.Errorf("%s: planned %+v, the release says %s", name, target, c.Config)
	}
}

// labelOf returns a label that excludes one or both of the mapped catalogs, or that is invalid.
func labelOf(version string) string {
	labels := []string{"v4.17", "=v4.12", "v4.16-v4.16", "latest", ""}
	return labels[len(version)%len(labels)]
}

var images = regexp.MustCompile(`[a-z0-9-]+(\.[a-z0-9-]+)+(/[a-z0-9._-]+)+[:@][A-Za-z0-9._:-]+`)

// newImage returns the image that the release added to the template.
func newImage(t *testing.T, file string, before []byte) string {
	t.Helper()
	after, err := os.ReadFile(filepath.Join(filepath.Dir(file), "after.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	found := images.FindAll(after, -1)
	for _, image := range found {
		if !bytes.Contains(before, image) {
			return string(image)
		}
	}
	if len(found) == 0 {
		return "quay.io/example/op-bundle:v1.0.0"
	}
	return string(found[0]) // the template already had it
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}
