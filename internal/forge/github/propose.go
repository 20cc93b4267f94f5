package github

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/markdown"
	"github.com/olmgraft/graft/internal/outbound"
)

const (
	// MaxBody limits the bytes of a body. GitHub's limit is in characters, of which there are never more than
	// bytes.
	MaxBody  = 65535
	maxTitle = 256
)

// Propose implements forge.Proposals. It creates the pull request, or updates its differences, or leaves it alone.
//
// 1. There is one pull request for a branch and one for a key, even if many runs propose at once or the answer
// to a creation is lost. 2. Propose adds labels. It removes only labels that Graft added. 3. It requests each
// review once: not again from people who have reviewed or whom a person removed. It does not turn auto-merge on
// again after a person turned it off. 4. A title that a person or a repository's own bot has set stays. 5. It
// never reopens a closed or merged pull request; it creates a new one.
//
// If a failure comes after the creation, the result names the pull request too.
func (f *Forge) Propose(ctx context.Context, c forge.Change) (forge.Result, error) {
	p := &proposing{Forge: f, Change: c, title: limitTitle(markdown.Plain(c.Title)), labels: without(f.settings.Labels, nil)}
	for _, one := range [][2]string{{"a head branch", c.Branch}, {"a base branch", f.base}, {"a title", p.title}} {
		if one[1] == "" {
			return forge.Result{}, failure.New(failure.Usage, "a pull request needs %s", one[0])
		}
	}
	var err error
	if p.marker, err = forge.MarkerOf(c); err != nil {
		return forge.Result{}, err
	}
	p.marker.Title = p.title
	if p.pr, err = f.find(ctx, c.Branch, c.Key); p.pr == nil && err == nil {
		err = p.create(ctx)
	}
	if err != nil {
		return forge.Result{}, err
	}
	err = p.complete(ctx)
	return p.result(), err
}

// proposing is a Propose in progress.
type proposing struct {
	*Forge
	forge.Change
	title   string
	labels  []string // as requested
	marker  forge.Marker
	pr      *github.PullRequest
	created bool
	changed bool
	notes   []string
	// past holds the pull request's events once they are read.
	past *history
}

// create creates the pull request. If GitHub refuses only a part, create repeats the request without that part
// and adds a note.
func (p *proposing) create(ctx context.Context) error {
	body, err := p.body(p.labels)
	if err != nil {
		return err
	}
	from := p.from()
	ask := &github.NewPullRequest{
		Title: &p.title, Head: &from, Base: &p.base, Body: &body,
		Draft: &p.settings.Draft, MaintainerCanModify: &p.settings.MaintainerCanModify,
	}
	for tries := 1; ; tries++ {
		pr, _, err := p.gh.PullRequests.Create(ctx, p.repo.Owner, p.repo.Name, ask)
		said, of := unprocessable(err)
		switch {
		case err == nil:
			p.pr, p.created = pr, true
			return nil
		case strings.Contains(said, "already exists"):
			// After a lost answer, the existing pull request is most likely this one.
			p.created = answerOf(err).Response.Header.Get(outbound.AttemptsHeader) != "1"
			return p.findAgain(ctx, err)
		case (of("fork_collab") || strings.Contains(said, "fork collab")) && ask.GetMaintainerCanModify():
			ask.MaintainerCanModify = github.Bool(false)
			p.note("maintainers cannot be allowed to push to the head branch: the token may not grant that")
		case strings.Contains(said, "draft pull requests are not supported") && ask.GetDraft():
			ask.Draft = github.Bool(false)
			p.note("the pull request is no draft: the repository does not support drafts")
		case of("head") && tries < 3:
			// A branch that was just pushed may not be visible everywhere yet.
			if serr := p.retry.Sleep(ctx, time.Duration(tries)*time.Second); serr != nil {
				return p.fail(ctx, p.creating(), serr)
			}
		default:
			return p.fail(ctx, p.creating(), err)
		}
	}
}

// findAgain handles a creation that was refused because the pull request exists: another run created it, or
// this one did and the answer was lost. Lists may be out of date.
func (p *proposing) findAgain(ctx context.Context, refused error) (err error) {
	for tries := range 4 {
		if tries > 0 {
			if err := p.retry.Sleep(ctx, time.Duration(tries)*time.Second); err != nil {
				return p.fail(ctx, p.creating(), err)
			}
		}
		if p.pr, err = p.findByHead(ctx, p.Branch, p.Key); p.pr != nil || err != nil {
			return err
		}
	}
	return p.fail(ctx, p.creating(), refused)
}

