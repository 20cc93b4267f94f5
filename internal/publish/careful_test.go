package publish

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template/kind"
)

// mergeKeeping merges a branch without deleting it.
func (w *setup) mergeKeeping(branch string) {
	d := w.repo.branches[branch]
	w.repo.merge(branch)
	w.repo.branches[branch] = d
}

// only restricts the template to a range of versions.
func (w *setup) only(versions plan.VersionRule) {
	w.o.Setup = func(Base, kind.Bundle) (*plan.Setup, error) {
		return &plan.Setup{File: ".github/graft.yaml", Targets: []plan.TargetSetup{{
			Template: "catalog-templates/v4.20.yaml", Rules: []plan.ChannelRule{{Versions: versions, Channels: []plan.Pattern{"stable"}}},
		}}}, nil
	}
}

func (w *setup) refresh(t *testing.T) *Result {
	t.Helper()
	results, err := Refresh(context.Background(), w.o)
	if err != nil || len(results) != 1 {
		t.Fatalf("%v %v", results, err)
	}
	return results[0]
}

func TestRefreshClosesOnlyWhatIsDone(t *testing.T) {
	t.Run("edited", func(t *testing.T) {
		w := newSetup(t)
		w.publish(t, w.push(t, "1.1.0"))
		w.mergeKeeping("graft/op/1.1.0")
		w.repo.edited = map[string]bool{"graft/op/1.1.0": true}
		if r := w.refresh(t); r.Result != Unchanged || len(r.Warnings) == 0 || len(w.forge.closed) > 0 {
			t.Errorf("%+v %v", r, w.forge.closed)
		}
	})
	t.Run("a dry run", func(t *testing.T) {
		w := newSetup(t)
		w.publish(t, w.push(t, "1.1.0"))
		w.mergeKeeping("graft/op/1.1.0")
		w.o.DryRun = true
		if r := w.refresh(t); r.Result != Unchanged || len(w.forge.closed) > 0 {
			t.Errorf("%+v %v", r, w.forge.closed)
		}
		w.o.DryRun = false
		if r := w.refresh(t); r.Result != Closed || w.forge.closed[1] != "Every catalog has this by now." {
			t.Errorf("%+v %v", r, w.forge.closed)
		}
	})
	t.Run("left out by now", func(t *testing.T) {
		w := newSetup(t)
		w.publish(t, w.push(t, "1.1.0"))
		w.only("<1.1.0")
		if r := w.refresh(t); r.Result != Unchanged || len(r.Warnings) == 0 || len(w.forge.closed) > 0 {
			t.Errorf("%+v %v", r, w.forge.closed)
		}
	})
	t.Run("closed by a person meanwhile", func(t *testing.T) {
		w := newSetup(t)
		w.publish(t, w.push(t, "1.1.0"))
		w.repo.merge("graft/op/none")
		setup := w.o.Setup
		w.o.Setup = func(c Base, b kind.Bundle) (*plan.Setup, error) {
			w.forge.closed = map[int]string{1: "by hand"}
			return setup(c, b)
		}
		if _, err := Refresh(context.Background(), w.o); !failure.Is(err, failure.PullRequestRefused) || len(w.forge.all) != 1 {
			t.Errorf("%v, %d pull requests", err, len(w.forge.all))
		}
	})
}

func TestSupersedeClosesOnlyWhatItContains(t *testing.T) {
	t.Run("its own", func(t *testing.T) {
		w := newSetup(t)
		w.rolling()
		w.o.Supersede = true
		w.publish(t, w.push(t, "1.1.0"))
		if r := w.publish(t, w.push(t, "1.2.0")); len(r.Superseded) > 0 || len(w.forge.closed) > 0 || len(r.Subjects) != 2 {
			t.Errorf("%+v %v", r, w.forge.closed)
		}
	})
	t.Run("left out by now", func(t *testing.T) {
		w := newSetup(t)
		w.publish(t, w.push(t, "1.1.0"))
		w.o.Supersede = true
		w.only(">=1.2.0")
		if r := w.publish(t, w.push(t, "1.2.0")); len(r.Superseded) > 0 || len(w.forge.closed) > 0 || len(r.Warnings) == 0 {
			t.Errorf("%+v %v", r, w.forge.closed)
		}
	})
	for who, edited := range map[string]bool{"another run": false, "a person": true} {
		t.Run("moved meanwhile by "+who, func(t *testing.T) {
			w := newSetup(t)
			w.publish(t, w.push(t, "1.1.0"))
			p := w.push(t, "1.2.0")
			w.o.Supersede = true
			setup := w.o.Setup
			w.o.Setup = func(c Base, b kind.Bundle) (*plan.Setup, error) {
				w.repo.moved = "graft/op/1.1.0"
				w.repo.edited = map[string]bool{w.repo.moved: edited}
				return setup(c, b)
			}
			if r := w.publish(t, p); len(r.Superseded) > 0 || len(w.forge.closed) > 0 || len(r.Warnings) == 0 {
				t.Errorf("%+v %v", r, w.forge.closed)
			}
		})
	}
}

