package catalogs

import (
	"io/fs"

	"github.com/spf13/pflag"

	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/config"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// SkipsFlag adds the flag for the edges of rendered semver templates.
func SkipsFlag(f *pflag.FlagSet, skips *string) {
	f.StringVar(skips, "semver-skips", "", "what the head of a minor version skips in a semver template: major (as opm), minor (as the published documentation) or channel (as opm before v1.61). Defaults to graft.yaml's, or major")
}

// SetSkips sets the requested rule for a template's edges, or else that of the repository's graft.yaml.
func SetSkips(t *template.Template, asked string) error {
	skips, err := kind.SemverSkips(asked), error(nil)
	if traits := t.Kind.Traits(); skips == "" && t.Source.FS != nil && (len(traits.Archetypes) > 0 || traits.OfTemplates) {
		skips, err = saidOf(t.Source.FS, t.Source.Path)
	}
	t.Source.SemverSkips = skips
	return err
}

// Skips returns the requested rule, or else graft.yaml's rule for the template to write. Without a name it
// returns "".
func Skips(asked, name string) (kind.SemverSkips, error) {
	if asked != "" || name == "" {
		return kind.SemverSkips(asked), nil
	}
	at, err := files.Repositories{}.Locate(name)
	if err != nil {
		return "", nil //nolint:nilerr // nobody says anything of a file outside of the repository
	}
	return saidOf(at.Repo, at.Path)
}

func saidOf(fsys fs.FS, path string) (kind.SemverSkips, error) {
	c, err := config.Read(fsys)
	if err != nil {
		return "", err
	}
	return c.SkipsOf(path), nil
}
