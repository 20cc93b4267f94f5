package plan

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template"
)

// catalogs decides which catalogs of the target are rendered, and how. It returns false if the target has
// catalogs but none is wanted; then the bundle does not go into the template either.
func (p *planner) catalogs(c candidate, t *Target) (bool, error) {
	if template.Traits(t.Kind).IsCatalog {
		if wanted, err := p.itself(c); err != nil || !wanted {
			return false, err
		}
	}
	unsupported := 0
	list := p.listed(c, t)
	for _, setup := range list {
		places, err := p.places(setup, c)
		if err != nil {
			return false, err
		}
		for _, at := range places {
			if setup.Path.platformed() && slices.ContainsFunc(list, func(o CatalogSetup) bool { return !o.Path.platformed() && path.Clean(string(o.Path)) == at.path }) {
				continue // it has its own setup
			}
			out, err := p.catalog(setup, at, c, t)
			if err != nil {
				return false, err
			}
			if out {
				unsupported++
			}
		}
	}
	if len(list) > 0 && len(t.Catalogs)+len(t.Names) == 0 {
		return false, nil
	}
	if unsupported > 0 && len(t.Names) == 0 {
		p.warn("%s also makes catalogs for versions of OpenShift that the bundle's label leaves out; they are not rendered now, and will have the bundle when they are. Keep a template for each set of versions.", c.path)
	}
	return true, nil
}

// catalog adds a catalog to the target, unless another one was requested. unsupported reports whether the
// bundle's label excludes the catalog.
func (p *planner) catalog(setup CatalogSetup, at place, c candidate, t *Target) (unsupported bool, err error) {
	cat := described(setup, at)
	if cat.Rewrite = setup.Rewrite; len(cat.Rewrite) == 0 {
		cat.Rewrite = c.Rewrite
	}
	if cat.Cut, err = setup.cutFor(cat.Platform); err != nil {
		return false, p.misconfigured(c.TargetSetup, "planning the catalog %s: %w", at.path, err)
	}
	called, asked := cmp.Or(cat.Path, cat.Name), p.in.Asked.Catalog
	p.known = append(p.known, called)
	if asked != "" && asked != cat.Path && asked != cat.Name {
		p.leaveOut(c.path, called, "only %s is requested", asked)
		return false, nil
	}
	p.matched = p.matched || asked != ""
	p.plan.All = append(p.plan.All, cat)
	if wanted, err := p.supported(&cat, c); err != nil || !wanted {
		return err == nil, err
	}
	if cat.Path != "" { // otherwise another tool renders it
		if err := p.render(&cat, setup.Metadata); err != nil {
			return false, err
		}
		if cat.New && !setup.Create && !t.Create {
			return false, p.misconfigured(c.TargetSetup, "planning for %s: the catalog %s of %s does not exist", p.in.Bundle.Name, cat.Path, c.path).
				Fix("Correct its path, or set create: true for the catalog in graft.yaml.")
		}
		t.Catalogs = append(t.Catalogs, cat)
	}
	if cat.Name != "" {
		t.Names = append(t.Names, cat.Name)
	}
	return false, nil
}

// itself decides whether a catalog that is its own template is wanted.
func (p *planner) itself(c candidate) (bool, error) {
	own := Catalog{Path: c.path}
	if platform, ok := PlatformOf(c.path); ok {
		own.Platform = &platform
	}
	asked := p.in.Asked.Catalog
	if len(c.Catalogs) == 0 && asked != "" {
		p.known = append(p.known, c.path)
		if asked != c.path {
			p.leaveOut(c.path, "", "only %s is requested", asked)
			return false, nil
		}
		p.matched = true
	}
	p.plan.All = append(p.plan.All, own)
	return p.supported(&own, c)
}

