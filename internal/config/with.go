package config

import (
	"cmp"
	"maps"

	"github.com/olmgraft/graft/internal/graph"
)

// With returns the configuration with given settings in place of its own: lists and texts that are not empty,
// switches that are on, and levels by finding. It does not change targets or patterns of branches, which have
// other rules.
func (c *Config) With(given *Config) *Config {
	out := *c
	out.AllowedRepositories, out.SkipTags = either(given.AllowedRepositories, c.AllowedRepositories), either(given.SkipTags, c.SkipTags)
	out.Levels = map[string]graph.Level{}
	maps.Copy(out.Levels, c.Levels)
	maps.Copy(out.Levels, given.Levels)
	out.Drift = cmp.Or(given.Drift, c.Drift)
	pr, asked := &out.PullRequest, given.PullRequest
	pr.Title, pr.Milestone, pr.AutoMerge = cmp.Or(asked.Title, pr.Title), cmp.Or(asked.Milestone, pr.Milestone), cmp.Or(asked.AutoMerge, pr.AutoMerge)
	pr.Labels, pr.Assignees = either(asked.Labels, pr.Labels), either(asked.Assignees, pr.Assignees)
	pr.Reviewers, pr.TeamReviewers = either(asked.Reviewers, pr.Reviewers), either(asked.TeamReviewers, pr.TeamReviewers)
	pr.Supersede, pr.Draft = asked.Supersede || pr.Supersede, asked.Draft || pr.Draft
	commit := &out.Commit
	commit.Message, commit.Method = cmp.Or(given.Commit.Message, commit.Message), cmp.Or(given.Commit.Method, commit.Method)
	commit.Signoff = given.Commit.Signoff || commit.Signoff
	if given.Commit.Author != (Person{}) {
		commit.Author, commit.Committer = given.Commit.Author, given.Commit.Author
	}
	return &out
}

func either(given, own []string) []string {
	if len(given) > 0 {
		return given
	}
	return own
}
