package publish

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/gitrepo"
	"github.com/olmgraft/graft/internal/template/kind"
)

// change is what goes onto one branch, and into one pull request.
type change struct {
	*publisher
	branch, key string
	own         []item
	// stands is the change's open pull request, nil where there is none yet.
	stands *forge.Proposal
	again  bool // it is made again, and must be open still when it is proposed
}

// take adds a bundle of the run's own. Several tags may stand for one image: the one that
// is the version counts.
func (c *change) take(it item) {
	for i, o := range c.own {
		if o.catalogImage && o.covers(it.Request) {
			return
		}
		if o.Repository == it.Repository && o.Digest == it.Digest {
			if isVersion(it) && !isVersion(o) {
				c.own[i] = it
			}
			return
		}
	}
	c.own = append(c.own, it)
}

func isVersion(it item) bool {
	return strings.TrimPrefix(it.Tag, "v") == it.input.Bundle.Version.String()
}

// publish makes the change. The edits are a function of base and requests: where the base
// or the branch moves between read and push, all is done again upon what stands then.
func (c *change) publish(ctx context.Context) *Result {
	defer c.group("publishing " + c.names(c.own))()
	var result *Result
	err := gitrepo.Retry(ctx, c.Attempts, 200*time.Millisecond, c.Sleep, func(n int) (err error) {
		if n > 1 {
			c.log("the base moved, trying again upon the new one (%d of %d)", n, c.Attempts)
		}
		result, err = c.once(ctx)
		return err
	})
	if result.Err = err; err != nil {
		result.Result = Failed
	}
	return result
}

func (c *change) names(items []item) string {
	var names []string
	for _, it := range items {
		names = append(names, it.input.Bundle.Name)
	}
	return strings.Join(names, ", ")
}

// once makes one attempt upon the base as it is now.
func (c *change) once(ctx context.Context) (*Result, error) {
	out := &Result{Result: Unchanged, Branch: c.branch}
	out.answers(c.own)
	base, commit, err := c.Repository.Base(ctx)
	if err != nil {
		return out, err
	}
	state, err := c.Repository.Inspect(ctx, c.branch)
	if err != nil {
		return out, err
	}
	items, err := c.join(ctx, state)
	if err != nil {
		return out, err
	}
	older, err := c.older(ctx, out, items)
	if err != nil {
		return out, err
	}
	if err := c.make(ctx, out, base, items, older); err != nil {
		return out, err
	}
	changed := out.Work.Changed()
	if len(changed) == 0 {
		c.log("%s", out.Work.Nowhere())
		return out, c.settle(ctx, out)
	}
	if out.Body, err = c.body(out.Work); err != nil {
		return out, err
	}
	if c.DryRun {
		out.Result = Planned
		return out, nil
	}
	return out, c.deliver(ctx, out, gitrepo.Delivery{Base: commit, Branch: c.branch, State: &state, Force: c.Force})
}

// answers takes the requests of the items for the result's.
func (r *Result) answers(items []item) {
	r.Requests, r.Bundles = nil, nil
	for _, it := range items {
		r.Requests = append(r.Requests, it.Request)
		r.Bundles = append(r.Bundles, it.input.Bundle)
	}
}

// join adds the requests that the branch answers already: bundles that share one do not
// push each other out. What a pull request left that was closed or merged does not come
// back; a branch that has none yet is one that another run is about to propose.
func (c *change) join(ctx context.Context, state gitrepo.State) ([]item, error) {
	items := slices.Clone(c.own)
	if !state.OnlyOurs && !c.Force || len(state.Requests()) == 0 {
		return items, nil
	}
	if c.Forge != nil {
		if ended, err := c.Forge.Ended(ctx, c.branch, state.Head); ended || err != nil {
			return items, err
		}
	}
	for _, text := range state.Requests() {
		r, err := ParseRequest(text)
		if err != nil || slices.ContainsFunc(items, func(it item) bool { return it.covers(r) }) {
			continue // of an earlier form, or replaced by what is asked for now
		}
		it, err := c.learnAgain(ctx, r)
		if err != nil {
			// To leave it out would take it from the pull request without a word.
			f := *failure.Of(err)
			return nil, f.Fix("The branch %s has it: publish it again as it is now, or close the pull request of that branch. %s", c.branch, f.Remedy)
		}
		items = add(items, it)
	}
	return items, nil
}

