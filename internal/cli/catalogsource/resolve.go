package catalogsource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/catalogsource"
	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/cli/registry"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/controller/client"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/plan"
)

type resolveOptions struct {
	version    string
	openShift  string
	objects    []string
	kubeconfig string
	matrix     string
	check      bool
	writing    files.Writing
	registry   registry.Options

	values    catalogsource.Values
	platforms []string
	digests   map[string]string // of images in the registry
	digest    func(ctx context.Context, image string) (string, error)
}

func resolveCommand(a *command.App) *cobra.Command {
	o := &resolveOptions{digests: map[string]string{}}
	cmd := &cobra.Command{
		Use:   "resolve [--kube-version V|--kubeconfig FILE] FILE...|-",
		Short: "Set the images of CatalogSources and ClusterCatalogs for a cluster's version, in place",
		Long: "Resolve fills in the templates in the annotation " + catalogsource.ImageTemplate + ", or in\n" +
			"" + catalogsource.OwnTemplate + " if that is set. It sets the image of the CatalogSource\n" +
			"if it differs, in the form that the spec uses. It changes no other byte and no other object.\n\n" +
			"Templates can look up objects, which come from files, by the JSONPath of kubectl. With --kubeconfig, the\n" +
			"version and the objects come from a cluster, by graft-controller.\n\n" +
			"--matrix prints the image for each platform version, of Kubernetes, or of OpenShift from 4 on. Without\n" +
			"--kube-version, --ocp-version and --kubeconfig it changes nothing.",
		Example: "  graft catalogsource resolve --kube-version v1.31.2 catalogsource.yaml\n" +
			"  graft catalogsource resolve --matrix 1.29..1.33 --check-registry catalogsource.yaml\n" +
			"  graft catalogsource resolve --kubeconfig ~/.kube/config catalogsource.yaml\n" +
			"  kubectl get samples -A -o yaml > objects.yaml\n" +
			"  graft catalogsource resolve --object objects.yaml --kube-version 1.31 catalogsource.yaml",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return resolve(cmd.Context(), a, o, args) },
	}
	f := cmd.Flags()
	o.registry.Flags(f)
	f.StringVar(&o.version, "kube-version", "", "version of Kubernetes, as in a server's gitVersion")
	f.StringVar(&o.openShift, "ocp-version", "", "version of OpenShift. Defaults to that of the ClusterVersion in --object or in the cluster")
	f.StringArrayVar(&o.objects, "object", nil, "file with objects that templates look up")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the cluster that has the version and the objects")
	f.StringVar(&o.matrix, "matrix", "", "platform versions to print images for, such as 1.29..1.33")
	f.BoolVar(&o.check, "check-registry", false, "fail unless the registry has each image")
	o.writing.Flags(f)
	return cmd
}

