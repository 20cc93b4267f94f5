package cli

import (
	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/template/kind"
)

// writeParts writes the files of a directory that changed.
func (a *app) writeParts(o *renderOptions, r *render.Result) (changed bool, err error) {
	if o.output == "mermaid" {
		return false, failure.New(failure.Usage, "writing a picture into %s: it is a directory", o.write).Fix("Name a file.")
	}
	repos := files.Repositories{}
	at, err := repos.LocateToWrite(o.write, o.writing)
	if err != nil {
		return false, err
	}
	standing, err := fbc.ReadFS(at.Repo, at.Path)
	if err != nil {
		return false, err
	}
	parts, err := r.Parts(at.Repo, at.Path, standing)
	if err != nil {
		return false, err
	}
	for _, f := range parts {
		at.Repo.Add([]kind.Written{kind.Written(f)})
	}
	return len(parts) > 0, repos.Finish(a.App, "catalog", false)
}
