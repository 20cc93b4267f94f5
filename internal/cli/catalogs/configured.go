package catalogs

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/config"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/plan"
)

// Configured returns the existing catalogs that the repository around the working directory configures, as paths
// from there: those of graft.yaml, or else those of the community layout.
func Configured() (names []string, err error) {
	dir, err := filepath.Abs(".")
	if err != nil {
		return nil, failure.New(failure.Usage, "looking for catalogs: %w", err).Fix("Name the catalog.")
	}
	top := atomicfile.Root(filepath.Join(dir, ".git"))
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, failure.New(failure.Usage, "looking for catalogs: %w", err).Fix("Name the catalog.")
	}
	defer root.Close()
	c, err := config.Read(root.FS())
	if err != nil {
		return nil, err
	}
	setups, err := c.Setups(root.FS())
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, setup := range setups {
		paths, err := plan.Standing(root.FS(), setup)
		errs = append(errs, err)
		for _, p := range paths {
			name, err := filepath.Rel(dir, filepath.Join(top, filepath.FromSlash(p)))
			names, errs = append(names, name), append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, failure.New(failure.Usage, "reading the command line: no catalog is given, and neither %s nor %s configures one that exists", config.File, config.CommunityFiles).
			Fix("Name a catalog, or configure catalogs: graft init writes %s.", config.File)
	}
	return names, nil
}
