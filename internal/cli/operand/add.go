package operand

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/operand"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

type addOptions struct {
	schema, pkg, name, version string
	images                     []string
	writing                    files.Writing
}

func addCommand(a *command.App) *cobra.Command {
	o := &addOptions{}
	cmd := &cobra.Command{
		Use:   "add --name NAME --version V --image NAME=REF TEMPLATE...",
		Short: "Add a version of an operand to basic templates and catalogs, in place",
		Long: "Add puts an entry, a version of an operand and its images, into basic templates and catalogs, and changes\n" +
			"no other byte. The entry takes its place by version among those of its name. An existing entry stays; the same\n" +
			"version with other images is a conflict. With -, add reads standard input and writes standard output.",
		Example: "  graft operand add --name etcd --version 3.1.2 --image etcd=quay.io/coreos/etcd@sha256:... catalog.yaml\n" +
			"  graft operand add --schema olm.relatedimages --name etcdoperator-related --version 0.9.1 \\\n" +
			"    --image etcd-stable=quay.io/coreos/etcd@sha256:... catalog-templates/basic.yaml",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return add(a, o, kind.Unique(args)) },
	}
	f := cmd.Flags()
	f.StringVar(&o.schema, "schema", operand.SchemaOperand, operand.SchemaOperand+" or "+operand.SchemaRelatedImages)
	f.StringVar(&o.name, "name", "", "name of the operand or set of related images (required)")
	f.StringVar(&o.version, "version", "", "version of the operand (required)")
	f.StringArrayVar(&o.images, "image", nil, "image of the operand, NAME=REFERENCE (required)")
	f.StringVar(&o.pkg, "package", "", "only package whose bundles may use it")
	o.writing.Flags(f)
	return cmd
}

func add(a *command.App, o *addOptions, names []string) error {
	var images []fbc.RelatedImage
	for _, text := range o.images {
		name, ref, _ := strings.Cut(text, "=")
		images = append(images, fbc.RelatedImage{Name: name, Image: ref})
	}
	e, err := operand.NewEntry(o.schema, o.pkg, o.name, o.version, images)
	if err != nil {
		return err
	}
	if slices.Contains(names, "-") {
		return addStdin(a, o, e, names)
	}
	repos := files.Repositories{}
	rep := report{}
	for _, name := range names {
		t, err := addTo(repos, o.writing, e, name)
		if err != nil {
			return err
		}
		rep.Templates = append(rep.Templates, t)
	}
	rep.Report = output.NewReport(output.Overall(rep.Templates))
	return finishAdd(a, o, repos, rep)
}

// addTo adds an entry to a file, or to a file of a directory.
func addTo(repos files.Repositories, w files.Writing, e operand.Entry, name string) (output.Template, error) {
	rep := output.Template{File: name, Result: "unchanged"}
	at, err := repos.LocateToWrite(name, w)
	if err != nil {
		return rep, err
	}
	paths, err := at.Paths()
	if err != nil {
		return rep, err
	}
	var opened []*yamledit.File
	for _, p := range paths {
		src, err := at.Read(p)
		if err != nil {
			return rep, err
		}
		f, err := yamledit.Open(at.Shown(p), src)
		if err != nil {
			return rep, err
		}
		opened = append(opened, f)
	}
	i, after, err := operand.Add(opened, e, template.Lists)
	if err != nil || i < 0 {
		return rep, err
	}
	at.Repo.Set(paths[i], opened[i].Src, after, false)
	rep.Result, rep.Files = "updated", []string{paths[i]}
	rep.Changes = []kind.Change{{What: kind.OperandAdded, Name: e.Name, To: e.Version.String()}}
	return rep, nil
}

// addStdin edits a catalog from standard input to standard output.
func addStdin(a *command.App, o *addOptions, e operand.Entry, names []string) error {
	if len(names) > 1 || a.JSON || o.writing.DryRun {
		return failure.New(failure.Usage, "reading the command line: - excludes other files, --json and --dry-run")
	}
	src, err := files.Stdin(a.In)
	if err != nil {
		return err
	}
	f, err := yamledit.Open("standard input", src)
	if err != nil {
		return err
	}
	i, after, err := operand.Add([]*yamledit.File{f}, e, template.Lists)
	if err != nil {
		return err
	}
	if i < 0 {
		after = src
	}
	_, err = a.Out.Documents().Write(after)
	return err
}

func finishAdd(a *command.App, o *addOptions, repos files.Repositories, rep report) error {
	if err := repos.Finish(a, "files", o.writing.DryRun); err != nil {
		return err
	}
	if o.writing.DryRun {
		rep.Planned()
	}
	if a.JSON {
		a.PrintReport(rep)
		return nil
	}
	for _, t := range rep.Templates {
		if o.writing.DryRun {
			break
		}
		fmt.Fprintf(a.Out, "%s: %s\n", t.File, t.Result)
		for _, c := range t.Changes {
			fmt.Fprintf(a.Out, "  added %s %s\n", c.Name, c.To)
		}
	}
	return nil
}
