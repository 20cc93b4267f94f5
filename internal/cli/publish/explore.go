package publish

import (
	"cmp"
	"strings"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/explorer"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/publish"
)

// artifacts returns the address of the workflow run's artifacts, or "" if there are none or there is nothing to
// explore.
func (p *publishing) artifacts() string {
	repository, run := p.env("GITHUB_REPOSITORY"), p.env("GITHUB_RUN_ID")
	if p.explorer == "" || p.action == nil || repository == "" || run == "" {
		return ""
	}
	return strings.TrimSuffix(cmp.Or(p.env("GITHUB_SERVER_URL"), "https://github.com"), "/") + "/" + repository + "/actions/runs/" + run + "#artifacts"
}

// explore writes the explorer of the last change with a result and returns the file, or "" if there is nothing
// to explore.
func (p *publishing) explore(results []*publish.Result) (file string, err error) {
	if p.inputs == nil || p.explorer == "" {
		return "", nil
	}
	var last []explorer.Platform
	changed := false
	for _, r := range results {
		if r.Work == nil || len(r.Work.Changed()) == 0 || changed && !r.Changed {
			continue
		}
		if all := r.Work.Explored(); !explorer.Empty(all, explorer.Options{}) {
			last, changed = all, r.Changed
		}
	}
	if len(last) == 0 {
		return "", nil
	}
	at, err := atomicfile.Locate(p.explorer, false)
	if err != nil {
		return "", failure.Of(err).Fix("Name a file of the work tree.")
	}
	if err := atomicfile.Write(atomicfile.File{Place: at, Data: explorer.Page(last, explorer.Options{})}); err != nil {
		return "", failure.New(failure.Usage, "writing the explorer to %s: %w", p.explorer, err).Fix("Name a file of the work tree.")
	}
	return p.explorer, nil
}
