package catalogs

import (
	"io/fs"

	"github.com/spf13/pflag"

	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/config"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// SkipsFlag is the flag that says with which edges semver templates are rendered.
func SkipsFlag(f *pflag.FlagSet, skips *string) {
	f.StringVar(skips, "semver-skips", "", "what the head of a minor version skips in a semver template: major (as opm), minor (as the published documentation) or channel (as opm before v1.61). Defaults to graft.yaml's, or major")
}

// SetSkips has a template be rendered with the edges that are asked for, else with those of
// the repository's graft.yaml.
func SetSkips(t *template.Template, asked string) error {
	skips, err := kind.SemverSkips(asked), error(nil)
	if traits := t.Kind.Traits(); skips == "" && t.Source.FS != nil && (len(traits.Archetypes) > 0 || traits.OfTemplates) {
		skips, err = saidOf(t.Source.FS, t.Source.Path)
	}
	t.Source.SemverSkips = skips
	return err
}

// Skips are those that are asked for, else those that the repository's graft.yaml says of the
// template that is to be written; without a name they are empty.
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
