package config

import (
	"reflect"
	"testing"

	"github.com/olmgraft/graft/internal/graph"
)

// Given settings take precedence, other settings stay, and the original configuration does not change.
func TestWith(t *testing.T) {
	own := Default()
	own.SkipTags, own.Levels = []string{"own"}, map[string]graph.Level{"a": graph.Warning, "b": graph.Off}
	own.PullRequest.Labels, own.PullRequest.Draft, own.Commit.Committer = []string{"own"}, true, Person{"C", "c@example.com"}
	var given Config
	given.Levels, given.Commit.Method, given.Commit.Author = map[string]graph.Level{"a": graph.Error}, WithAPI, Person{"A", "a@example.com"}
	given.PullRequest.Labels, given.PullRequest.Title = []string{"given"}, "{name}"
	got := own.With(&given)
	want := Default()
	want.SkipTags, want.Levels = []string{"own"}, map[string]graph.Level{"a": graph.Error, "b": graph.Off}
	want.PullRequest.Labels, want.PullRequest.Draft, want.PullRequest.Title = []string{"given"}, true, "{name}"
	want.Commit.Method, want.Commit.Author, want.Commit.Committer = WithAPI, Person{"A", "a@example.com"}, Person{"A", "a@example.com"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if own.Levels["a"] != graph.Warning || own.PullRequest.Labels[0] != "own" {
		t.Errorf("its own were changed: %+v", own)
	}
}
