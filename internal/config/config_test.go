package config

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/schema"
)

// full contains every key.
const full = `# yaml-language-server: $schema=graft.schema.json
package: op
targets:
- template: catalog-templates/semver.yaml
  create: semver
  rules:
  - versions: prerelease
    channels: [Candidate]
  - versions: '>=2.0.0'
    channels: [Candidate, Fast]
    defaultChannel: stable-v{major}
  catalogs:
  - path: catalogs/v4.16/op/catalog.yaml
    platform: "4.16"
    metadata: bundle-object
  - path: catalogs/next/{package}.json
    name: next
    create: true
    include:
    - {versions: '>=1.2.0-0', channels: [stable*], platforms: {min: "4.14", max: v4.20, drop: ["4.15"]}}
    exclude: [{channels: [alpha]}]
    heads: {stable: op.v1.4.0}
    danglingReplaces: remove
- template: other/*.yaml
  rebuild: refuse
  versionsLabel: ignore
  semverSkips: channel
  package: other
  channels: [stable, 'v{major}.{minor}']
  defaultChannel: stable
  edges:
    replaces: other.v{major}.{minor}.{previousPatch}
    allowMissingPredecessor: true
operands:
- image: quay.io/coreos/etcd
  name: etcd
  files: [catalogs/operands.yaml]
- image: quay.io/example/agent
  name: op-related
  schema: olm.relatedimages
  as: agent-default
  package: op
  files: [a.yaml, b.yaml]
  catalogs: [c.yaml]
catalogSources:
- path: ./deploy/catalogsource.yaml
  image: registry.example.com:5000/example/catalog:v4.20
- path: deploy/all.yaml
  image: quay.io/example/catalog:latest
  template: quay.io/example/catalog:v{kube_major_version}.{kube_minor_version}
  form: new
  name: example
  namespace: olm
  catalogs: [c.yaml]
edges:
  explicit: true
  skipRange: '>={major}.{minor}.0 <{version}'
  rewire: false
registries:
  quay.io/example-stage/op-bundle: registry.example.com:5000/example/op-bundle
allowedRepositories: ['quay.io/example-stage/*']
drift: refuse
skipTags: [latest]
levels:
  stable-head-prerelease: error
  edges-differ: off
pullRequest:
  title: "{name}"
  intro: |
    See {version}.
  base: release-1.x
  branch: bot/{package}
  strategy: package
  supersede: true
  labels: [a label, b]
  reviewers: [octo-cat]
  teamReviewers: [team.a]
  assignees: [hub_ot]
  milestone: "3"
  draft: true
  autoMerge: squash
  maintainerCanModify: false
commit:
  author: Release Bot <release@example.com>
  committer: C <c@example.com>
  signoff: true
  message: Add {name}
  method: api
sum: catalog.sum
rebuild: replace
semverSkips: minor
`

