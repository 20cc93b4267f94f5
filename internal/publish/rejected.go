package publish

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/gitrepo"
)

// rejected returns the result for a subject whose pull request a person closed without a merge, or nil. Another
// digest or other inputs make a new request, and so does an open pull request. Of several pull requests with
// the subject the newest counts. If another pull request took over its bundles, that one counts.
func (c *change) rejected(ctx context.Context, s subject) (*Result, error) {
	r := s.request()
	if c.Forge == nil || c.Reopen || r.Digest == "" || c.proposes(s) {
		return nil, nil
	}
	past, err := c.pastFrom(ctx, c.branch)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(past, func(pr forge.Past) bool { return holds(pr.Proposal, r.again) })
	if i < 0 {
		return nil, nil
	}
	pr, err := c.holder(ctx, past[i])
	if err != nil || !pr.Rejected {
		return nil, err
	}
	out := &Result{Result: Unchanged, Branch: c.branch, Subjects: []Facts{s.facts()}}
	out.reject(pr, s.facts().Name)
	return out, nil
}

// holder returns the pull request that has the bundles of a closed one: the last one that took them over. People
// may have edited the markers, so they may name each other.
func (c *change) holder(ctx context.Context, pr forge.Past) (forge.Past, error) {
	for seen := map[int]bool{}; pr.Marker.Within != 0 && !seen[pr.Number]; {
		seen[pr.Number] = true
		next, err := c.Forge.Numbered(ctx, pr.Marker.Within)
		if err != nil {
			return next, err
		}
		pr = next
	}
	return pr, nil
}

// rejectedContent reports whether a person closed a pull request with all that a change makes, if the change's
// requests do not determine that. It then makes the result of that.
func (c *change) rejectedContent(ctx context.Context, out *Result) (bool, error) {
	content := c.content(out.Work)
	if c.Forge == nil || c.Reopen || c.proposed != nil || len(content) == 0 {
		return false, nil
	}
	past, err := c.pastFrom(ctx, c.branch)
	i := slices.IndexFunc(past, func(pr forge.Past) bool {
		return !slices.ContainsFunc(content, func(one string) bool { return !slices.Contains(pr.Marker.Content, one) })
	})
	if err != nil || i < 0 || !past[i].Rejected {
		return false, err
	}
	out.Work = nil
	out.reject(past[i], out.Subjects[0].Name)
	return true, nil
}

// content returns what the manifests of CatalogSources get, for a change whose requests name tags, which move. For
// other changes it returns nothing.
func (c *change) content(w *Work) (all []string) {
	if c.key != catalogImagesKey {
		return nil
	}
	for _, t := range w.Targets {
		for _, one := range t.Changes {
			to := one.To
			if strings.Contains(to, " ") { // it is no image, but a sentence about other settings
				to = fmt.Sprintf("sha256:%x", sha256.Sum256(w.File(t.Template).After))
			}
			all = append(all, strings.Join([]string{t.Template, one.Name, to}, " "))
		}
	}
	return all
}

func (r *Result) reject(pr forge.Past, name string) {
	r.Result, r.Proposed = Unchanged, forge.Result{Number: pr.Number, URL: pr.URL, Operation: forge.Unchanged}
	r.warn("%s is not proposed again: somebody closed pull request #%d without merging it. Reopen it, or publish with reopen.", name, pr.Number)
}

// pastFrom reads the closed pull requests of a branch once, even if several bundles share the branch.
func (p *publisher) pastFrom(ctx context.Context, branch string) ([]forge.Past, error) {
	if known, ok := p.past[branch]; ok {
		return known, nil
	}
	past, err := p.Forge.Past(ctx, branch)
	if err == nil {
		p.past[branch] = past
	}
	return past, err
}

// proposes reports whether the open pull request of the change has a subject.
func (c *change) proposes(s subject) bool { return c.proposed != nil && holds(*c.proposed, s.covers) }

func holds(pr forge.Proposal, is func(Request) bool) bool {
	requests, err := requestsOf(pr, gitrepo.State{})
	return err == nil && slices.ContainsFunc(requests, is)
}
