package catalogs

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/olmgraft/graft/internal/config"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

// SkipsFlag is the flag that says with which edges semver templates are rendered.
func SkipsFlag(f *pflag.FlagSet, skips *string) {
	f.StringVar(skips, "semver-skips", "", "what the head of a minor version skips in a semver template: major (as opm), minor (as the published documentation) or channel (as opm before v1.61); without it graft.yaml says, else major")
}

// SetSkips has a template be rendered with the edges that are asked for, else with those of
// the repository's graft.yaml.
func SetSkips(t *template.Template, asked string) error {
	skips := kind.SemverSkips(asked)
	if skips != "" && !slices.Contains(kind.AllSemverSkips, skips) {
		return failure.New(failure.Usage, "reading the command line: --semver-skips %s", asked).Fix("Give --semver-skips with major, minor or channel.")
	}
	if traits := t.Kind.Traits(); skips == "" && t.Source.FS != nil && (len(traits.Archetypes) > 0 || traits.OfTemplates) {
		c, err := config.Read(t.Source.FS)
		if err != nil {
			return err
		}
		skips = c.SkipsOf(t.Source.Path)
	}
	t.Source.SemverSkips = skips
	return nil
}
