package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/olmgraft/graft/internal/forge"
)

// What GitHub refuses of labels, people and milestones becomes a note, since the
// pull request stands without them. What it could not do for now is a failure: the
// next run completes it.

// putIssues is for what pull requests have in common with issues.
const putIssues = "issues: write, or pull-requests: write"

// settleLabels sends {"labels": [...]}, as the API's description has it; go-github
// sends the bare list.
func (e *ensuring) settleLabels(ctx context.Context) error {
	before, _ := forge.ParseMarker(e.pr.GetBody())
	if err := e.takeLabels(ctx, without(before.Labels, e.Labels)); err != nil {
		return err
	}
	missing := without(e.Labels, labelNames(e.pr.Labels))
	return e.oneByOne(missing, "the label %s was not added: %s", func(labels []string) error {
		_, err := e.labels(ctx, http.MethodPost, labels)
		e.changed = e.changed || err == nil
		return e.soften(ctx, "adding labels to", putIssues, err)
	})
}

// ourLabels are those asked for that Graft added before, or adds now; those that
// people put there themselves stay theirs.
func (e *ensuring) ourLabels() []string {
	before, _ := forge.ParseMarker(e.pr.GetBody())
	theirs := without(labelNames(e.pr.Labels), before.Labels)
	return without(e.Labels, theirs)
}

// takeLabels replaces the list as it stands this moment by one without the labels.
func (e *ensuring) takeLabels(ctx context.Context, ours []string) error {
	if len(without(ours, without(ours, labelNames(e.pr.Labels)))) == 0 {
		return nil
	}
	now, err := e.labels(ctx, http.MethodGet, nil)
	if err == nil {
		keep := without(labelNames(now), ours)
		switch {
		case len(keep) == len(now):
			return nil
		case len(keep) == 0:
			_, err = e.labels(ctx, http.MethodDelete, nil)
		default:
			_, err = e.labels(ctx, http.MethodPut, keep)
		}
	}
	e.changed = e.changed || err == nil
	return e.noteRefusal(e.soften(ctx, "removing labels from", putIssues, err),
		"labels that are no longer asked for were not removed: %s")
}

func (e *ensuring) labels(ctx context.Context, method string, names []string) ([]*github.Label, error) {
	path := fmt.Sprintf("repos/%s/%s/issues/%d/labels", e.Owner, e.Repo, e.pr.GetNumber())
	var body any
	if names != nil {
		body = map[string][]string{"labels": names}
	}
	if method == http.MethodGet {
		path += "?per_page=100"
	}
	req, err := e.gh.NewRequest(method, path, body)
	if err != nil {
		return nil, err
	}
	if method == http.MethodDelete {
		_, err := e.gh.Do(ctx, req, nil)
		return nil, err
	}
	var labels []*github.Label
	_, err = e.gh.Do(ctx, req, &labels)
	return labels, err
}

// settleAssignees looks at the answer: whom GitHub may not assign, it leaves out in
// silence.
func (e *ensuring) settleAssignees(ctx context.Context) error {
	return e.oneByOne(without(e.Assignees, logins(e.pr.Assignees)), "%s was not assigned: %s", func(people []string) error {
		issue, _, err := e.gh.Issues.AddAssignees(ctx, e.Owner, e.Repo, e.pr.GetNumber(), people)
		if err != nil {
			return e.soften(ctx, "assigning people to", putIssues, err)
		}
		ignored := without(people, logins(issue.Assignees))
		for _, one := range ignored {
			e.note("%s was not assigned: GitHub ignores people who may not be assigned, and tokens that may not assign", one)
		}
		e.changed = e.changed || len(ignored) < len(people)
		return nil
	})
}

func (e *ensuring) settleMilestone(ctx context.Context) error {
	stands := e.pr.GetMilestone()
	number, err := strconv.Atoi(e.Milestone)
	switch {
	case e.Milestone == "" || stands.GetTitle() == e.Milestone:
		return nil
	case err != nil:
		number, err = e.milestoneNumber(ctx)
	}
	if err == nil {
		if number == stands.GetNumber() {
			return nil
		}
		_, _, err = e.gh.Issues.Edit(ctx, e.Owner, e.Repo, e.pr.GetNumber(), &github.IssueRequest{Milestone: &number})
		e.changed = e.changed || err == nil
	}
	return e.noteRefusal(e.soften(ctx, "setting the milestone of", putIssues, err), "the milestone %s was not set: %s", e.Milestone)
}

