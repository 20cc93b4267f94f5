package oci

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/catalogimage"
	"github.com/olmgraft/graft/internal/failure"
)

// Publish leaves a tag alone that names the same content, even from another commit, and points new tags at that
// image. It replaces other content. A dry run changes nothing.
func TestPublish(t *testing.T) {
	s := startServer(t)
	c, _ := newClient(t, s, nil)
	base, err := Scratch(nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := c.Target(context.Background(), testHost+"/acme/catalog", base, true)
	if err != nil {
		t.Fatal(err)
	}
	first := ""
	for _, step := range []struct {
		text, revision string
		tags           []string
		dryRun         bool
		want           string
		same           bool
	}{
		{"one", "a", []string{"v1"}, true, "planned", false},
		{"one", "a", []string{"v1"}, false, "created", false},
		{"one", "b", []string{"v1", "v2"}, false, "unchanged created", true},
		{"two", "b", []string{"v2", "v3"}, true, "planned planned", false},
		{"two", "b", []string{"v2", "v3"}, false, "updated created", false},
		{"one", "c", []string{"v1", "v2"}, false, "unchanged updated", true},
	} {
		made := CatalogImage{map[string][]byte{"catalog.yaml": []byte(step.text)}, base, catalogimage.Origin{Revision: step.revision, Created: time.Unix(int64(step.revision[0]), 0)}}
		image, tags, err := target.Publish(context.Background(), made, step.tags, step.dryRun)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, tag := range tags {
			got += " " + tag.Result
		}
		if got != " "+step.want || step.same != (image.Digest == first) {
			t.Errorf("%+v: got%s, %s", step, got, image.Digest)
		}
		if step.want == "created" {
			first = image.Digest
		}
	}
}

// ForEach calls do for each image, with at most the allowed number at a time. Errors are ordered by their place.
func TestForEach(t *testing.T) {
	var images []string
	for i := range 20 {
		images = append(images, fmt.Sprint(i))
	}
	var now, most atomic.Int64
	got, err := ForEach(3, images, func(image string) (int, error) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		time.Sleep(time.Millisecond)
		if n := slices.Index(images, image); n%2 == 1 {
			return 0, failure.New(failure.BundleNotFound, "%d", n).At("f", 20-n, 0)
		}
		return len(image), nil
	})
	all := failure.All(err)
	if len(got) != 10 || got["12"] != 2 || most.Load() > 3 || len(all) != 10 || all[0].Line != 1 || all[9].Line != 19 {
		t.Errorf("got %v, %v, %d at a time", got, err, most.Load())
	}
	if _, err := ForEach(0, nil, func(string) (int, error) { return 0, errors.New("never") }); err != nil {
		t.Error(err)
	}
}