// add appends an item unless its bundle is there.
func add(items []item, it item) []item {
	if slices.ContainsFunc(items, func(o item) bool { return o.input.Bundle.Name == it.input.Bundle.Name }) {
		return items
	}
	return append(items, it)
}

func (r *Result) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// superseded is an older pull request whose bundles are taken over.
type superseded struct {
	forge.Proposal
	state gitrepo.State
	items []item
}

// older are the open pull requests of the package with lower versions only. What a person
// committed to is left alone.
func (c *change) older(ctx context.Context, out *Result, items []item) ([]superseded, error) {
	if !c.Supersede || c.again || onlyImages(items) {
		return nil, nil
	}
	highest := newest(items).input.Bundle
	open, err := c.openFor(ctx, highest.Package)
	if err != nil {
		return nil, err
	}
	var all []superseded
	for _, pr := range open {
		if pr.Marker.Key == c.key || pr.Head == c.branch {
			continue
		}
		one, err := c.lower(ctx, pr, highest)
		if err != nil {
			out.warn("pull request #%d is left alone: %s", pr.Number, failure.Of(err).Error())
			continue
		}
		if one != nil {
			all = append(all, *one)
		}
	}
	return all, nil
}

func (c *change) lower(ctx context.Context, pr forge.Proposal, than kind.Bundle) (*superseded, error) {
	state, err := c.Repository.Inspect(ctx, pr.Head)
	if err != nil || !state.OnlyOurs {
		return nil, err
	}
	requests, err := requestsOf(pr, state)
	if err != nil {
		return nil, err
	}
	one := &superseded{Proposal: pr, state: state}
	for _, r := range requests {
		it, err := c.learn(ctx, r, 0)
		if err != nil {
			return nil, err
		}
		if b := it.input.Bundle; b.Package != than.Package || b.Version.GTE(than.Version) {
			return nil, nil
		}
		one.items = append(one.items, it)
	}
	return one, nil
}

