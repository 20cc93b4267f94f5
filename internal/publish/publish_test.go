package publish

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/gitrepo"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/outbound"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

// memory is a repository that stores branches as their changes.
type memory struct {
	files    fstest.MapFS
	commit   int
	races    int // deliveries that still lose
	other    func(fstest.MapFS)
	branches map[string]gitrepo.Delivery
	heads    map[string]string
	edited   map[string]bool
	kept     error  // result of deleting a branch
	moved    string // a branch that has moved
	made     []gitrepo.Delivery
}

func (m *memory) Base(context.Context) (fs.FS, string, error) {
	return maps.Clone(m.files), string(rune('a' + m.commit)), nil
}

func (m *memory) Inspect(_ context.Context, branch string) (gitrepo.State, error) {
	d, exists := m.branches[branch]
	state := gitrepo.State{Branch: branch, Exists: exists, OnlyOurs: !m.edited[branch]}
	if exists {
		state.Head = m.heads[branch]
		if branch == m.moved {
			state.Head += ", moved"
		}
		message := "x\n"
		for _, r := range d.Requests {
			message += "\n" + gitrepo.TrailerKey + ": " + r
		}
		state.Commits = []gitrepo.Commit{{Message: message}}
	}
	return state, nil
}

func (m *memory) Deliver(_ context.Context, d gitrepo.Delivery) (gitrepo.Delivered, error) {
	if m.races > 0 {
		m.races--
		m.commit++
		m.other(m.files)
		return gitrepo.Delivered{}, failure.New(failure.GitRaceLost, "pushing: the base moved")
	}
	if d.Base != string(rune('a'+m.commit)) {
		return gitrepo.Delivered{}, failure.New(failure.GitRaceLost, "pushing: made upon another base")
	}
	if m.edited[d.Branch] && !d.Force {
		return gitrepo.Delivered{}, failure.New(failure.BranchEdited, "pushing: somebody committed to it")
	}
	if m.branches == nil {
		m.branches, m.heads = map[string]gitrepo.Delivery{}, map[string]string{}
	}
	m.branches[d.Branch] = d
	m.made = append(m.made, d)
	m.heads[d.Branch] = fmt.Sprintf("commit %d", len(m.made))
	return gitrepo.Delivered{Commit: m.heads[d.Branch], Changed: true}, nil
}

func (m *memory) Delete(_ context.Context, branch, _ string) error {
	if m.kept != nil {
		return m.kept
	}
	delete(m.branches, branch)
	return nil
}

// merge merges a branch into the base.
func (m *memory) merge(branch string) {
	for name, f := range m.branches[branch].Files {
		m.files[name] = &fstest.MapFile{Data: f.Data}
	}
	for _, name := range m.branches[branch].Deleted {
		delete(m.files, name)
	}
	delete(m.branches, branch)
	m.commit++
}

const basicTemplate = `---
schema: olm.template.basic
entries:
- schema: olm.package
  name: op
  defaultChannel: stable
- schema: olm.channel
  package: op
  name: stable
  entries:
  - name: op.v1.0.0
- schema: olm.bundle
  image: REGISTRY/op:v1.0.0
`

type setup struct {
	*registry.Server
	repo  *memory
	forge proposals
	o     Run
}

func newSetup(t *testing.T) *setup {
	t.Helper()
	s, err := registry.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	w := &setup{Server: s}
	w.push(t, "1.0.0")
	client, err := oci.New(oci.Options{Retry: outbound.Retry{Sleep: noSleep}})
	if err != nil {
		t.Fatal(err)
	}
	w.repo = &memory{files: fstest.MapFS{"catalog-templates/v4.20.yaml": {Data: []byte(strings.ReplaceAll(basicTemplate, "REGISTRY", s.Addr))}}}
	text := func(pattern plan.Pattern) Text { return func(b kind.Bundle) (string, error) { return pattern.For(b) } }
	w.o = Run{
		Ports: Ports{Registry: client, Repository: w.repo, Forge: &w.forge, Sleep: noSleep, Setup: func(Base, kind.Bundle) (*plan.Setup, error) {
			return &plan.Setup{Targets: []plan.TargetSetup{{Template: "catalog-templates/v4.20.yaml", Catalogs: []plan.CatalogSetup{{Path: "catalogs/v4.20/op/catalog.yaml", Create: true}}}}}, nil
		}},
		Log:   Log{Line: func(string, ...any) {}, Group: func(string) func() { return func() {} }},
		Texts: Texts{Branch: text("graft/{package}/{version}"), Title: text("Publish {package} {version}"), Message: text("Publish {package} {version}"), RebuildTitle: text("Rebuild {package} {version}"), RebuildMessage: text("Rebuild {package} {version}")},
	}
	return w
}