func (e *ensuring) milestoneNumber(ctx context.Context) (int, error) {
	options := &github.MilestoneListOptions{State: "open", ListOptions: github.ListOptions{PerPage: 100}}
	for {
		list, resp, err := e.gh.Issues.ListMilestones(ctx, e.Owner, e.Repo, options)
		if err != nil {
			return 0, err
		}
		for _, m := range list {
			if m.GetTitle() == e.Milestone {
				return m.GetNumber(), nil
			}
		}
		if resp.NextPage == 0 {
			return 0, &refused{"there is no open milestone of that title"}
		}
		options.Page = resp.NextPage
	}
}

// settleReviewers leaves out the author, whom GitHub lets nobody ask, and those who
// were asked before.
func (e *ensuring) settleReviewers(ctx context.Context) error {
	people := without(without(e.Reviewers, logins(e.pr.RequestedReviewers)), []string{e.pr.GetUser().GetLogin()})
	var teams []string
	for _, team := range e.TeamReviewers {
		teams = append(teams, team[strings.LastIndex(team, "/")+1:])
	}
	teams = without(teams, slugs(e.pr.RequestedTeams))
	if len(people)+len(teams) == 0 {
		return nil
	}
	past, err := e.history(ctx)
	if err != nil {
		return err
	}
	ask := func(r github.ReviewersRequest) error {
		_, _, err := e.gh.PullRequests.RequestReviewers(ctx, e.Owner, e.Repo, e.pr.GetNumber(), r)
		e.changed = e.changed || err == nil
		return e.soften(ctx, "asking for reviews of", "pull-requests: write", err)
	}
	people, teams = without(people, past.people), without(teams, past.teams)
	if err := e.oneByOne(people, "%s was not asked for a review: %s", func(some []string) error {
		return ask(github.ReviewersRequest{Reviewers: some})
	}); err != nil {
		return err
	}
	return e.oneByOne(teams, "the team %s was not asked for a review: %s", func(some []string) error {
		return ask(github.ReviewersRequest{TeamReviewers: some})
	})
}

// settleAutoMerge is the one thing that GitHub offers by GraphQL only.
func (e *ensuring) settleAutoMerge(ctx context.Context) error {
	if e.AutoMerge == "" || e.pr.AutoMerge != nil {
		return nil
	}
	past, err := e.history(ctx)
	if err != nil {
		return err
	}
	if past.autoMergeOff {
		e.note("auto-merge was not switched on again: somebody switched it off")
		return nil
	}
	err = e.soften(ctx, "switching on auto-merge for", "contents: write and pull-requests: write", e.enableAutoMerge(ctx))
	e.changed = e.changed || err == nil
	return e.noteRefusal(err, "auto-merge was not switched on: %s")
}