func TestParse(t *testing.T) {
	got, err := Parse("graft.yaml", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		File:    "graft.yaml",
		Package: "op",
		Operands: []plan.OperandSetup{
			{Image: "quay.io/coreos/etcd", Name: "etcd", Schema: "olm.operand", As: "etcd", Files: []string{"catalogs/operands.yaml"}},
			{Image: "quay.io/example/agent", Name: "op-related", Schema: "olm.relatedimages", As: "agent-default", Package: "op", Files: []string{"a.yaml", "b.yaml"}, Catalogs: []string{"c.yaml"}},
		},
		CatalogSources: []plan.CatalogSourceSetup{
			{Path: "deploy/catalogsource.yaml", Repository: "registry.example.com:5000/example/catalog", Tag: "v4.20"},
			{
				Path: "deploy/all.yaml", Repository: "quay.io/example/catalog", Tag: "latest", Template: "quay.io/example/catalog:v{kube_major_version}.{kube_minor_version}",
				Form: "new", Name: "example", Namespace: "olm", Catalogs: []string{"c.yaml"},
			},
		},
		Targets: []plan.TargetSetup{{
			Line: 4, Col: 13, Template: "catalog-templates/semver.yaml", Create: "semver",
			Rules: []plan.ChannelRule{
				{Versions: "prerelease", Channels: []plan.Pattern{"Candidate"}},
				{Versions: ">=2.0.0", Channels: []plan.Pattern{"Candidate", "Fast"}, DefaultChannel: "stable-v{major}"},
			},
			Catalogs: []plan.CatalogSetup{
				{Path: "catalogs/v4.16/op/catalog.yaml", Platform: "4.16", Metadata: plan.BundleObject},
				{Path: "catalogs/next/{package}.json", Name: "next", Include: []plan.BundleRule{{Versions: ">=1.2.0-0", Channels: []string{"stable*"}, Platforms: plan.PlatformRange{Min: "4.14", Max: "v4.20", Drop: []string{"4.15"}}}},
					Exclude: []plan.BundleRule{{Channels: []string{"alpha"}}}, Heads: map[string]string{"stable": "op.v1.4.0"}, DanglingReplaces: plan.RemoveDangling, Metadata: plan.Auto, Create: true},
			},
		}, {
			Line: 24, Col: 13, Template: "other/*.yaml", Package: "other",
			Rules:          []plan.ChannelRule{{Channels: []plan.Pattern{"stable", "v{major}.{minor}"}}},
			DefaultChannel: "stable",
			Edges:          &plan.EdgeRule{Replaces: "other.v{major}.{minor}.{previousPatch}", AllowMissingPredecessor: true},
			Rebuild:        "refuse", VersionsLabel: plan.IgnoreLabel,
			SemverSkips: "channel",
		}},
		Rebuild:             "replace",
		SemverSkips:         "minor",
		Edges:               plan.EdgeRule{Explicit: true, SkipRange: ">={major}.{minor}.0 <{version}", NoRewire: true},
		Registries:          map[string]string{"quay.io/example-stage/op-bundle": "registry.example.com:5000/example/op-bundle"},
		AllowedRepositories: []string{"quay.io/example-stage/*"},
		SkipTags:            []string{"latest"},
		Drift:               RefuseDrift,
		Levels:              map[string]graph.Level{"stable-head-prerelease": graph.Error, "edges-differ": graph.Off},
		PullRequest: PullRequest{
			Title: "{name}", Intro: "See {version}.\n", Base: "release-1.x", Branch: "bot/{package}", Strategy: ForPackage, Supersede: true,
			Labels: []string{"a label", "b"}, Reviewers: []string{"octo-cat"}, TeamReviewers: []string{"team.a"}, Assignees: []string{"hub_ot"},
			Milestone: "3", Draft: true, AutoMerge: "squash",
		},
		Commit: Commit{Author: Person{"Release Bot", "release@example.com"}, Committer: Person{"C", "c@example.com"}, Signoff: true, Message: "Add {name}", Method: WithAPI},
		Sum:    "catalog.sum",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

func TestDefaultsThatDepend(t *testing.T) {
	c, err := Parse("", []byte("pullRequest: {strategy: package}\n"))
	if err != nil || c.PullRequest.Branch != "graft/{package}/rolling" {
		t.Errorf("the rolling branch is %s (%v)", c.PullRequest.Branch, err)
	}
	c, err = Parse("", []byte("skipTags: []\n"))
	if err != nil || c.SkipTags == nil || c.AllowedRepositories != nil {
		t.Errorf("an empty list is %v, a missing one %v (%v)", c.SkipTags, c.AllowedRepositories, err)
	}
}

func TestRead(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	for name, tt := range map[string]struct {
		fsys fstest.MapFS
		file string
		err  string
	}{
		"none":  {fstest.MapFS{"README.md": file("")}, "", ""},
		"yaml":  {fstest.MapFS{".github/graft.yaml": file("package: op")}, ".github/graft.yaml", ""},
		"yml":   {fstest.MapFS{".github/graft.yml": file("package: op")}, ".github/graft.yml", ""},
		"both":  {fstest.MapFS{".github/graft.yaml": file("package: op"), ".github/graft.yml": file("package: op")}, "", ".github/graft.yaml: reading the configuration: there is also .github/graft.yml"},
		"wrong": {fstest.MapFS{".github/graft.yml": file("pakage: op")}, "", ".github/graft.yml:1:1: reading the configuration: there is no key pakage"},
		"empty": {fstest.MapFS{".github/graft.yaml": file("# nothing yet\n")}, "", ".github/graft.yaml:1:1: reading it: it is not a mapping"},
		"large": {fstest.MapFS{".github/graft.yaml": file("package: op\n#" + strings.Repeat("x", 1<<20))}, "", ".github/graft.yaml:1:1: reading it: it has more than 1024 KiB"},
		"dir":   {fstest.MapFS{".github/graft.yaml/x": file("")}, "", "reading the configuration"},
	} {
		c, err := Read(tt.fsys)
		switch {
		case tt.err == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err) || !failure.Is(err, failure.Config)):
			t.Errorf("%s: %v, want %s", name, err, tt.err)
		case err == nil && c.File != tt.file:
			t.Errorf("%s: read %q, want %q", name, c.File, tt.file)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"package", "targets", "skipRange", "channels"}
	for word, want := range map[string]string{
		"packag": "package", "PACKAGE": "package", "skip_range": "skipRange", "skip-range": "skipRange", "target": "targets",
		"chanel": "channels", "labels": "", "": "", "x": "", strings.Repeat("package", 100): "",
	} {
		if got := schema.Nearest(word, known); got != want {
			t.Errorf("nearest to %q is %q, want %q", word, got, want)
		}
	}
}