// listed returns the catalogs of a target, or the requested one if the target has none.
func (p *planner) listed(c candidate, t *Target) []CatalogSetup {
	asked := p.in.Asked.Catalog
	switch {
	case len(c.Catalogs) > 0 || asked == "" || template.Traits(t.Kind).IsCatalog:
		return c.Catalogs
	case isFileName(asked) || p.isFolder(asked):
		return []CatalogSetup{{Path: Pattern(asked), Create: true}}
	}
	return []CatalogSetup{{Name: asked}}
}

// described returns a catalog as described by its setup and place.
func described(setup CatalogSetup, at place) Catalog {
	out := Catalog{Name: setup.Name, Path: at.path, Platform: at.platform}
	if said, ok := ParsePlatform(setup.Platform); ok {
		out.Platform = &said
	} else if named, ok := PlatformOf(at.path); ok && out.Platform == nil {
		out.Platform = &named
	}
	out.Folder = out.Path != "" && !isFileName(out.Path)
	if path.Ext(out.Path) == ".json" {
		out.Format = fbc.JSON
	}
	return out
}

// supported applies the bundle's label, unless the setup ignores it. An unreadable label is an error only where
// it would decide.
func (p *planner) supported(cat *Catalog, c candidate) (bool, error) {
	if cat.Platform == nil || !cat.Platform.OpenShift() || p.supportErr == nil && p.support.Holds(*cat.Platform) {
		return true, nil
	}
	if cmp.Or(c.VersionsLabel, p.setup.VersionsLabel) == IgnoreLabel {
		p.reason(&cat.Reasons, "It is for OpenShift %s; the bundle's label com.redhat.openshift.versions, %s, does not count here.", cat.Platform, p.in.OpenShiftVersions)
		return true, nil
	}
	if p.supportErr != nil {
		return false, failure.New(failure.BundleInvalid, "planning for %s: its label com.redhat.openshift.versions: %w", p.in.Bundle.Name, p.supportErr).
			Fix("Publish the bundle with a label such as v4.16, or with none.")
	}
	p.leaveOut(c.path, cmp.Or(cat.Path, cat.Name), "it is for OpenShift %s, and the bundle's label com.redhat.openshift.versions is %s", cat.Platform, p.support.Label)
	return false, nil
}

// render examines the existing catalog and decides which metadata it holds.
func (p *planner) render(cat *Catalog, rule MetadataRule) error {
	holds, err := p.standing(cat)
	if err != nil {
		return err
	}
	if cat.New {
		p.reason(&cat.Reasons, "The catalog is new.")
	}
	var wants metadata
	switch {
	case rule == CSVMetadata || rule == BundleObject:
		wants = metadata(rule)
		p.reason(&cat.Reasons, "The metadata is %s, as %s says.", wants.property(), p.setup.File)
		p.contradicted(cat, wants)
	case cat.Platform != nil && cat.Platform.OpenShift():
		wants = wanted(*cat.Platform)
		p.reason(&cat.Reasons, "The metadata is %s, as the platform needs.", wants.property())
	case holds == objects:
		wants = objects
		p.reason(&cat.Reasons, "The metadata stays %s.", wants.property())
		p.warn("%s holds %s, which OpenShift 4.17 and later refuse; say its platform version or its metadata to have that changed.", cat.Path, wants.property())
	default:
		wants = metadataOfCSV
		p.reason(&cat.Reasons, "The metadata is %s, for current platforms.", wants.property())
	}
	cat.Metadata = bundle.BundleObjects
	if wants == metadataOfCSV {
		cat.Metadata = bundle.CSVMetadata
	}
	if holds != none && holds != wants {
		p.warn("%s holds %s now and is rendered with %s: all of its bundles change.", cat.Path, holds.property(), wants.property())
	}
	return nil
}

// contradicted warns of a choice that OpenShift's pipelines refuse.
func (p *planner) contradicted(cat *Catalog, wants metadata) {
	if cat.Platform != nil && cat.Platform.OpenShift() && wanted(*cat.Platform) != wants {
		p.warn("%s is for OpenShift %s, which wants %s, and %s has it hold %s.", cat.Path, cat.Platform, wanted(*cat.Platform).property(), p.setup.File, wants.property())
	}
}