func resolve(ctx context.Context, a *command.App, o *resolveOptions, names []string) error {
	m, err := openManifests(a, names, &o.writing, o.matrix != "")
	if err != nil {
		return err
	}
	if err := o.read(); err != nil {
		return err
	}
	closed := func() error { return nil }
	if o.kubeconfig != "" {
		if closed, err = o.ask(ctx, a.Err); err != nil {
			return err
		}
	}
	var sources []sourceReport
	errs := m.each(names, func(name string, m *catalogsource.Manifest) ([]byte, error) {
		found, text, err := o.manifest(ctx, name, m)
		sources = append(sources, found...)
		return text, err
	})
	if err := closed(); err != nil {
		return err // without the cluster's answers the other failures mean nothing
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if len(sources) == 0 {
		fmt.Fprintf(a.Err, "graft: note: no CatalogSource has the annotation %s\n", catalogsource.ImageTemplate)
	}
	if err := m.finish(); err != nil || m.stdin {
		return err
	}
	tell(a, sources, o.writing.DryRun)
	return nil
}

// read parses the values of the flags.
func (o *resolveOptions) read() error {
	if o.kubeconfig != "" && (o.version != "" || o.openShift != "" || len(o.objects) > 0) {
		return failure.New(failure.Usage, "reading the command line: --kubeconfig contradicts --kube-version, --ocp-version or --object").Fix("Give the version and the objects, or the cluster that has them.")
	}
	var err error
	if o.values.Kube, err = versionFlag("--kube-version", o.version, "v1.31.2"); err != nil {
		return err
	}
	if o.values.OpenShift, err = versionFlag("--ocp-version", o.openShift, "4.20.3"); err != nil {
		return err
	}
	if o.matrix != "" {
		if o.platforms, err = platformRange(o.matrix); err != nil {
			return err
		}
	}
	objects := &catalogsource.Manifests{}
	for _, name := range o.objects {
		src, err := os.ReadFile(name)
		if err != nil {
			return failure.New(failure.Usage, "reading objects: %w", err).Fix("Give --object with a file that exists.")
		}
		if err := objects.Add(name, src); err != nil {
			return err
		}
	}
	o.values.Objects, o.values.Path = objects.Object, catalogsource.JSONPath
	if o.check {
		images, err := o.registry.Client()
		if err != nil {
			return err
		}
		o.digest = images.Resolve
	}
	return nil
}

// versionFlag parses the version in a flag. It is zero if the flag is empty.
func versionFlag(flag, text, such string) (catalogsource.KubeVersion, error) {
	v, ok := catalogsource.ParseKubeVersion(text)
	if text != "" && !ok {
		return v, failure.New(failure.Usage, "reading the command line: %s %q is no version", flag, text).Fix("Give %s with a version such as %s.", flag, such)
	}
	return v, nil
}

// ask reads version and objects from a cluster until closed is called.
func (o *resolveOptions) ask(ctx context.Context, errs io.Writer) (closed func() error, err error) {
	c, err := client.Open(ctx, o.kubeconfig)
	if err != nil {
		return nil, err
	}
	o.version = c.Version
	var ok bool
	if o.values.Kube, ok = catalogsource.ParseKubeVersion(c.Version); !ok {
		fmt.Fprintf(errs, "graft: note: the cluster says %q of its version, which is none\n", c.Version)
	}
	o.values.Objects, o.values.Path = c.Object, c.Path
	return c.Close, nil
}

// maxPlatforms is larger than any intended range of versions.
const maxPlatforms = 100

func platformRange(s string) ([]string, error) {
	first, last, ok := strings.Cut(s, "..")
	if !ok {
		last = first
	}
	from, fromOK := plan.ParsePlatform(first)
	to, toOK := plan.ParsePlatform(last)
	if !fromOK || !toOK || from.Major != to.Major || from.Minor > to.Minor || to.Minor-from.Minor >= maxPlatforms {
		return nil, failure.New(failure.Usage, "reading the command line: --matrix: invalid value %q", s).
			Fix("Give --matrix with versions such as 1.29..1.33, of one major version and at most %d.", maxPlatforms)
	}
	var out []string
	for p := from; p.Compare(to) <= 0; p.Minor++ {
		out = append(out, p.String())
	}
	return out, nil
}

// manifest resolves the CatalogSources of one file. It finds all faults before it returns any.
func (o *resolveOptions) manifest(ctx context.Context, name string, m *catalogsource.Manifest) ([]sourceReport, []byte, error) {
	var found []sourceReport
	var errs []error
	images := map[*catalogsource.Source]string{}
	for _, s := range m.Sources {
		reference, ok := s.Reference()
		if !ok {
			continue
		}
		rep := sourceReport{File: name, Name: s.Name, Namespace: s.Namespace, Result: "unchanged"}
		if o.matrix == "" || o.version != "" || o.openShift != "" || o.kubeconfig != "" {
			image, digest, err := o.image(ctx, s, reference, o.values)
			errs = append(errs, err)
			rep.Image, rep.Digest, images[s] = image, digest, image
			if was := s.Image(); was != image {
				rep.Result, rep.Was = "updated", was
			}
		}
		for _, version := range o.platforms {
			v := o.values
			if p, _ := catalogsource.ParseKubeVersion(version); p.Major == "1" {
				v.Kube = p
			} else {
				v.OpenShift = p
			}
			image, digest, err := o.image(ctx, s, reference, v)
			errs = append(errs, err)
			rep.Platforms = append(rep.Platforms, platformReport{Version: version, Image: image, Digest: digest})
		}
		found = append(found, rep)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, nil, err
	}
	text, err := m.SetImages(images)
	return found, text, err
}

// image resolves one reference and, if requested, its digest in the registry.
func (o *resolveOptions) image(ctx context.Context, s *catalogsource.Source, reference string, v catalogsource.Values) (image, digest string, err error) {
	if image, err = s.ResolveImage(reference, v, o.remedy); err != nil || o.digest == nil {
		return image, "", err
	}
	if digest, ok := o.digests[image]; ok {
		return image, digest, nil
	}
	if digest, err = o.digest(ctx, image); err != nil {
		return image, "", s.At(failure.Of(err))
	}
	o.digests[image] = digest
	return image, digest, nil
}

// remedy returns the remedy for a template without a value.
func (o *resolveOptions) remedy(t catalogsource.Template) string {
	switch {
	case o.kubeconfig != "":
		return "Correct the template, or what it looks up in the cluster."
	case t.Variable == catalogsource.OCPMajor || t.Variable == catalogsource.OCPMinor:
		return "Give --ocp-version, or with --object a file that has the ClusterVersion."
	case t.Variable != "":
		return "Give --kube-version with all three numbers, or correct the template."
	}
	return "Give a file that has the object and the value with --object, or correct the template."
}
