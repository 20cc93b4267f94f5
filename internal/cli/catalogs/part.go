package catalogs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/oci"
)

// Packages returns the catalog's documents of some packages.
func (c *Reader) Packages(ctx context.Context, name string, pkgs ...string) ([]fbc.Doc, error) {
	c.Progress.Begin("reading %s", name)
	defer c.Progress.End()
	if IsImage(name) {
		client, err := c.Client()
		if err != nil {
			return nil, err
		}
		return Images{Client: client}.packages(ctx, name, pkgs)
	}
	docs, err := c.Docs(ctx, name)
	return fbc.OfPackage(docs, pkgs...), err
}

// Images reads single packages from catalog images: only a part of each image, and with a cache only once for
// each digest.
type Images struct {
	Client *oci.Client
	Cache  *oci.Cache
}

// Package returns the image's documents of the package.
func (c Images) Package(ctx context.Context, image, pkg string) ([]fbc.Doc, error) {
	return c.packages(ctx, image, []string{pkg})
}

func (c Images) packages(ctx context.Context, image string, pkgs []string) ([]fbc.Doc, error) {
	files, err := c.files(ctx, image, pkgs)
	if err != nil {
		return nil, err
	}
	docs, err := fbc.ReadMap(files)
	for i := range docs {
		docs[i].File = image + "/" + docs[i].File
	}
	for _, fault := range failure.All(err) {
		fault.File = image + "/" + fault.File
	}
	return docs, err
}

// files returns the packages' documents by their files' names in the image.
func (c Images) files(ctx context.Context, image string, pkgs []string) (map[string][]byte, error) {
	kind := fmt.Sprintf("catalog %x", sha256.Sum256([]byte(strings.Join(pkgs, " "))))
	if c.Cache != nil {
		digest, err := c.Client.Resolve(ctx, image)
		if err != nil {
			return nil, err
		}
		var files map[string][]byte
		if text, ok := c.Cache.Get(kind, digest); ok && json.Unmarshal(text, &files) == nil {
			return files, nil
		}
	}
	part, err := c.Client.CatalogPart(ctx, image, func(name string, content []byte) bool {
		return path.Base(name) == ".indexignore" || slices.ContainsFunc(pkgs, func(pkg string) bool { return bytes.Contains(content, []byte(pkg)) })
	})
	if err != nil {
		return nil, err
	}
	docs, err := fbc.ReadMap(part.Files)
	if err != nil {
		for _, fault := range failure.All(err) {
			fault.File = image + part.Dir + "/" + fault.File
		}
		return nil, err
	}
	files := map[string][]byte{}
	for _, d := range fbc.OfPackage(docs, pkgs...) {
		name := path.Join(part.Dir, d.File)[1:]
		if d.Format == fbc.YAML {
			files[name] = append(files[name], "---\n"...)
		}
		files[name] = append(append(files[name], d.Raw()...), '\n')
	}
	if text, err := json.Marshal(files); err == nil {
		// If the cache cannot be written, the next run is slower.
		_ = c.Cache.Put(kind, part.Digest, text)
	}
	return files, nil
}