// complete updates the pull request. The body comes last, because its marker records the labels: the next run
// completes an interrupted one.
func (p *proposing) complete(ctx context.Context) error {
	if p.pr.GetHead().GetRef() != p.Branch || !strings.EqualFold(headOwner(p.pr), p.head.Owner) {
		p.note("pull request #%d of this bundle is made from the branch %s, not from %s", p.pr.GetNumber(), p.pr.GetHead().GetRef(), p.Branch)
	}
	for _, step := range []func(context.Context) error{
		p.setLabels, p.setAssignees, p.setMilestone, p.setReviewers, p.setTexts, p.setAutoMerge,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (p *proposing) setTexts(ctx context.Context) error {
	stands, _ := forge.ParseMarker(p.pr.GetBody())
	theirs := stands.Title != "" && !sameWords(p.pr.GetTitle(), stands.Title)
	if theirs {
		p.marker.Title = stands.Title // it stays theirs
	}
	body, err := p.body(p.ourLabels())
	if err != nil {
		return err
	}
	edit := &github.PullRequest{}
	if p.pr.GetTitle() != p.title && !theirs {
		edit.Title = &p.title
	}
	if !sameBody(p.pr.GetBody(), body) {
		edit.Body = &body
	}
	if p.pr.GetBase().GetRef() != p.base {
		edit.Base = &github.PullRequestBranch{Ref: &p.base}
	}
	if edit.Title == nil && edit.Body == nil && edit.Base == nil {
		return nil
	}
	if _, _, err := p.gh.PullRequests.Edit(ctx, p.repo.Owner, p.repo.Name, p.pr.GetNumber(), edit); err != nil {
		return p.fail(ctx, operation{doing: "updating the pull request " + p.name(), needs: "pull-requests: write"}, err)
	}
	p.changed = true
	return nil
}

// pointer replaces the rest of a body that is too long.
const pointer = "The rest was cut; the summary of the workflow run has it."

// body returns the text with the marker, which records Graft's labels. It mentions the one token whose pull
// requests do not start checks; the author of a pull request is only known after its creation.
func (p *proposing) body(ours []string) (string, error) {
	marker, above := p.marker, ""
	marker.Labels = ours
	if p.pr.GetUser().GetLogin() == "github-actions[bot]" {
		above = markdown.Alert("NOTE", "GITHUB_TOKEN made this pull request, so its checks do not start by themselves: close and reopen it, or let an app's token make it.")
	}
	return marker.AppendTo(above+p.Body, MaxBody, pointer)
}

func (p *proposing) result() forge.Result {
	r := forge.Result{Number: p.pr.GetNumber(), URL: p.pr.GetHTMLURL(), Operation: forge.Unchanged, Notes: p.notes}
	switch {
	case p.created:
		r.Operation = forge.Created
	case p.changed:
		r.Operation = forge.Updated
	}
	return r
}

func (p *proposing) note(format string, args ...any) {
	p.notes = append(p.notes, p.scrub(outbound.OneLine(fmt.Sprintf(format, args...))))
}

func (p *proposing) creating() operation {
	return operation{
		doing: fmt.Sprintf("creating the pull request from %s to %s in %s", p.from(), p.base, p.repo),
		needs: "pull-requests: write",
	}
}

// from returns the branch in the form of pull requests.
func (p *proposing) from() string {
	if p.forked() {
		return p.head.Owner + ":" + p.Branch
	}
	return p.Branch
}

func (p *proposing) name() string { return p.named(p.pr.GetNumber()) }

func (f *Forge) named(number int) string { return fmt.Sprintf("%s#%d", f.repo, number) }

// sameWords ignores whitespace that a forge leaves out.
func sameWords(a, b string) bool { return slices.Equal(strings.Fields(a), strings.Fields(b)) }

// ofRun matches the run in a link, so that links to different runs compare as equal.
var ofRun = regexp.MustCompile(`/actions/runs/\d+`)

// sameBody ignores line ends that an edit in the browser changes, and links to other runs.
func sameBody(a, b string) bool {
	plain := func(s string) string {
		return ofRun.ReplaceAllString(strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")), "/actions/runs/")
	}
	return plain(a) == plain(b)
}

func limitTitle(title string) string {
	if runes := []rune(title); len(runes) > maxTitle {
		return string(runes[:maxTitle-3]) + "..."
	}
	return title
}