// requestsOf are those that a pull request's marker holds, or the commits of its branch
// where there are too many for a marker. Whoever may edit either may have edited them, so
// they are checked like any others.
func requestsOf(pr forge.Proposal, state gitrepo.State) ([]Request, error) {
	var texts []string
	if len(pr.Marker.Request) > 0 {
		if err := json.Unmarshal(pr.Marker.Request, &texts); err != nil {
			return nil, failure.New(failure.Usage, "reading the marker of pull request #%d: %w", pr.Number, err).Fix("Close it, and publish its bundle again.")
		}
	} else {
		texts = state.Requests()
	}
	if len(texts) == 0 {
		return nil, failure.New(failure.Usage, "reading pull request #%d: neither its marker nor its branch names a bundle", pr.Number).Fix("Close it, and publish its bundle again.")
	}
	var all []Request
	for _, text := range texts {
		r, err := ParseRequest(text)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func newest(items []item) item {
	return slices.MaxFunc(items, func(a, b item) int { return a.input.Bundle.Version.Compare(b.input.Bundle.Version) })
}

// make prepares the change with what it takes over, and without it where that fails: an
// older bundle that is no good does not hold up a newer one.
func (c *change) make(ctx context.Context, out *Result, base fs.FS, items []item, older []superseded) error {
	with := items
	for _, pr := range older {
		for _, it := range pr.items {
			with = add(with, it)
		}
	}
	work, err := c.prepare(ctx, base, with)
	if err != nil && len(older) > 0 {
		out.warn("older pull requests are not taken over: %s", failure.Of(err).Error())
		older = nil
		work, err = c.prepare(ctx, base, items)
	}
	out.Work = work
	if err != nil {
		return err
	}
	out.answers(work.items)
	out.Warnings = append(out.Warnings, work.Warnings...)
	for _, pr := range older {
		if slices.ContainsFunc(pr.items, func(it item) bool { return slices.Contains(work.nowhere, it.input.Bundle.Name) }) {
			out.warn("pull request #%d is left alone: %s", pr.Number, work.Nowhere())
			continue
		}
		out.superseded = append(out.superseded, pr)
	}
	return nil
}

// deliver pushes the branch, makes the pull request, and closes what it supersedes, in
// this order: whatever ends a run in between, the next one completes it.
func (c *change) deliver(ctx context.Context, out *Result, d gitrepo.Delivery) error {
	title, err := c.text(out.Work, c.Title)
	if err != nil {
		return err
	}
	if d.Message, err = c.text(out.Work, c.Message); err != nil {
		return err
	}
	for _, r := range out.Requests {
		d.Requests = append(d.Requests, r.String())
	}
	d.Files = map[string]gitrepo.File{}
	for _, name := range out.Work.Changed() {
		_, after := out.Work.File(name)
		d.Files[name] = gitrepo.File{Data: after}
	}
	if err := c.stillOpen(ctx); err != nil {
		return err
	}
	done, err := c.Repository.Deliver(ctx, d)
	if err != nil {
		return err
	}
	out.Commit = done.Commit
	if done.Changed {
		out.Result, out.Changed = Updated, true
	}
	if c.Forge == nil {
		return nil
	}
	out.Proposed, err = c.Forge.Propose(ctx, forge.Change{Branch: c.branch, Title: title, Body: out.Body, Key: c.key, Requests: d.Requests})
	if err != nil {
		return err
	}
	out.Warnings = append(out.Warnings, out.Proposed.Notes...)
	if op := out.Proposed.Operation; op == forge.Created || op == forge.Updated {
		out.Result, out.Changed = string(op), true
		if err := c.stillNewest(ctx, done.Commit); err != nil {
			return err
		}
	}
	for _, pr := range out.superseded {
		closed, err := c.closeUnedited(ctx, out, pr.Proposal, pr.state, fmt.Sprintf("#%d contains this.", out.Proposed.Number))
		if err != nil {
			return err
		}
		if closed {
			out.Superseded = append(out.Superseded, pr.Number)
		}
	}
	return nil
}

// stillNewest holds what was proposed to the branch as it is now: where another run put more
// onto it meanwhile, that run's text may have been written over, and all is made again.
func (c *change) stillNewest(ctx context.Context, commit string) error {
	now, err := c.Repository.Inspect(ctx, c.branch)
	if err == nil && now.Exists && now.OnlyOurs && now.Head != commit {
		err = failure.New(failure.GitRaceLost, "proposing: another run moved the branch %s on", c.branch)
	}
	return err
}

// stillOpen refuses to make a pull request anew that somebody closed while it was being
// made again.
func (c *change) stillOpen(ctx context.Context) error {
	if !c.again {
		return nil
	}
	open, err := c.Forge.Open(ctx, c.key)
	if err == nil && !slices.ContainsFunc(open, func(pr forge.Proposal) bool { return pr.Number == c.stands.Number }) {
		err = failure.New(failure.PullRequestRefused, "making pull request #%d again: it was closed meanwhile", c.stands.Number).Fix("Publish the bundle if it is wanted after all.")
	}
	return err
}

// text is a pattern's text for the newest bundle, whose first line tells how many others
// there are.
func (c *change) text(w *Work, pattern Text) (string, error) {
	if onlyImages(w.items) {
		return "Name the current catalog images", nil
	}
	text, err := pattern(newest(w.items).input.Bundle)
	if n := len(w.items) - 1; n > 0 {
		first, rest, more := strings.Cut(text, "\n")
		text = fmt.Sprintf("%s and %d more", first, n)
		if more {
			text += "\n" + rest
		}
	}
	return text, err
}

// byVersion orders items so that a change is the same in whatever order they came.
func byVersion(items []item) []item {
	items = slices.Clone(items)
	slices.SortFunc(items, func(a, b item) int {
		return cmp.Or(a.input.Bundle.Version.Compare(b.input.Bundle.Version), strings.Compare(a.input.Bundle.Name, b.input.Bundle.Name))
	})
	return items
}
