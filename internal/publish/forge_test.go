package publish

import (
	"context"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/forge"
)

// rejected is the reason for closing a pull request by hand without a merge.
const rejected = "rejected"

// proposals holds the pull requests of a forge.
type proposals struct {
	all    []forge.Change
	closed map[int]string
	within map[int]int               // the proposals that took others over
	bot    map[string]forge.Proposal // of other authors, by title and branch prefix
	before func()                    // another run's action, once, before a proposal arrives
}

func (p *proposals) Propose(_ context.Context, one forge.Change) (forge.Result, error) {
	if before := p.before; before != nil {
		p.before = nil
		before()
	}
	for i, o := range p.all {
		if o.Branch == one.Branch && p.closed[i+1] == "" {
			p.all[i] = one
			return forge.Result{Number: i + 1, Operation: forge.Updated}, nil
		}
	}
	p.all = append(p.all, one)
	return forge.Result{Number: len(p.all), URL: "https://forge/1", Operation: forge.Created}, nil
}

func (p *proposals) Open(_ context.Context, prefix string) ([]forge.Proposal, error) {
	var open []forge.Proposal
	for i, one := range p.all {
		marker, _ := forge.MarkerOf(one)
		if one.Requests == nil {
			marker.Request = nil
		}
		if p.closed[i+1] == "" && strings.HasPrefix(one.Key, prefix) {
			open = append(open, forge.Proposal{Number: i + 1, Head: one.Branch, Marker: marker})
		}
	}
	return open, nil
}

func (p *proposals) Titled(_ context.Context, title, prefix string) ([]forge.Proposal, error) {
	if one, ok := p.bot[title+" from "+prefix]; ok {
		return []forge.Proposal{one}, nil
	}
	return nil, nil
}

func (p *proposals) Past(_ context.Context, branch string) (past []forge.Past, err error) {
	for i, one := range slices.Backward(p.all) {
		if why := p.closed[i+1]; one.Branch == branch && why != "" {
			marker, err := forge.MarkerOf(one)
			if err != nil {
				return nil, err
			}
			marker.Within = p.within[i+1]
			past = append(past, forge.Past{Proposal: forge.Proposal{Number: i + 1, Head: branch, Marker: marker}, Rejected: why == rejected})
		}
	}
	return past, nil
}

func (p *proposals) Ended(_ context.Context, branch, _ string) (bool, error) {
	ended := false
	for i, one := range p.all {
		if one.Branch == branch {
			ended = p.closed[i+1] != ""
		}
	}
	return ended, nil
}

func (p *proposals) Numbered(ctx context.Context, number int) (forge.Past, error) {
	if number > len(p.all) {
		return forge.Past{}, nil
	}
	past, err := p.Past(ctx, p.all[number-1].Branch)
	if i := slices.IndexFunc(past, func(pr forge.Past) bool { return pr.Number == number }); i >= 0 {
		return past[i], err
	}
	return forge.Past{Proposal: forge.Proposal{Number: number}}, err
}

func (p *proposals) Close(_ context.Context, number int, c forge.Closing, before func() error) error {
	if err := before(); err != nil {
		return err
	}
	if p.closed == nil {
		p.closed = map[int]string{}
	}
	if p.within == nil {
		p.within = map[int]int{}
	}
	p.closed[number], p.within[number] = c.Why, c.Within
	return nil
}
