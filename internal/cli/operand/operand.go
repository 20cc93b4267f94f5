// Package operand implements graft operand for the images that operators manage.
package operand

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/cli/catalogs"
	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/operand"
)

// Command returns the family of verbs.
func Command(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "operand",
		Short: "Work with the images of operands: resolve, list for a mirror, add",
		Long: "Operand works with olm.operand and olm.relatedimages, the entries of a catalog that map versions of an\n" +
			"operand to images, and with the properties of bundles that use them.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(resolveCommand(a), imagesCommand(a), addCommand(a))
	return cmd
}

// read returns the entries and bundles of catalogs.
func read(ctx context.Context, c *catalogs.Reader, names []string) (*operand.Set, error) {
	s := &operand.Set{}
	var errs []error
	for _, name := range names {
		docs, err := c.Docs(ctx, name)
		if err != nil {
			return nil, err
		}
		errs = append(errs, s.Add(docs))
	}
	return s, errors.Join(errs...)
}

func parseRequests(texts []string) ([]operand.Request, error) {
	var out []operand.Request
	for _, text := range texts {
		q, err := operand.ParseRequest(text)
		if err != nil {
			return nil, err
		}
		out = append(out, q)
	}
	return out, nil
}

type resolveOptions struct {
	catalogs              catalogs.Reader
	bundle                string
	operands              []string
	output                string
	prefix                string
	name, namespace       string
	deployment, container string
	keep                  bool
}

func resolveCommand(a *command.App) *cobra.Command {
	o := &resolveOptions{catalogs: catalogs.Reader{In: a.In, Err: a.Err}}
	cmd := &cobra.Command{
		Use:   "resolve --bundle NAME --operand NAME[@RANGE] CATALOG...",
		Short: "Choose the images of operands: the highest version that a bundle accepts",
		Long: "Resolve chooses, for each --operand, the highest version in its range that the bundle accepts, from all\n" +
			"catalogs together. It also chooses a provider for each operand that the bundle requires, and for those\n" +
			"that they require. The order of the catalogs does not matter.",
		Example: "  graft operand resolve --bundle etcdoperator.v0.6.1 --operand etcd catalog.yaml\n" +
			"  graft operand resolve --bundle etcdoperator.v0.6.1 --operand etcd --operand 'etcd@<3.0.0' -o env catalog.yaml operands.yaml",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return resolve(cmd.Context(), a, o, args) },
	}
	f := cmd.Flags()
	o.catalogs.Flags(f)
	f.StringVar(&o.bundle, "bundle", "", "bundle that uses the operands (required)")
	f.StringArrayVar(&o.operands, "operand", nil, "operand or set of related images, NAME or NAME@RANGE (required)")
	f.StringVarP(&o.output, "output", "o", "text", "text, json, env, configmap or annotations")
	f.StringVar(&o.prefix, "prefix", "", "prefix of the names of variables. Defaults to the operand's name")
	f.StringVar(&o.name, "name", "", "name of the ConfigMap. Defaults to PACKAGE-operands")
	f.StringVar(&o.namespace, "namespace", "", "namespace of the ConfigMap")
	f.BoolVar(&o.keep, "keep", false, "have graft-controller update the ConfigMap as the catalog images change")
	f.StringVar(&o.deployment, "deployment", "", "Deployment to annotate")
	f.StringVar(&o.container, "container", "", "container of the Deployment that gets the variables")
	return cmd
}

func resolve(ctx context.Context, a *command.App, o *resolveOptions, names []string) error {
	if o.bundle == "" || len(o.operands) == 0 {
		return failure.New(failure.Usage, "reading the command line: --bundle or --operand is missing").Fix("Give the bundle and at least one operand.")
	}
	if a.JSON {
		o.output = "json"
	}
	if o.output == "annotations" && (o.deployment == "" || o.container == "") {
		return failure.New(failure.Usage, "reading the command line: --output annotations without --deployment or --container").Fix("Give both.")
	}
	if err := o.checkKeep(names); err != nil {
		return err
	}
	requests, err := parseRequests(o.operands)
	if err != nil {
		return err
	}
	set, err := read(ctx, &o.catalogs, names)
	if err != nil {
		return err
	}
	b, err := set.Bundle(o.bundle)
	if err != nil {
		return err
	}
	r, err := set.Resolve(b, requests)
	if err != nil {
		return err
	}
	return printResolution(a, o, r, o.policy(names))
}

// checkKeep refuses options that graft-controller cannot keep.
func (o *resolveOptions) checkKeep(names []string) error {
	if o.keep && o.output != "configmap" {
		return failure.New(failure.Usage, "reading the command line: --keep without --output configmap").Fix("Give --output configmap, or leave out --keep.")
	}
	for _, name := range names {
		if o.keep && (!catalogs.IsImage(name) || oci.OnDisk(name)) {
			return failure.New(failure.Usage, "reading the command line: --keep with the catalog %s, which no cluster can read", name).Fix("Name catalog images of a registry.")
		}
	}
	return nil
}

// policy returns the policy of the command line, or nil without --keep.
func (o *resolveOptions) policy(names []string) *operand.Policy {
	if !o.keep {
		return nil
	}
	p := &operand.Policy{Bundle: o.bundle, Operands: o.operands, Prefix: o.prefix}
	for _, name := range names {
		p.Catalogs = append(p.Catalogs, operand.PolicyCatalog{Image: name})
	}
	return p
}

func printResolution(a *command.App, o *resolveOptions, r *operand.Resolution, policy *operand.Policy) error {
	switch o.output {
	case "text":
		printChosen(a.Out, r.Asked)
		printChosen(a.Out, r.Required)
		return nil
	case "json":
		a.PrintReport(report{Report: output.NewReport("ok"), Operands: resolutionOf(r)})
		return nil
	}
	all, err := r.Variables(o.prefix)
	if err != nil {
		return err
	}
	var text string
	switch o.output {
	case "env":
		text = operand.Env(all)
	case "configmap":
		name := o.name
		if name == "" {
			name = r.Bundle.Package + "-operands"
		}
		text, err = operand.ConfigMap(name, o.namespace, all, policy)
	case "annotations":
		text, err = operand.Annotations(o.deployment, o.container, all)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(a.Out.Documents(), text)
	return err
}

func printChosen(out io.Writer, all []operand.Chosen) {
	for _, c := range all {
		fmt.Fprintf(out, "%s %s (%s): %s\n", c.Entry.Name, c.Entry.Version, c.Entry.Pos, c.Reason)
		for _, i := range c.Entry.Images {
			fmt.Fprintf(out, "  %s %s\n", i.Name, i.Image)
		}
	}
}
