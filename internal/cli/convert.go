package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/cli/catalogs"
	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
)

func (a *app) convertCommand() *cobra.Command {
	var to, output, write string
	var writing files.Writing
	reader := &catalogs.Reader{In: a.In, Err: a.Err}
	cmd := &cobra.Command{
		Use:   "convert --to KIND CATALOG|-",
		Short: "Convert a catalog to a template that renders to the same catalog",
		Long: "Convert makes a template from a file-based catalog. Rendering the template gives the same catalog. If\n" +
			"the kind of template cannot express the catalog, convert names the first edge that would change, and\n" +
			"writes nothing.",
		Example: "  graft convert --to basic catalog.yaml > basic.yaml",
		Aliases: []string{"convert-template"},
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			kindName, name, err := kindFirst(args)
			if err != nil {
				return err
			}
			if kindName != "" && cmd.Flags().Changed("to") && kindName != to {
				return failure.New(failure.Usage, "reading the command line: %s contradicts --to %s", kindName, to).Fix("Leave out one of the two.")
			}
			to = cmp.Or(kindName, to)
			var at atomicfile.Place
			if write != "" {
				if at, err = atomicfile.Locate(write, writing.Outside); err != nil {
					return err
				}
			}
			docs, format, err := given(cmd.Context(), reader, output, name)
			if err != nil {
				return err
			}
			text, err := a.converted(reader, to, docs, format, write)
			if err != nil {
				return err
			}
			if write == "" {
				_, err := a.Out.Documents().Write(text)
				return err
			}
			if err := atomicfile.Write(atomicfile.File{Place: at, Data: text}); err != nil {
				return failure.New(failure.EditRefused, "writing %s: %w", write, err).At(write, 0, 0)
			}
			fmt.Fprintf(a.Out, "%s: created\n", write)
			return nil
		},
	}
	reader.Flags(cmd.Flags())
	cmd.Flags().StringVar(&to, "to", "basic", "kind of the template: "+strings.Join(template.Convertible(), ", "))
	cmd.Flags().StringVarP(&output, "output", "o", "yaml", "yaml or json")
	cmd.Flags().StringVar(&write, "write", "", "write the template to this file")
	writing.OutsideFlag(cmd.Flags())
	return cmd
}

// given returns the documents of the catalog and the format of the template.
func given(ctx context.Context, reader *catalogs.Reader, output, name string) ([]fbc.Doc, fbc.Format, error) {
	format := map[string]fbc.Format{"yaml": fbc.YAML, "json": fbc.JSON}[output]
	docs, err := reader.Docs(ctx, name)
	if err == nil && len(docs) == 0 {
		err = failure.New(failure.TemplateMalformed, "converting %s: it has no documents", name).At(name, 1, 1)
	}
	return docs, format, err
}

// converted returns the template. The rule for skips of a semver template's heads is the requested one, or else
// the one that gives the same catalog, trying graft.yaml's for the file to write first. It reports a different
// rule, because the template does not contain it.
func (a *app) converted(reader *catalogs.Reader, to string, docs []fbc.Doc, format fbc.Format, write string) ([]byte, error) {
	said, err := catalogs.Skips(reader.SemverSkips, write)
	if err != nil {
		return nil, err
	}
	text, err := template.Convert(to, docs, format, said)
	if err == nil || reader.SemverSkips != "" || !failure.Is(err, failure.EdgeConflict) {
		return text, err
	}
	for _, skips := range kind.AllSemverSkips {
		if text, other := template.Convert(to, docs, format, skips); other == nil {
			fmt.Fprintf(a.Err, "graft: note: the template gives the catalog back with semverSkips: %s; set that for it in graft.yaml, or render it with --semver-skips %s\n", skips, skips)
			return text, nil
		}
	}
	return nil, err
}
