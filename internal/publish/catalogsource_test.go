package publish

import (
	"context"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/render"
)

// tags replaces the registry for catalog images: each has a digest or an error.
type tags struct {
	render.Registry
	digests map[string]string
	err     error
}

func (r *tags) Resolve(ctx context.Context, ref string) (string, error) {
	if !strings.Contains(ref, "/cat") {
		return r.Registry.Resolve(ctx, ref)
	}
	if r.err != nil {
		return "", r.err
	}
	if d := r.digests[ref]; d != "" {
		return "sha256:" + strings.Repeat(d, 64), nil
	}
	return "", failure.New(failure.BundleNotFound, "%s is not there", ref)
}

// withCatalogs has two repositories with the same last name, and a manifest for each.
func withCatalogs(t *testing.T) (*setup, *tags) {
	t.Helper()
	w := newSetup(t)
	r := &tags{Registry: w.o.Registry, digests: map[string]string{"quay.io/a/cat:v1": "1", "quay.io/b/cat:v1": "2"}}
	w.o.Registry = r
	w.o.CatalogBranch = "graft/catalogsources"
	w.o.CatalogSources = []plan.CatalogSourceSetup{
		{Path: "a.yaml", Repository: "quay.io/a/cat", Tag: "v1", Name: "one"},
		{Path: "a.yaml", Repository: "quay.io/b/cat", Tag: "v1", Name: "two"},
	}
	return w, r
}

func catalogNews(repository string) event.Publication {
	return event.Publication{Repository: repository, Tag: "v1"}
}

func (w *setup) manifest() string {
	return string(w.repo.branches["graft/catalogsources"].Files["a.yaml"].Data)
}

// The images of each repository stay in the shared pull request.
func TestCatalogImagesShareAChange(t *testing.T) {
	w, r := withCatalogs(t)
	w.publish(t, catalogNews("quay.io/a/cat"))
	w.publish(t, catalogNews("quay.io/b/cat"))
	r.digests["quay.io/a/cat:v1"] = "3"
	w.publish(t, catalogNews("quay.io/a/cat"))
	for _, want := range []string{"quay.io/a/cat@sha256:333", "quay.io/b/cat@sha256:222"} {
		if !strings.Contains(w.manifest(), want) {
			t.Errorf("no %s in %s", want, w.manifest())
		}
	}
	one := w.forge.all[0]
	if len(w.forge.all) != 1 || len(one.Requests) != 2 || one.Title != "Name the current catalog images" || strings.Count(one.Body, "Has CatalogSources name") != 2 {
		t.Errorf("%+v", w.forge.all)
	}
}

// An unreachable registry does not close a pull request. A manifest that is correct again does.
func TestCatalogImagesGone(t *testing.T) {
	w, r := withCatalogs(t)
	w.publish(t, catalogNews("quay.io/a/cat"))
	w.repo.merge("graft/catalogsources")
	w.forge = proposals{}
	r.digests["quay.io/a/cat:v1"] = "3"
	w.publish(t, catalogNews("quay.io/a/cat"))
	delete(r.digests, "quay.io/a/cat:v1")
	if again := w.refresh(t); again.Result != Unchanged || len(w.forge.closed) > 0 || !strings.Contains(strings.Join(again.Warnings, " "), "quay.io/a/cat:v1 is not in the registry") {
		t.Errorf("%+v", again)
	}
	r.err = failure.New(failure.RegistryUnavailable, "it is down")
	if results, err := Refresh(context.Background(), w.o); !failure.Is(err, failure.RegistryUnavailable) || len(w.forge.closed) > 0 {
		t.Errorf("%+v %v", results, err)
	}
	r.err, r.digests["quay.io/a/cat:v1"] = nil, "1"
	if again := w.publish(t, catalogNews("quay.io/a/cat")); again.Result != Closed || w.forge.closed[1] != "The CatalogSources name what their tags are by now." {
		t.Errorf("%+v %v", again, w.forge.closed)
	}
}

// Graft waits for an announced image, and reports a tag that has moved meanwhile.
func TestCatalogImageAnnouncedEarly(t *testing.T) {
	w, r := withCatalogs(t)
	w.o.Patience = 3
	early := catalogNews("quay.io/c/cat")
	w.o.CatalogSources[0].Repository = "quay.io/c/cat"
	if one := w.try(early, w.o); !failure.Is(one.Err, failure.BundleNotFound) {
		t.Errorf("%+v", one)
	}
	r.digests["quay.io/c/cat:v1"] = "4"
	early.Digest = "sha256:" + strings.Repeat("5", 64)
	if one := w.publish(t, early); one.Result != Created || !strings.Contains(strings.Join(one.Warnings, " "), "quay.io/c/cat:v1 is sha256:4444") {
		t.Errorf("%+v", one)
	}
	if got := w.forge.all[0].Requests; len(got) != 1 || got[0] != "quay.io/c/cat:v1" {
		t.Errorf("the request is %v", got)
	}
}

// An unavailable registry of catalog images does not delay a bundle.
func TestBundleWithoutCatalogRegistry(t *testing.T) {
	w, r := withCatalogs(t)
	r.err = failure.New(failure.RegistryAuth, "it refuses")
	one := w.publish(t, w.push(t, "1.1.0"))
	text := string(w.repo.branches["graft/op/1.1.0"].Files["a.yaml"].Data)
	if one.Result != Created || !strings.Contains(text, "image: quay.io/a/cat:v1\n") || !strings.Contains(strings.Join(one.Warnings, " "), "a.yaml names quay.io/a/cat:v1 by tag: it refuses") {
		t.Errorf("%+v %s", one, text)
	}
	// Then the present digest stays, whatever the tag's is.
	w.repo.merge("graft/op/1.1.0")
	r.err = nil
	w.publish(t, catalogNews("quay.io/a/cat"))
	w.repo.merge("graft/catalogsources")
	r.digests["quay.io/a/cat:v1"] = "7"
	w.publish(t, w.push(t, "1.2.0"))
	d := w.repo.branches["graft/op/1.2.0"]
	if f, ok := d.Files["a.yaml"]; ok && strings.Contains(string(f.Data), "777") {
		t.Errorf("the digest moved: %s", f.Data)
	}
}
