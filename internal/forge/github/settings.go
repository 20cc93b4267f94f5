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
	"github.com/olmgraft/graft/internal/outbound"
)

// putIssues is the permission for fields that pull requests share with issues.
const putIssues = "issues: write, or pull-requests: write"

// part sets a part of the pull request, all names at once, or one at a time after a refusal, because one bad
// name spoils the others. GitHub's refusal becomes a note, because the pull request works without that part. A
// temporary error is a failure, and the next run completes the part.
func (p *proposing) part(ctx context.Context, doing, needs, note string, names []string, do func([]string) error) error {
	if len(names) == 0 {
		return nil
	}
	err := do(names)
	if err == nil {
		p.changed = true
		return nil
	}
	said, err := p.refusal(ctx, operation{doing: doing + " " + p.name(), needs: needs}, err)
	if err != nil {
		return err
	}
	if len(names) == 1 {
		p.note("%s: %s", strings.Replace(note, "%s", names[0], 1), said)
		return nil
	}
	for _, name := range names {
		if err := p.part(ctx, doing, needs, note, []string{name}, do); err != nil {
			return err
		}
	}
	return nil
}

// refused is a refusal of a part.
type refused string

func (r refused) Error() string { return string(r) }

// refusal returns GitHub's message if its answer is permanent. Any other error is a failure.
func (p *proposing) refusal(ctx context.Context, op operation, err error) (said string, failed error) {
	var no refused
	answer := answerOf(err)
	switch {
	case errors.As(err, &no):
		return string(no), nil
	case answer == nil || answer.Response.StatusCode >= 500 || answer.Response.StatusCode == http.StatusUnauthorized:
		return "", p.fail(ctx, op, err)
	case answer.Response.StatusCode == http.StatusForbidden || answer.Response.StatusCode == http.StatusNotFound:
		return strings.TrimPrefix(ofPermission(op, answer, saidOf(answer)).Message, op.doing+": "), nil
	}
	return saidOf(answer), nil
}

func (p *proposing) setLabels(ctx context.Context) error {
	before, _ := forge.ParseMarker(p.pr.GetBody())
	there := labelNames(p.pr.Labels)
	gone := without(before.Labels, p.labels)
	if len(without(there, gone)) < len(there) {
		err := p.part(ctx, "removing labels from", putIssues, "labels that are no longer asked for were not removed", []string{""}, func([]string) error {
			return p.removeLabels(ctx, gone)
		})
		if err != nil {
			return err
		}
	}
	return p.part(ctx, "adding labels to", putIssues, "the label %s was not added", without(p.labels, there), func(labels []string) error {
		return p.sendLabels(ctx, http.MethodPost, labels)
	})
}

// removeLabels replaces the present list with one without the labels. A request for a single label has its name
// in the path, where it could name another path.
func (p *proposing) removeLabels(ctx context.Context, gone []string) error {
	now, _, err := p.gh.Issues.ListLabelsByIssue(ctx, p.repo.Owner, p.repo.Name, p.pr.GetNumber(), &github.ListOptions{PerPage: 100})
	if err != nil {
		return err
	}
	if keep := without(labelNames(now), gone); len(keep) > 0 {
		return p.sendLabels(ctx, http.MethodPut, keep)
	}
	_, err = p.gh.Issues.RemoveLabelsForIssue(ctx, p.repo.Owner, p.repo.Name, p.pr.GetNumber())
	return err
}

// sendLabels sends {"labels": [...]} as in the API's description. go-github sends the list alone.
func (p *proposing) sendLabels(ctx context.Context, method string, names []string) error {
	req, err := p.gh.NewRequest(method, fmt.Sprintf("repos/%s/issues/%d/labels", p.repo, p.pr.GetNumber()), map[string][]string{"labels": names})
	if err == nil {
		_, err = p.gh.Do(ctx, req, nil)
	}
	return err
}

// ourLabels returns the requested labels that Graft added before or adds now. Labels that people added stay
// theirs.
func (p *proposing) ourLabels() []string {
	before, _ := forge.ParseMarker(p.pr.GetBody())
	theirs := without(labelNames(p.pr.Labels), before.Labels)
	return without(p.labels, theirs)
}

// setAssignees checks the answer, because GitHub silently ignores people that it cannot assign.
func (p *proposing) setAssignees(ctx context.Context) error {
	missing := without(p.settings.Assignees, logins(p.pr.Assignees))
	return p.part(ctx, "assigning people to", putIssues, "%s was not assigned", missing, func(people []string) error {
		issue, _, err := p.gh.Issues.AddAssignees(ctx, p.repo.Owner, p.repo.Name, p.pr.GetNumber(), people)
		if err == nil && len(without(people, logins(issue.Assignees))) > 0 {
			err = refused("GitHub ignores people who may not be assigned, and tokens that may not assign")
		}
		return err
	})
}

func (p *proposing) setMilestone(ctx context.Context) error {
	asked, stands := p.settings.Milestone, p.pr.GetMilestone()
	if asked == "" || stands.GetTitle() == asked || strconv.Itoa(stands.GetNumber()) == asked {
		return nil
	}
	return p.part(ctx, "setting the milestone of", putIssues, "the milestone %s was not set", []string{asked}, func([]string) error {
		number, err := strconv.Atoi(asked)
		if err != nil {
			number, err = p.milestoneNumber(ctx)
		}
		if err == nil {
			_, _, err = p.gh.Issues.Edit(ctx, p.repo.Owner, p.repo.Name, p.pr.GetNumber(), &github.IssueRequest{Milestone: &number})
		}
		return err
	})
}

