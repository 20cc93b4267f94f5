package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
)

const (
	// MaxBody is how many bytes of body Ensure sends at most. GitHub counts
	// characters, of which there are never more than bytes.
	MaxBody  = 65535
	maxTitle = 256
)

// Request is a pull request as it should be.
type Request struct {
	// Owner and Repo are where the change goes, to the branch Base.
	Owner, Repo string
	// Head is a branch of that repository, or OWNER:BRANCH of a fork.
	Head, Base string
	// Title and Body are sent as they are: text from outside goes through Plain and
	// Escape first. Pointer is what stands where a body that is too long was cut.
	Title, Body, Pointer string
	// ForAuthor gives what stands above the body for who the pull request is from,
	// which is not known before it is made; nil gives nothing.
	ForAuthor func(login string) string
	Marker    forge.Marker
	Labels    []string
	Reviewers []string
	// TeamReviewers are slugs, with or without ORG/.
	TeamReviewers []string
	Assignees     []string
	// Milestone is a number or a title.
	Milestone string
	Draft     bool
	// AutoMerge is "", merge, squash or rebase.
	AutoMerge           string
	MaintainerCanModify bool
}

// Ensure makes the open pull request be as asked: created, or updated in what
// differs, or left alone.
//
//  1. There is one for a head branch, and one for a marker's key, also where many ask
//     at once, or the answer to a create was lost.
//  2. Labels are added; taken away are only those that Graft itself once added.
//  3. Reviewers are asked once; whoever has reviewed since, or was taken off by a
//     person, is not asked again. Auto-merge that was switched off stays off.
//  4. Draft and MaintainerCanModify are for the creation; later they are the people's.
//  5. A closed or merged pull request is history: a new one is made.
//
// With a failure that comes after the creation the result names the pull request too.
func (c *Client) Ensure(ctx context.Context, r Request) (forge.Result, error) {
	if err := r.check(); err != nil {
		return forge.Result{}, err
	}
	r.Title, r.Labels = limitTitle(r.Title), without(r.Labels, nil)
	e := &ensuring{Client: c, Request: r}
	if err := e.findOrCreate(ctx); err != nil {
		return forge.Result{}, err
	}
	err := e.settle(ctx)
	return e.result(), err
}

// ensuring is one Ensure under way.
type ensuring struct {
	*Client
	Request
	pr      *github.PullRequest
	created bool
	changed bool
	notes   []string
	// past is what the pull request's events tell, once they were asked for.
	past *history
}

func (e *ensuring) findOrCreate(ctx context.Context) (err error) {
	if e.pr, err = e.find(ctx, e.Request); e.pr != nil || err != nil {
		return err
	}
	return e.create(ctx)
}

// create makes the pull request. What GitHub refuses only in part is asked for
// again without that part, and noted.
func (e *ensuring) create(ctx context.Context) error {
	body, err := e.body(e.Labels)
	if err != nil {
		return err
	}
	ask := &github.NewPullRequest{
		Title: &e.Title, Head: &e.Head, Base: &e.Base, Body: &body,
		Draft: &e.Draft, MaintainerCanModify: &e.MaintainerCanModify,
	}
	for tries := 1; ; tries++ {
		pr, _, err := e.gh.PullRequests.Create(ctx, e.Owner, e.Repo, ask)
		why := refusalOf(err)
		switch {
		case err == nil:
			e.pr, e.created = pr, true
			return nil
		case why == alreadyThere:
			// After an answer that was lost, the one that is there is most likely ours.
			e.created = answerOf(err).Response.Header.Get(attemptsHeader) != "1"
			return e.findAgain(ctx, err)
		case why == noForkCollab && ask.GetMaintainerCanModify():
			ask.MaintainerCanModify = github.Bool(false)
			e.note("maintainers cannot be allowed to push to the head branch: the token may not grant that")
		case why == noDrafts && ask.GetDraft():
			ask.Draft = github.Bool(false)
			e.note("the pull request is no draft: the repository does not support drafts")
		case why == headUnknown && tries < 3:
			// A branch that was pushed a moment ago may not be known everywhere yet.
			if serr := e.carrier.sleep(ctx, time.Duration(tries)*time.Second); serr != nil {
				return e.fail(ctx, e.creating(), serr)
			}
		default:
			return e.fail(ctx, e.creating(), err)
		}
	}
}

// findAgain is for a create that was refused because the pull request is there:
// another run made it, or this one, whose answer was lost. A list may lag behind.
func (e *ensuring) findAgain(ctx context.Context, refused error) (err error) {
	for tries := range 4 {
		if tries > 0 {
			if err := e.carrier.sleep(ctx, time.Duration(tries)*time.Second); err != nil {
				return e.fail(ctx, e.creating(), err)
			}
		}
		if e.pr, err = e.findByHead(ctx, e.Request); e.pr != nil || err != nil {
			return err
		}
	}
	return e.fail(ctx, e.creating(), refused)
}

