package cli

import (
	"context"

	"github.com/olmgraft/graft/internal/gitrepo"
	"github.com/olmgraft/graft/internal/publish"
)

// gitRepository is a git repository as the pipeline wants it.
type gitRepository struct{ *gitrepo.Repo }

// Deliver implements publish.Repository.
func (g gitRepository) Deliver(ctx context.Context, d publish.Delivery) (commit string, changed bool, err error) {
	files := map[string]gitrepo.File{}
	for name, data := range d.Files {
		files[name] = gitrepo.File{Data: data}
	}
	done, err := g.Repo.Deliver(ctx, gitrepo.Delivery{
		Change: gitrepo.Change{Message: d.Message, Request: d.Request, Files: files},
		Base:   d.Base, Branch: d.Branch, Force: d.Force,
	})
	return done.Commit, done.Changed, err
}