func (p *proposing) milestoneNumber(ctx context.Context) (int, error) {
	for m, err := range pages(func(page github.ListOptions) ([]*github.Milestone, *github.Response, error) {
		return p.gh.Issues.ListMilestones(ctx, p.repo.Owner, p.repo.Name, &github.MilestoneListOptions{State: "open", ListOptions: page})
	}) {
		if err != nil || m.GetTitle() == p.settings.Milestone {
			return m.GetNumber(), err
		}
	}
	return 0, refused("there is no open milestone of that title")
}

// setReviewers leaves out the author, who cannot be asked on GitHub, and people who were asked before.
func (p *proposing) setReviewers(ctx context.Context) error {
	people := without(without(p.settings.Reviewers, logins(p.pr.RequestedReviewers)), []string{p.pr.GetUser().GetLogin()})
	var teams []string
	for _, team := range p.settings.TeamReviewers {
		teams = append(teams, team[strings.LastIndex(team, "/")+1:])
	}
	teams = without(teams, names(p.pr.RequestedTeams, (*github.Team).GetSlug))
	if len(people)+len(teams) == 0 {
		return nil
	}
	past, err := p.history(ctx)
	if err != nil {
		return err
	}
	ask := func(note string, names []string, request func([]string) github.ReviewersRequest) error {
		return p.part(ctx, "asking for reviews of", "pull-requests: write", note, names, func(some []string) error {
			_, _, err := p.gh.PullRequests.RequestReviewers(ctx, p.repo.Owner, p.repo.Name, p.pr.GetNumber(), request(some))
			return err
		})
	}
	if err := ask("%s was not asked for a review", without(people, past.people), func(some []string) github.ReviewersRequest {
		return github.ReviewersRequest{Reviewers: some}
	}); err != nil {
		return err
	}
	return ask("the team %s was not asked for a review", without(teams, past.teams), func(some []string) github.ReviewersRequest {
		return github.ReviewersRequest{TeamReviewers: some}
	})
}

func (p *proposing) setAutoMerge(ctx context.Context) error {
	if p.settings.AutoMerge == "" || p.pr.AutoMerge != nil {
		return nil
	}
	if p.ByHand != "" {
		p.note("auto-merge was not switched on: %s", p.ByHand)
		return nil
	}
	past, err := p.history(ctx)
	if err != nil {
		return err
	}
	if past.autoMergeOff {
		p.note("auto-merge was not switched on again: somebody switched it off")
		return nil
	}
	return p.part(ctx, "switching on auto-merge for", "contents: write and pull-requests: write", "auto-merge was not switched on", []string{""}, func([]string) error {
		return p.enableAutoMerge(ctx)
	})
}

// enableAutoMerge uses GraphQL, because GitHub's REST API cannot enable auto-merge.
func (p *proposing) enableAutoMerge(ctx context.Context) error {
	req, err := p.gh.NewRequest(http.MethodPost, p.graphql, map[string]any{
		"query": `mutation($id: ID!, $method: PullRequestMergeMethod!) {
  enablePullRequestAutoMerge(input: {pullRequestId: $id, mergeMethod: $method}) { clientMutationId }
}`,
		"variables": map[string]string{"id": p.pr.GetNodeID(), "method": strings.ToUpper(p.settings.AutoMerge)},
	})
	if err != nil {
		return err
	}
	var answer struct{ Errors []struct{ Message string } }
	if _, err := p.gh.Do(ctx, req, &answer); err != nil || len(answer.Errors) == 0 {
		return err
	}
	said := outbound.OneLine(answer.Errors[0].Message)
	if strings.Contains(said, "clean status") {
		said += " (there is nothing to wait for: it can be merged now)"
	}
	return refused(said)
}

// history holds past events of a pull request.
type history struct {
	people, teams []string // asked for a review at any time
	autoMergeOff  bool     // last turned off
}

// history reads the events. A new pull request has none.
func (p *proposing) history(ctx context.Context) (*history, error) {
	if p.past != nil {
		return p.past, nil
	}
	past := &history{}
	events := pages(func(page github.ListOptions) ([]*github.IssueEvent, *github.Response, error) {
		if p.created {
			return nil, &github.Response{}, nil
		}
		return p.gh.Issues.ListIssueEvents(ctx, p.repo.Owner, p.repo.Name, p.pr.GetNumber(), &page)
	})
	for event, err := range events {
		if statusOf(err) == http.StatusNotFound {
			break
		}
		if err != nil {
			return nil, p.fail(ctx, operation{doing: "reading the events of " + p.name(), needs: "pull-requests: read"}, err)
		}
		switch event.GetEvent() {
		case "review_requested":
			past.people = append(past.people, event.GetRequestedReviewer().GetLogin())
			past.teams = append(past.teams, event.GetRequestedTeam().GetSlug())
		case "auto_merge_enabled", "auto_squash_enabled", "auto_rebase_enabled":
			past.autoMergeOff = false
		case "auto_merge_disabled":
			past.autoMergeOff = true
		}
	}
	p.past = past
	return past, nil
}

// without returns the names that are not among the others, each once. Labels and logins on GitHub ignore case.
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

func names[T any](all []T, name func(T) string) []string {
	var list []string
	for _, one := range all {
		list = append(list, name(one))
	}
	return list
}

func logins(users []*github.User) []string       { return names(users, (*github.User).GetLogin) }
func labelNames(labels []*github.Label) []string { return names(labels, (*github.Label).GetName) }