// A bundle that is in an open pull request is published into that one, whatever its branch's name.
func TestOnePullRequestForABundle(t *testing.T) {
	w := newSetup(t)
	w.o.Supersede = true
	p := w.push(t, "1.1.0")
	w.publish(t, p)
	w.publish(t, w.push(t, "1.2.0"))
	if r := w.publish(t, p); r.Proposed.Number != 2 || len(r.Subjects) != 2 || len(w.forge.all) != 2 {
		t.Errorf("%+v, %d pull requests", r, len(w.forge.all))
	}
	other := newSetup(t)
	other.publish(t, other.push(t, "1.1.0"))
	other.o.Branch = func(b kind.Bundle) (string, error) { return "elsewhere/" + b.Version.String(), nil }
	if r := other.publish(t, event.Publication{Repository: other.Addr + "/op", Tag: "v1.1.0"}); r.Branch != "graft/op/1.1.0" || len(other.forge.all) != 1 {
		t.Errorf("%+v, %d pull requests", r, len(other.forge.all))
	}
}

// A branch has one pull request, for its first key.
func TestOnePullRequestForABranch(t *testing.T) {
	w := newSetup(t)
	w.o.Branch = func(kind.Bundle) (string, error) { return "graft/all", nil }
	w.publish(t, w.push(t, "1.1.0"))
	w.o.Rolling = true
	if w.publish(t, w.push(t, "1.2.0")); len(w.forge.all) != 1 || w.forge.all[0].Key != "op/1.1.0" || len(w.forge.all[0].Requests) != 2 {
		t.Errorf("%+v", w.forge.all)
	}
}

// A published bundle that is missing in the template is not silently removed.
func TestNobodyIsLeftBehind(t *testing.T) {
	const file = "catalogs/v4.20/op/catalog.yaml"
	w := newSetup(t)
	w.repo.merge(w.publish(t, w.push(t, "1.1.0")).Branch)
	standing := w.repo.files["catalog-templates/v4.20.yaml"].Data
	w.repo.files["catalog-templates/v4.20.yaml"] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(basicTemplate, "REGISTRY", w.Addr))}
	p := w.push(t, "1.2.0")
	if r := w.try(p, w.o); !failure.Is(r.Err, failure.CatalogPruned) || !strings.Contains(r.Err.Error(), "op.v1.1.0") || len(w.repo.made) != 1 {
		t.Errorf("%v", r.Err)
	}
	// If that is intended, a level allows it, and the pull request reports it.
	w.o.Levels = graph.Levels{Of: map[string]graph.Level{"entry-pruned": graph.Warning, "upgrade-path-lost": graph.Warning}}
	if r := w.publish(t, p); !strings.Contains(r.Body, "- warning <code>entry-pruned</code>: entry") || strings.Contains(r.Body, "no findings") {
		t.Errorf("%s", r.Body)
	}
	w.o.Levels.Strict = true
	if r := w.try(p, w.o); !failure.Is(r.Err, failure.CatalogPruned) {
		t.Errorf("%v", r.Err)
	}
	// An unreadable catalog is not a failure: it is rendered again.
	w.o.Levels = graph.Levels{}
	w.repo.files["catalog-templates/v4.20.yaml"] = &fstest.MapFile{Data: standing}
	w.repo.files[file] = &fstest.MapFile{Data: []byte("a: [\n")}
	if r := w.publish(t, p); !strings.HasPrefix(string(w.repo.branches[r.Branch].Files[file].Data), "---\n") || r.Work.Targets[0].Catalogs[0].Pulled != 3 {
		t.Errorf("%+v", r.Work.Targets[0])
	}
}

// A branch without a pull request belongs to another run that is about to propose it.
func TestPushedAndNotYetProposed(t *testing.T) {
	w := newSetup(t)
	w.rolling()
	w.publish(t, w.push(t, "1.1.0"))
	w.forge.all = nil
	if r := w.publish(t, w.push(t, "1.2.0")); len(r.Subjects) != 2 {
		t.Errorf("%+v", r)
	}
}

