package bundle

import (
	"context"

	"github.com/olmgraft/graft/internal/bundle/object"
)

const (
	kindCSV = "ClusterServiceVersion"
	kindCRD = "CustomResourceDefinition"
)

// manifest is one object of the bundle.
type manifest struct {
	file                 string
	object               object.Value
	group, version, kind string
}

// readManifests reads every file of manifests/ in order of name.
func (b *Bundle) readManifests(ctx context.Context) error {
	b.provided = map[api]bool{}
	for _, file := range b.image.Files.in(manifestsDir) {
		v, more, fault, err := b.one(ctx, file, object.Read)
		if err != nil {
			return err
		}
		m := manifest{file: file, object: v}
		if fault == nil {
			m.group, m.version, m.kind, fault = v.Identity()
		}
		if fault != nil {
			b.note(file, "opm skips the file without a word: %w", fault)
			continue
		}
		if more {
			b.note(file, "opm reads the first document only, and others follow")
		}
		if m.kind == kindCSV && b.csv != nil {
			b.note(file, "it is a second ClusterServiceVersion, which opm ignores; %s counts", b.csv.file)
			b.secondCSVs = append(b.secondCSVs, file)
			continue
		}
		if err := b.addManifest(m); err != nil {
			return err
		}
	}
	switch {
	case len(b.manifests) == 0:
		return b.failWithFindings(b.fail(manifestsDir, "there is no readable object in manifests/"))
	case b.csv == nil:
		return b.failWithFindings(b.fail(manifestsDir, "there is no ClusterServiceVersion in manifests/"))
	}
	return nil
}

func (b *Bundle) addManifest(m manifest) (err error) {
	b.manifests = append(b.manifests, m)
	switch m.kind {
	case kindCSV:
		if b.csv, err = readCSV(m); err != nil {
			return b.fail(m.file, "the ClusterServiceVersion is not valid: %w", err)
		}
		if b.csv.name == "" {
			return b.fail(m.file, "the ClusterServiceVersion has no name").Fix("Set metadata.name.")
		}
	case kindCRD:
		if err = b.addCRD(m); err != nil {
			return b.fail(m.file, "the CustomResourceDefinition is not valid: %w", err)
		}
	}
	return nil
}
