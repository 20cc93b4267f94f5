package oci

import (
	"archive/tar"
	"context"
	"encoding/json"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Catalog is the content of a catalog image.
type Catalog struct {
	// Digest and MediaType describe the manifest or index.
	Digest, MediaType string
	// Platforms lists the platform of the image, or of all images of the index.
	Platforms []string
	// Annotations are those of the manifest or index.
	Annotations map[string]string
	Entrypoint  []string
	Cmd         []string
	// Dir is the directory of the catalog in the image. Files holds the files below it by their paths relative
	// to it.
	Dir   string
	Files map[string][]byte
}

// Catalog reads a catalog image from a registry, or from an OCI layout or tarball at that path. From an index
// it reads the catalog of one platform.
func (c *Client) Catalog(ctx context.Context, ref string) (*Catalog, error) {
	return withStore(ctx, c, ref, func(from store, identifier string) (*Catalog, error) {
		return readCatalog(ctx, from, identifier)
	})
}

func readCatalog(ctx context.Context, from store, identifier string) (*Catalog, error) {
	c, err := openCatalog(ctx, from, identifier)
	if err != nil {
		return nil, err
	}
	layers, err := catalogLayers(ctx, from, c.image, c.dir)
	if err != nil {
		return nil, err
	}
	files, err := unpack(ctx, layers, []string{c.dir}, catalogLimits)
	if err != nil {
		return nil, err
	}
	return c.with(files)
}

// catalogImage is a catalog image whose layers are not read yet.
type catalogImage struct {
	top    *manifest
	image  *v1.Manifest
	config v1.ConfigFile
	dir    string
}

func openCatalog(ctx context.Context, from store, identifier string) (c catalogImage, err error) {
	if c.top, c.image, err = imageOf(ctx, from, identifier, catalogLimits); err != nil {
		return c, err
	}
	text, err := from.blob(ctx, c.image.Config)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(text, &c.config); err != nil {
		return c, notABundle("the image's configuration is malformed: %w", err)
	}
	c.dir, err = catalogDir(c.config.Config.Labels)
	return c, err
}

// with returns the catalog of these files, whose paths are relative to the image's root.
func (c catalogImage) with(files map[string][]byte) (*Catalog, error) {
	below := make(map[string][]byte, len(files))
	for name, data := range files {
		below[strings.TrimPrefix(name, c.dir+"/")] = data
	}
	platforms, annotations, err := describe(c.top, &c.config)
	if err != nil {
		return nil, err
	}
	return &Catalog{
		Digest: c.top.digest, MediaType: string(c.top.media), Platforms: platforms, Annotations: annotations,
		Entrypoint: c.config.Config.Entrypoint, Cmd: c.config.Config.Cmd, Dir: "/" + c.dir, Files: below,
	}, nil
}

// catalogDir returns the directory that the label names, relative to the image's root.
func catalogDir(labels map[string]string) (string, error) {
	named, ok := labels[CatalogLabel]
	if !ok {
		return "", notABundle("it has no label %s", CatalogLabel).Fix("Name the image of a file-based catalog.")
	}
	dir := path.Clean(strings.TrimLeft(named, "/"))
	if dir == "." || dir == ".." || strings.HasPrefix(dir, "../") {
		return "", notABundle("label %s names %q, which is no directory within the image", CatalogLabel, named).
			Fix("Set the label to a directory of the image, such as /configs, and publish the catalog again.")
	}
	return dir, nil
}

// catalogLayers reads the layers that matter. If the topmost layer hides the directory of all lower layers, as
// in images that Graft makes, it reads only that one: opm and its system are many times larger than the
// catalog.
func catalogLayers(ctx context.Context, from store, image *v1.Manifest, dir string) ([][]byte, error) {
	if len(image.Layers) == 0 {
		return nil, nil
	}
	top := image.Layers[len(image.Layers)-1]
	blob, err := from.blob(ctx, top)
	if err != nil {
		return nil, err
	}
	alone := false
	err = readLayer(ctx, blob, &meter{limits: catalogLimits}, func(string, int) bool { return false }, func(e entry) error {
		alone = alone || e.kind == tar.TypeReg && e.name == path.Join(dir, opaque)
		return nil
	})
	if err != nil || alone {
		return [][]byte{blob}, err
	}
	below := *image
	below.Layers = image.Layers[:len(image.Layers)-1]
	_, layers, err := imageBlobs(ctx, from, &below)
	return append(layers, blob), err
}

// describe returns the platforms and annotations of an image or index.
func describe(top *manifest, config *v1.ConfigFile) (platforms []string, annotations map[string]string, err error) {
	if !top.media.IsIndex() {
		m, err := top.image()
		if err != nil {
			return nil, nil, err
		}
		return []string{platformName(config.Platform())}, m.Annotations, nil
	}
	index, err := top.index()
	if err != nil {
		return nil, nil, err
	}
	for _, m := range index.Manifests {
		if m.Platform != nil && m.Platform.OS != "unknown" {
			platforms = append(platforms, m.Platform.String())
		}
	}
	return platforms, index.Annotations, nil
}

// platformName returns the name of a platform, or "unknown" for an image without one.
func platformName(p *v1.Platform) string {
	if p == nil || p.String() == "" {
		return "unknown"
	}
	return p.String()
}
