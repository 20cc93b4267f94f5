package publish

import (
	"context"
	"sync"

	"github.com/olmgraft/graft/internal/oci"
)

// early is a pulled bundle, or the error.
type early struct {
	subject subject
	pulled  *oci.Pulled
	err     error
}

// learnEarly pulls the bundles of requests concurrently, for learn to use: none waits for an earlier one.
func (p *publisher) learnEarly(ctx context.Context, requests []Request) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	beside := *p
	beside.Line = func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		p.Line(format, args...)
	}
	jobs := p.Jobs
	if jobs <= 0 {
		jobs = 8
	}
	turns := make(chan struct{}, jobs)
	begun := map[string]bool{}
	for _, r := range requests {
		key := r.String()
		if begun[key] || len(requests) == 1 || !p.isBundle(r) {
			continue
		}
		begun[key] = true
		turns <- struct{}{}
		wg.Go(func() {
			one := beside.learnBundle(ctx, r, p.Patience)
			mu.Lock()
			p.early[key] = one
			mu.Unlock()
			<-turns
		})
	}
	wg.Wait()
}

// isBundle reports whether a request is for a bundle that may be pulled.
func (p *publisher) isBundle(r Request) bool {
	return !r.Edit.Said() && (p.Allow == nil || p.Allow(r.Publication) == nil) && !IsCatalogImage(p.CatalogSources, r.Repository) && p.operandOf(r) == nil
}