func noSleep(context.Context, time.Duration) error { return nil }

func (w *setup) push(t *testing.T, version string) event.Publication {
	t.Helper()
	return w.tag(t, "v"+version, version)
}

func (w *setup) tag(t *testing.T, tag, version string) event.Publication {
	t.Helper()
	digest, err := w.Push("op:"+tag, registry.Small("op", "op.v"+version, version), registry.Form{})
	if err != nil {
		t.Fatal(err)
	}
	return event.Publication{Repository: w.Addr + "/op", Tag: tag, Digest: digest}
}

func (w *setup) publish(t *testing.T, p event.Publication) *Result {
	t.Helper()
	r := w.try(p, w.o)
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	return r
}

func (w *setup) try(p event.Publication, o Run) *Result {
	all, _ := Publish(context.Background(), []Request{{Publication: p}}, o)
	return all[0]
}

func TestPublish(t *testing.T) {
	w := newSetup(t)
	p := w.push(t, "1.1.0")
	r := w.publish(t, p)
	if r.Result != "created" || r.Branch != "graft/op/1.1.0" || len(w.forge.all) != 1 || w.forge.all[0].Title != "Publish op 1.1.0" {
		t.Fatalf("%+v %+v", r, w.forge.all)
	}
	if got := strings.Join(r.Work.Changed(), " "); got != "catalog-templates/v4.20.yaml catalogs/v4.20/op/catalog.yaml" {
		t.Errorf("changed %s", got)
	}
	for _, want := range []string{"<code>op.v1.1.0</code>", "replaces op.v1.0.0", "```mermaid", "no findings", "graft publish --dry-run --remote --image"} {
		if !strings.Contains(r.Body, want) {
			t.Errorf("the body lacks %q:\n%s", want, r.Body)
		}
	}
	w.repo.merge("graft/op/1.1.0")
	if again := w.publish(t, p); again.Result != "unchanged" || len(w.forge.all) != 1 {
		t.Errorf("the second run: %+v", again)
	}
	// A backport goes in between, and costs one pull besides its own.
	w.Reset()
	r = w.publish(t, w.push(t, "1.0.1"))
	if !strings.Contains(r.Body, "replaces op.v1.0.1") || r.Work.Targets[0].Catalogs[0].Pulled != 1 {
		t.Errorf("%+v\n%s", r.Work.Targets[0], r.Body)
	}
}

// If the base moves, Graft starts again on the new base.
func TestRace(t *testing.T) {
	w := newSetup(t)
	p, other := w.push(t, "1.2.0"), w.push(t, "1.1.0")
	w.repo.races = 2
	w.repo.other = func(files fstest.MapFS) {
		if strings.Contains(string(files["catalog-templates/v4.20.yaml"].Data), "v1.1.0") {
			return
		}
		rival := *w
		rival.repo = &memory{files: maps.Clone(files)}
		rival.o.Repository = rival.repo
		rival.publish(t, other)
		rival.repo.merge("graft/op/1.1.0")
		maps.Copy(files, rival.repo.files)
	}
	r := w.publish(t, p)
	text := string(w.repo.branches[r.Branch].Files["catalog-templates/v4.20.yaml"].Data)
	if r.Result != "created" || !strings.Contains(text, "- name: op.v1.2.0\n    replaces: op.v1.1.0") {
		t.Errorf("%s\n%s", r.Result, text)
	}
	w.repo.races = 99
	if r := w.try(w.push(t, "1.3.0"), w.o); !failure.Is(r.Err, failure.GitRaceLost) || r.Result != Failed {
		t.Errorf("got %+v, want git-race-lost after ten tries", r)
	}
}

