// Package bundle converts an operator bundle, from an image or a directory, into the olm.bundle document that opm
// v1.73 renders from it, byte for byte.
//
// opm ignores the paths in labels and annotations: manifests are always in manifests/, metadata in metadata/. It
// uses labels only to tell a bundle from a catalog, by the presence of the package label. It takes package and
// channels from the annotations file. It silently skips files that it cannot read, all documents of a file after
// the first, and all ClusterServiceVersions but one. Here these are findings.
package bundle

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/yamlread"
)

// Image is a bundle as read from a registry or a directory.
type Image struct {
	Ref    string            // name of the image in the document
	Labels map[string]string // of the image
	Files  Files
	Dir    bool // a directory, which has no labels
}

// MetadataFormat is the form in which the document contains the manifests.
type MetadataFormat int

// The formats: every manifest as olm.bundle.object, which is opm's default, or the CSV's description as
// olm.csv.metadata, which is the result of opm's migration bundle-object-to-csv-metadata.
const (
	BundleObjects MetadataFormat = iota
	CSVMetadata
)

// Bundle is a bundle that has been read and checked.
type Bundle struct {
	// Findings are faults that opm silently ignores. They do not affect the document.
	Findings []*failure.Error

	left         cost
	image        Image
	manifests    []manifest
	csv          *csv
	secondCSVs   []string // their files
	provided     map[api]bool
	pkg          string
	annotations  annotations
	dependencies []fbc.Property
	properties   []fbc.Property // olm.gvk and others, without those that contain manifests
	images       []fbc.RelatedImage
}

// Render returns the olm.bundle document of a bundle.
func Render(ctx context.Context, img Image, format MetadataFormat) (fbc.Bundle, error) {
	b, err := Parse(ctx, img)
	if err != nil {
		return fbc.Bundle{}, err
	}
	return b.Render(format)
}

// Parse reads a bundle. It refuses a bundle that opm could not render, or whose document would be useless because
// it lacks a package or name. It refuses a bundle that exceeds the budget, and stops when the context ends.
func Parse(ctx context.Context, img Image) (*Bundle, error) {
	var b *Bundle
	err := while(ctx, func() (err error) {
		b, err = parse(ctx, img)
		return err
	})
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, failure.New(failure.Interrupted, "reading bundle %s: interrupted", img.Ref)
	case ctx.Err() != nil:
		return nil, failure.New(failure.RegistryUnavailable, "reading bundle %s: it was not read before the deadline of the run", img.Ref).
			Fix("Give graft publish or graft render more time with --timeout.")
	case err != nil:
		return nil, err
	}
	return b, nil
}

func parse(ctx context.Context, img Image) (*Bundle, error) {
	b := &Bundle{image: img}
	steps := []func(context.Context) error{b.readLabels, b.checkSize, b.readManifests, b.checkOwned, b.readMetadata, b.collectProperties}
	for _, step := range steps {
		err := ctx.Err()
		if err == nil {
			err = step(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	b.collectImages()
	return b, nil
}

// Render returns the document in a format.
func (b *Bundle) Render(format MetadataFormat) (fbc.Bundle, error) {
	doc := fbc.Bundle{
		Schema:        fbc.SchemaBundle,
		Name:          b.csv.name,
		Package:       b.pkg,
		Image:         b.image.Ref,
		RelatedImages: b.images,
	}
	others, held := splitProperties(b.properties)
	var err error
	if format == CSVMetadata && b.migrates(held) {
		held, err = b.csvMetadata()
	} else {
		held = b.bundleObjects(held)
	}
	doc.Properties = slices.Concat(others, held)
	return doc, err
}

// migrates reports whether opm's migration changes the bundle. It does not if the bundle has no image reference,
// or if its author added olm.csv.metadata.
func (b *Bundle) migrates(held []fbc.Property) bool {
	return b.image.Ref != "" && !slices.ContainsFunc(held, func(p fbc.Property) bool { return p.Type == typeCSVMetadata })
}

// Labels of images, and the annotations of bundles with the same names.
const (
	labelPackage   = "operators.operatorframework.io.bundle.package.v1"
	labelManifests = "operators.operatorframework.io.bundle.manifests.v1"
	labelMetadata  = "operators.operatorframework.io.bundle.metadata.v1"
	labelDatabase  = "operators.operatorframework.io.index.database.v1"
	labelCatalog   = "operators.operatorframework.io.index.configs.v1"
	labelOpenShift = "com.redhat.openshift.versions"
)

func (b *Bundle) readLabels(context.Context) error {
	if b.image.Dir {
		return nil
	}
	labels := b.image.Labels
	for _, catalog := range []string{labelDatabase, labelCatalog} {
		if _, ok := labels[catalog]; ok {
			return b.fail("", "the image is a catalog: it has the label %s", catalog).
				Fix("Give the image of a bundle.")
		}
	}
	if _, ok := labels[labelPackage]; !ok {
		return b.fail("", "the image has no label %s", labelPackage).
			Fix("Give the image of a bundle, built with the labels of its metadata/annotations.yaml.")
	}
	for label, dir := range map[string]string{labelManifests: manifestsDir, labelMetadata: metadataDir} {
		if named, ok := labels[label]; ok && strings.Trim(named, "/") != dir {
			b.note("", "the label %s says %q, but opm reads %s/ only", label, named, dir)
		}
	}
	return nil
}

// fail returns a failure of the bundle, at one of its files if that is known.
func (b *Bundle) fail(file, format string, args ...any) *failure.Error {
	e := failure.New(failure.BundleInvalid, format, args...)
	if b.image.Ref != "" {
		e.Message = "reading bundle " + b.image.Ref + ": " + e.Message
	} else {
		e.Message = "reading the bundle: " + e.Message
	}
	var at *yamlread.Error
	if errors.As(e.Err, &at) {
		return e.At(file, at.Line, at.Col)
	}
	return e.At(file, 0, 0)
}

// note records a fault as a finding.
func (b *Bundle) note(file, format string, args ...any) {
	b.Findings = append(b.Findings, b.fail(file, format, args...))
}

// failWithFindings adds the findings to a failure, because a file that opm skips may explain it.
func (b *Bundle) failWithFindings(e *failure.Error) error {
	all := []error{e}
	for _, f := range b.Findings {
		all = append(all, f)
	}
	return errors.Join(all...)
}