// A bundle that was rejected, or reverted after a merge, does not return with the next bundle.
func TestRejectedStaysRejected(t *testing.T) {
	w := newSetup(t)
	w.rolling()
	w.publish(t, w.push(t, "1.1.0"))
	w.forge.closed = map[int]string{1: "rejected"}
	if r := w.publish(t, w.push(t, "1.2.0")); r.Proposed.Number != 2 || len(r.Subjects) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestForceKeepsTheOthers(t *testing.T) {
	w := newSetup(t)
	w.rolling()
	w.publish(t, w.push(t, "1.1.0"))
	w.repo.edited = map[string]bool{"graft/op/rolling": true}
	w.o.Force = true
	if r := w.publish(t, w.push(t, "1.2.0")); len(r.Subjects) != 2 || !strings.Contains(w.template("graft/op/rolling"), "op.v1.1.0") {
		t.Errorf("%+v", r)
	}
}

// A rolling branch keeps a bundle that can no longer be read.
func TestRollingDropsNothing(t *testing.T) {
	w := newSetup(t)
	w.rolling()
	w.publish(t, w.push(t, "1.1.0"))
	w.tag(t, "v1.1.0", "1.1.0-rc.9")
	r := w.try(w.push(t, "1.2.0"), w.o)
	if !failure.Is(r.Err, failure.DigestMismatch) || !strings.Contains(failure.Of(r.Err).Remedy, "graft/op/rolling") {
		t.Errorf("%v", r.Err)
	}
}

// Several tags of one image are one bundle, under the tag that is its version.
func TestTagsOfOneImage(t *testing.T) {
	w := newSetup(t)
	tags := []event.Publication{w.tag(t, "v1.1", "1.1.0"), w.push(t, "1.1.0")}
	for range 2 {
		fresh := newSetup(t)
		fresh.Server, fresh.o.Registry, fresh.repo.files = w.Server, w.o.Registry, w.repo.files
		results, err := Publish(context.Background(), []Request{{Publication: tags[0]}, {Publication: tags[1]}}, fresh.o)
		if err != nil || len(results) != 1 || !strings.Contains(fresh.template("graft/op/1.1.0"), "/op:v1.1.0\n") {
			t.Errorf("%+v %v", results, err)
		}
		slices.Reverse(tags)
	}
	found, err := Missing(context.Background(), w.repo.files, w.o.Registry, Sweep{Repository: w.Addr + "/op"})
	if err != nil || len(found) != 1 || found[0].Tag != "v1.1.0" {
		t.Errorf("%+v %v", found, err)
	}
}

// The rendered image is the checked one even if the tag moves in between.
func TestTagMovesWhileRendering(t *testing.T) {
	w := newSetup(t)
	p := w.push(t, "1.1.0")
	setup := w.o.Setup
	w.o.Setup = func(c Base, b kind.Bundle) (*plan.Setup, error) {
		w.tag(t, "v1.1.0", "6.6.6")
		return setup(c, b)
	}
	w.publish(t, p)
	if catalog := string(w.repo.branches["graft/op/1.1.0"].Files["catalogs/v4.20/op/catalog.yaml"].Data); strings.Contains(catalog, "6.6.6") {
		t.Errorf("%s", catalog)
	}
}

func TestNeverOntoTheBase(t *testing.T) {
	w := newSetup(t)
	w.o.BaseBranch = "graft/op/1.1.0"
	if r := w.try(w.push(t, "1.1.0"), w.o); !failure.Is(r.Err, failure.Usage) || len(w.repo.made) > 0 {
		t.Errorf("%v", r.Err)
	}
}

// A tag may be served later than its digest. Graft waits only for an image that was just announced.
func TestPatience(t *testing.T) {
	w := newSetup(t)
	p := w.push(t, "1.1.0")
	p.Tag = "v1.1.0-late"
	waited := time.Duration(0)
	w.o.Patience = time.Minute
	w.o.Sleep = func(_ context.Context, d time.Duration) error {
		waited += d
		w.tag(t, "v1.1.0-late", "1.1.0")
		return nil
	}
	if r := w.publish(t, p); r.Result != Created || waited == 0 {
		t.Errorf("%s after %v", r.Result, waited)
	}
	waited = 0
	w.forge.all[0].Requests = []string{w.Addr + "/op:v7.7.7"}
	if _, err := Refresh(context.Background(), w.o); !failure.Is(err, failure.BundleNotFound) || waited > 0 {
		t.Errorf("%v after %v", err, waited)
	}
}

// Only templates and catalogs count as files that name an image.
func TestMissingLooksAtCatalogs(t *testing.T) {
	w := newSetup(t)
	w.push(t, "1.1.0")
	w.repo.files["deploy/operator.yaml"] = &fstest.MapFile{Data: []byte("apiVersion: v1\nkind: ConfigMap\ndata:\n  bundle: " + w.Addr + "/op:v1.1.0\n")}
	if found, err := Missing(context.Background(), w.repo.files, w.o.Registry, Sweep{Repository: w.Addr + "/op"}); err != nil || len(found) != 1 {
		t.Errorf("%+v %v", found, err)
	}
}

// A superseded pull request is closed once its branch is deleted or cannot be deleted.
func TestSupersedeWhereTheBranchStays(t *testing.T) {
	for retryable, closed := range map[bool]int{true: 0, false: 1} {
		w := newSetup(t)
		w.publish(t, w.push(t, "1.1.0"))
		w.o.Supersede = true
		kept := failure.New(failure.GitFailed, "deleting the branch: no")
		kept.Retryable = retryable
		w.repo.kept = kept
		results, err := Publish(context.Background(), []Request{{Publication: w.push(t, "1.2.0")}}, w.o)
		if (err != nil) != retryable || len(w.forge.closed) != closed || len(results[0].Warnings) != closed {
			t.Errorf("retryable %v: %v, closed are %v, warnings %v", retryable, err, w.forge.closed, results[0].Warnings)
		}
		w.repo.kept = nil
		if r := w.publish(t, w.push(t, "1.2.0")); len(w.forge.closed) != 1 || len(r.Superseded) != 1-closed {
			t.Errorf("the next run: %+v, closed are %v", r, w.forge.closed)
		}
	}
}