func TestRefused(t *testing.T) {
	w := newSetup(t)
	p := w.push(t, "1.1.0")
	for name, tt := range map[string]struct {
		change func(*Request)
		want   failure.Code
	}{
		"a tag that moved":      {func(r *Request) { r.Tag = "v1.0.0" }, failure.DigestMismatch},
		"nothing there":         {func(r *Request) { r.Tag, r.Digest = "v9", "" }, failure.BundleNotFound},
		"other than announced":  {func(r *Request) { r.Said.Name = "other.v1.1.0" }, failure.BundleConflict},
		"of another package":    {func(r *Request) { r.Said = event.Said{Name: "op.v1.1.0", Package: "other"} }, failure.BundleConflict},
		"of another version":    {func(r *Request) { r.Said = event.Said{Package: "op", Version: "1.1.1"} }, failure.BundleConflict},
		"a predecessor missing": {func(r *Request) { r.Asked.Edges.Replaces = "op.v0.5.0" }, failure.PredecessorMissing},
		"two heads":             {func(r *Request) { r.Asked.Edges.SkipRange = "<1.0.0" }, failure.GraphInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			r := Request{Publication: p}
			tt.change(&r)
			results, err := Publish(context.Background(), []Request{r}, w.o)
			if !failure.Is(err, tt.want) || results[0].Result != Failed {
				t.Fatalf("got %v, want %s", err, tt.want.Class())
			}
			if len(w.repo.made) > 0 || len(w.forge.all) > 0 {
				t.Error("something was delivered")
			}
		})
	}
}

// The sender's channels apply if the request names none.
func TestSaidChannels(t *testing.T) {
	w := newSetup(t)
	p := w.push(t, "1.1.0")
	p.Said = event.Said{Name: "op.v1.1.0", Package: "op", Version: "1.1.0", Channels: []string{"fast"}}
	w.publish(t, p)
	if text := w.template("graft/op/1.1.0"); !strings.Contains(text, "  name: fast\n  entries:\n  - name: op.v1.1.0\n") || strings.Contains(text, "replaces") {
		t.Errorf("said is fast, and it goes into\n%s", text)
	}
	if got := w.forge.all[0].Requests; len(got) != 1 || !strings.HasSuffix(got[0], "?channels=fast") {
		t.Errorf("the request is kept as %v", got)
	}
	other := newSetup(t)
	asked := Request{Publication: other.push(t, "1.1.0"), Asked: plan.Asked{Channels: []string{"slow"}}}
	asked.Said = p.Said
	if _, err := Publish(context.Background(), []Request{asked}, other.o); err != nil {
		t.Fatal(err)
	}
	if text := other.template("graft/op/1.1.0"); !strings.Contains(text, "name: slow") || strings.Contains(text, "name: fast") {
		t.Errorf("asked is slow, and it goes into\n%s", text)
	}
}

// Graft retries a registry that announces an image before it serves it.
func TestAnnouncedEarly(t *testing.T) {
	w := newSetup(t)
	asked := 0
	w.o.Patience = time.Minute
	w.o.Sleep = func(context.Context, time.Duration) error {
		if asked++; asked == 3 {
			w.push(t, "1.1.0")
		}
		return nil
	}
	if r := w.publish(t, event.Publication{Repository: w.Addr + "/op", Tag: "v1.1.0"}); r.Result != "created" || asked != 3 {
		t.Errorf("%s after %d waits", r.Result, asked)
	}
}

func TestDryRun(t *testing.T) {
	w := newSetup(t)
	w.o.DryRun = true
	if r := w.publish(t, w.push(t, "1.1.0")); r.Result != "planned" || r.Body == "" || len(w.repo.made) > 0 || len(w.forge.all) > 0 {
		t.Errorf("%+v", r)
	}
}

// Text from a registry, a bundle or an event cannot mention people, close issues, run commands or break the
// table of the body.
func TestHostileText(t *testing.T) {
	w := &Work{LeftOut: []plan.LeftOut{{Template: "a|b", Reason: "@everyone fixes #1 <!-- x --> ::set-output::"}}, Warnings: []string{"@all"}}
	hostile := &bundleImage{versioned: versioned{bundle: kind.Bundle{Name: "op|`x`\n| <b>", Package: "@team", Image: "a/b:c@d"}}}
	hostile.asked.Asked.Template = "``` @x"
	w.subjects = []subject{hostile}
	w.Targets = []Target{{Template: "t", Changes: []kind.Change{{What: kind.EntryAdded, Channel: "c|d", Name: "</details>", To: "closes #7"}}}}
	var b strings.Builder
	w.describe(&b)
	body := b.String()
	for _, bad := range []string{"@everyone", "@team", "@all", "fixes #1", "closes #7", "<!-- x", "</details></", "c|d", "<b>", "'``` @x"} {
		if strings.Contains(body, bad) {
			t.Errorf("the body holds %q:\n%s", bad, body)
		}
	}
}