func (e *ensuring) enableAutoMerge(ctx context.Context) error {
	req, err := e.gh.NewRequest(http.MethodPost, e.graphql, map[string]any{
		"query": `mutation($id: ID!, $method: PullRequestMergeMethod!) {
  enablePullRequestAutoMerge(input: {pullRequestId: $id, mergeMethod: $method}) { clientMutationId }
}`,
		"variables": map[string]string{"id": e.pr.GetNodeID(), "method": strings.ToUpper(e.AutoMerge)},
	})
	if err != nil {
		return err
	}
	var answer struct {
		Errors []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	if _, err := e.gh.Do(ctx, req, &answer); err != nil {
		return err
	}
	if len(answer.Errors) == 0 {
		return nil
	}
	said := oneLine(answer.Errors[0].Message)
	if strings.Contains(said, "clean status") {
		said += " (there is nothing to wait for: it can be merged now)"
	}
	return &refused{said}
}

// history is what has happened to a pull request before.
type history struct {
	people, teams []string
	autoMergeOff  bool
}

// history reads the events: who was ever asked for a review, and whether auto-merge
// was last switched off. Of a pull request that was just made there are none.
func (e *ensuring) history(ctx context.Context) (*history, error) {
	if e.past != nil {
		return e.past, nil
	}
	past := &history{}
	options := &github.ListOptions{PerPage: 100}
	for !e.created {
		events, resp, err := e.gh.Issues.ListIssueEvents(ctx, e.Owner, e.Repo, e.pr.GetNumber(), options)
		if statusOf(err) == http.StatusNotFound {
			break
		}
		if err != nil {
			return nil, e.fail(ctx, operation{doing: "reading the events of " + e.name(), needs: "pull-requests: read"}, err)
		}
		past.add(events)
		if resp.NextPage == 0 {
			break
		}
		options.Page = resp.NextPage
	}
	e.past = past
	return past, nil
}

func (h *history) add(events []*github.IssueEvent) {
	for _, event := range events {
		switch event.GetEvent() {
		case "review_requested":
			h.people = append(h.people, event.GetRequestedReviewer().GetLogin())
			h.teams = append(h.teams, event.GetRequestedTeam().GetSlug())
		case "auto_merge_enabled", "auto_squash_enabled", "auto_rebase_enabled":
			h.autoMergeOff = false
		case "auto_merge_disabled":
			h.autoMergeOff = true
		}
	}
}

// refused is an answer that says no to a part that the pull request can do without.
type refused struct{ said string }

func (r *refused) Error() string { return r.said }

func asRefused(err error) *refused {
	var no *refused
	errors.As(err, &no)
	return no
}

// soften makes a refused of an answer that will stay the same, and a failure of all others.
func (e *ensuring) soften(ctx context.Context, doing, needs string, err error) error {
	if err == nil || asRefused(err) != nil {
		return err
	}
	op := operation{doing: doing + " " + e.name(), needs: needs}
	answer := answerOf(err)
	if answer == nil || answer.Response.StatusCode >= 500 || answer.Response.StatusCode == http.StatusUnauthorized {
		return e.fail(ctx, op, err)
	}
	switch answer.Response.StatusCode {
	case http.StatusForbidden, http.StatusNotFound:
		return &refused{strings.TrimPrefix(ofPermission(op, answer, saidOf(answer)).Message, op.doing+": ")}
	}
	return &refused{saidOf(answer)}
}

// oneByOne does it for all at once, and for each alone where that is refused, since
// one bad name spoils the others.
func (e *ensuring) oneByOne(names []string, note string, do func([]string) error) error {
	if len(names) == 0 {
		return nil
	}
	err := do(names)
	no := asRefused(err)
	if no == nil {
		return err
	}
	if len(names) == 1 {
		e.note(note, names[0], no.said)
		return nil
	}
	for _, name := range names {
		if err := e.oneByOne([]string{name}, note, do); err != nil {
			return err
		}
	}
	return nil
}

// noteRefusal gives what was said as the last of the note's arguments.
func (e *ensuring) noteRefusal(err error, note string, args ...any) error {
	no := asRefused(err)
	if no == nil {
		return err
	}
	e.note(note, append(args, no.said)...)
	return nil
}

func (e *ensuring) name() string {
	return fmt.Sprintf("%s/%s#%d", e.Owner, e.Repo, e.pr.GetNumber())
}

// without is the names that are not among the others, each once. GitHub takes
// neither labels nor logins by case.
func without(names, others []string) []string {
	var left []string
	for _, name := range names {
		same := func(other string) bool { return strings.EqualFold(name, other) }
		if name != "" && !slices.ContainsFunc(others, same) && !slices.ContainsFunc(left, same) {
			left = append(left, name)
		}
	}
	return left
}

func logins(users []*github.User) []string {
	names := make([]string, 0, len(users))
	for _, u := range users {
		names = append(names, u.GetLogin())
	}
	return names
}

func slugs(teams []*github.Team) []string {
	names := make([]string, 0, len(teams))
	for _, t := range teams {
		names = append(names, t.GetSlug())
	}
	return names
}