// settle brings the pull request from what it is to what it should be. The body,
// whose marker remembers the labels, goes last: a run that ends in between is
// completed by the next.
func (e *ensuring) settle(ctx context.Context) error {
	owner, branch := e.head()
	if e.pr.GetHead().GetRef() != branch || !strings.EqualFold(headOwner(e.pr), owner) {
		e.note("pull request #%d of this bundle is made from the branch %s, not from %s", e.pr.GetNumber(), e.pr.GetHead().GetRef(), branch)
	}
	for _, step := range []func(context.Context) error{
		e.settleLabels, e.settleAssignees, e.settleMilestone, e.settleReviewers, e.settleText, e.settleAutoMerge,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (e *ensuring) settleText(ctx context.Context) error {
	body, err := e.body(e.ourLabels())
	if err != nil {
		return err
	}
	edit := &github.PullRequest{}
	if e.pr.GetTitle() != e.Title {
		edit.Title = &e.Title
	}
	if !sameBody(e.pr.GetBody(), body) {
		edit.Body = &body
	}
	if e.pr.GetBase().GetRef() != e.Base {
		edit.Base = &github.PullRequestBranch{Ref: &e.Base}
	}
	if edit.Title == nil && edit.Body == nil && edit.Base == nil {
		return nil
	}
	if _, _, err := e.gh.PullRequests.Edit(ctx, e.Owner, e.Repo, e.pr.GetNumber(), edit); err != nil {
		return e.fail(ctx, operation{
			doing: fmt.Sprintf("updating the pull request %s/%s#%d", e.Owner, e.Repo, e.pr.GetNumber()),
			needs: "pull-requests: write",
		}, err)
	}
	e.changed = true
	return nil
}

// body is the text with the marker, which remembers the labels that are ours.
func (e *ensuring) body(ours []string) (string, error) {
	marker := e.Marker
	marker.Labels = ours
	above := ""
	if e.ForAuthor != nil && e.pr != nil {
		above = e.ForAuthor(e.pr.GetUser().GetLogin())
	}
	return marker.AppendTo(above+e.Body, MaxBody, e.Pointer)
}

func (e *ensuring) result() forge.Result {
	r := forge.Result{
		Number: e.pr.GetNumber(), URL: e.pr.GetHTMLURL(), Author: e.pr.GetUser().GetLogin(),
		Head: e.pr.GetHead().GetRef(), Operation: forge.Unchanged, Notes: e.notes,
	}
	switch {
	case e.created:
		r.Operation = forge.Created
	case e.changed:
		r.Operation = forge.Updated
	}
	return r
}

func (e *ensuring) note(format string, args ...any) {
	e.notes = append(e.notes, e.scrub(oneLine(fmt.Sprintf(format, args...))))
}

func (e *ensuring) creating() operation {
	return operation{
		doing: fmt.Sprintf("creating the pull request from %s to %s in %s/%s", e.Head, e.Base, e.Owner, e.Repo),
		needs: "pull-requests: write",
	}
}

// refusal is why GitHub did not create a pull request, where something can be done.
type refusal int

const (
	otherRefusal refusal = iota
	alreadyThere
	noForkCollab
	noDrafts
	headUnknown
)

// refusalOf goes by texts, since GitHub gives the code "custom" for most of these.
func refusalOf(err error) refusal {
	answer := answerOf(err)
	if answer == nil || answer.Response.StatusCode != http.StatusUnprocessableEntity {
		return otherRefusal
	}
	said := strings.ToLower(saidOf(answer))
	field := func(name string) bool {
		return slices.ContainsFunc(answer.Errors, func(e github.Error) bool { return e.Field == name })
	}
	switch {
	case strings.Contains(said, "already exists"):
		return alreadyThere
	case field("fork_collab") || strings.Contains(said, "fork collab"):
		return noForkCollab
	case strings.Contains(said, "draft pull requests are not supported"):
		return noDrafts
	case field("head"):
		return headUnknown
	}
	return otherRefusal
}

func (r Request) check() error {
	if err := checkRepository(r.Owner, r.Repo); err != nil {
		return err
	}
	for _, one := range [][2]string{
		{"a head branch", r.Head}, {"a base branch", r.Base}, {"a title", strings.TrimSpace(r.Title)},
	} {
		if one[1] == "" {
			return failure.New(failure.Usage, "a pull request needs %s", one[0])
		}
	}
	switch r.AutoMerge {
	case "", "merge", "squash", "rebase":
		return nil
	}
	return failure.New(failure.Usage, "auto-merge cannot be %q", r.AutoMerge).Fix("use merge, squash or rebase")
}

// head is the owner and the branch of the change.
func (r Request) head() (owner, branch string) {
	if owner, branch, ok := strings.Cut(r.Head, ":"); ok {
		return owner, branch
	}
	return r.Owner, r.Head
}

// sameBody takes the line ends that a person's edit in the browser leaves for the same.
func sameBody(a, b string) bool {
	plain := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return plain(a) == plain(b)
}

func limitTitle(title string) string {
	title = oneLine(title)
	if runes := []rune(title); len(runes) > maxTitle {
		return string(runes[:maxTitle-3]) + "..."
	}
	return title
}