// metadata says which metadata of its bundles a catalog holds.
type metadata string

const (
	none          metadata = ""
	objects                = metadata(BundleObject)
	metadataOfCSV          = metadata(CSVMetadata)
	both          metadata = "both"
)

func wanted(platform Platform) metadata {
	if platform.wantsObjects() {
		return objects
	}
	return metadataOfCSV
}

func (m metadata) property() string {
	switch m {
	case objects:
		return fbc.TypeBundleObject
	case both:
		return fbc.TypeBundleObject + " and " + fbc.TypeCSVMetadata
	}
	return fbc.TypeCSVMetadata
}

// standing reads the form of metadata from an existing catalog. It ignores faults in the catalog, because an
// unreadable one is rendered as a whole.
func (p *planner) standing(cat *Catalog) (metadata, error) {
	if !cat.Folder {
		src, err := p.files.ReadFile(cat.Path)
		if errors.Is(err, fs.ErrNotExist) {
			cat.New = true
			return none, nil
		}
		if err != nil {
			return none, failure.New(failure.EditRefused, "reading the catalog %s: %w", cat.Path, err).At(cat.Path, 0, 0).
				Fix("Name a readable file inside of the repository.")
		}
		if len(bytes.TrimSpace(src)) == 0 {
			return none, nil
		}
	}
	if cat.Folder && !p.isFolder(cat.Path) {
		cat.New = true
		return none, nil
	}
	docs, err := p.files.Catalog(cat.Path)
	if err != nil && cat.Folder {
		return none, err
	}
	if err != nil {
		p.warn("%s cannot be read as a catalog and is rendered anew: %s", cat.Path, failure.Of(err).Error())
		return none, nil
	}
	for i := range docs {
		if cat.Folder {
			if template.IsSchema(docs[i].Schema) {
				return none, failure.New(failure.EditRefused, "planning the catalog %s: one of its files is a template", cat.Path).At(docs[i].File, docs[i].Line, 1).
					Fix("Name the template in %s/.indexignore, or keep it elsewhere.", cat.Path)
			}
			cat.Format = docs[0].Format // the parts keep their own formats
		}
	}
	return held(docs), nil
}

func (p *planner) isFolder(name string) bool {
	info, err := fs.Stat(p.files, name)
	return err == nil && info.IsDir()
}

// MetadataOf returns the form of metadata that the bundles of a catalog hold. For mixed forms, and for none, it
// returns opm's default.
func MetadataOf(docs []fbc.Doc) (format bundle.MetadataFormat, mixed bool) {
	switch held(docs) {
	case metadataOfCSV:
		return bundle.CSVMetadata, false
	case both:
		return bundle.BundleObjects, true
	}
	return bundle.BundleObjects, false
}

func held(docs []fbc.Doc) metadata {
	found := none
	for i := range docs {
		switch holds := metadataIn(&docs[i]); {
		case holds == none || holds == found:
		case found == none:
			found = holds
		default:
			return both
		}
	}
	return found
}

// metadataIn first searches the text, because most documents name only one of the properties.
func metadataIn(d *fbc.Doc) metadata {
	if d.Schema != fbc.SchemaBundle {
		return none
	}
	hasObjects, hasCSV := bytes.Contains(d.Raw(), []byte(fbc.TypeBundleObject)), bytes.Contains(d.Raw(), []byte(fbc.TypeCSVMetadata))
	if hasObjects && hasCSV {
		b, err := d.BundleLight()
		hasObjects, hasCSV = false, false
		for _, prop := range b.Properties {
			hasObjects = hasObjects || err == nil && prop.Type == fbc.TypeBundleObject
			hasCSV = hasCSV || err == nil && prop.Type == fbc.TypeCSVMetadata
		}
	}
	switch {
	case hasObjects && hasCSV:
		return both
	case hasObjects:
		return objects
	case hasCSV:
		return metadataOfCSV
	}
	return none
}
