package oci

import (
	"bytes"
	"context"
	_ "crypto/sha512" // digests may use it
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/opencontainers/go-digest"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/failure"
)

var manifestTypes = strings.Join([]string{
	string(types.DockerManifestSchema2),
	string(types.OCIManifestSchema1),
	string(types.DockerManifestList),
	string(types.OCIImageIndex),
}, ", ")

// manifest is a manifest or index as received, with its digest.
type manifest struct {
	digest string
	media  types.MediaType
	body   []byte
}

// manifest reads a manifest or index by tag or digest, with one request.
func (s *session) manifest(ctx context.Context, identifier string) (*manifest, error) {
	got, err := s.get(ctx, "reading manifest "+identifier, "manifests/"+identifier, budget.ImageManifest, manifestTypes)
	if err != nil {
		return nil, err
	}
	want := identifier
	if !isDigest(want) {
		// This is the digest that the registry reports for the tag. Container engines check it too.
		want = got.header.Get("Docker-Content-Digest")
	}
	found := digestOf(got.body, want)
	if isDigest(want) && found != want {
		return nil, mismatch("manifest", want, found)
	}
	return &manifest{digest: found, media: mediaTypeOf(got), body: got.body}, nil
}

// headManifest returns the digest of a tag.
func (s *session) headManifest(ctx context.Context, tag string) (string, error) {
	at := s.base
	at.Path += "manifests/" + tag
	got, err := s.do(ctx, http.MethodHead, "asking for the digest", &at, budget.ImageManifest, manifestTypes)
	var status *errStatus
	if errors.As(err, &status) {
		switch status.answer.StatusCode {
		case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusNotImplemented:
			// This registry does not serve HEAD.
			got, err = nil, nil
		}
	}
	if err != nil {
		return "", err
	}
	if got != nil && isDigest(got.header.Get("Docker-Content-Digest")) {
		return got.header.Get("Docker-Content-Digest"), nil
	}
	m, err := s.manifest(ctx, tag)
	if err != nil {
		return "", err
	}
	return m.digest, nil
}

// imageOf reads a manifest and its image; for an index, the chosen image. It refuses an image beyond the limits
// before reading any of it.
func imageOf(ctx context.Context, from store, identifier string, l limits) (top *manifest, image *v1.Manifest, err error) {
	if top, err = from.manifest(ctx, identifier); err != nil {
		return nil, nil, err
	}
	m, err := chosenOf(ctx, from, top)
	if err != nil {
		return nil, nil, err
	}
	if image, err = m.image(); err != nil {
		return nil, nil, err
	}
	return top, image, l.checkImage(image)
}

// chosenOf returns the manifest of an image, or of the image to take from an index.
func chosenOf(ctx context.Context, from store, m *manifest) (*manifest, error) {
	// An index may hold an index. No builder nests them deeper than this.
	for depth := 0; m.media.IsIndex(); depth++ {
		if depth == 3 {
			return nil, notABundle("indexes are nested more than 3 deep")
		}
		index, err := m.index()
		if err != nil {
			return nil, err
		}
		chosen, ok := choose(index.Manifests)
		if !ok {
			return nil, notABundle("the index has no image in it")
		}
		if m, err = from.manifest(ctx, chosen.Digest.String()); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// image parses the manifest of an image.
func (m *manifest) image() (*v1.Manifest, error) {
	if !m.media.IsImage() {
		return nil, notABundle("its manifest is of type %q, which is no image of docker schema 2 or OCI", m.media)
	}
	image, err := v1.ParseManifest(bytes.NewReader(m.body))
	if err != nil {
		return nil, notABundle("the manifest is malformed: %w", err)
	}
	if image.Config.Digest.Hex == "" {
		return nil, notABundle("the manifest names no configuration")
	}
	return image, nil
}

// index parses the manifest of an index.
func (m *manifest) index() (*v1.IndexManifest, error) {
	index, err := v1.ParseIndexManifest(bytes.NewReader(m.body))
	if err != nil {
		return nil, notABundle("the index is malformed: %w", err)
	}
	return index, nil
}

// choose takes linux/amd64, which opm takes where most catalogs are built, or else the first image. Bundles
// hold no programs, so any platform's image is valid. Indexes also list attestations, with the platform
// unknown.
func choose(members []v1.Descriptor) (v1.Descriptor, bool) {
	members = slices.DeleteFunc(slices.Clone(members), func(m v1.Descriptor) bool { return !isMember(m) })
	if len(members) == 0 {
		return v1.Descriptor{}, false
	}
	usual := slices.IndexFunc(members, func(m v1.Descriptor) bool {
		return m.Platform != nil && m.Platform.OS == "linux" && m.Platform.Architecture == "amd64"
	})
	return members[max(usual, 0)], true
}

// isMember reports whether an entry of an index is an image or an index.
func isMember(m v1.Descriptor) bool {
	usable := m.MediaType == "" || m.MediaType.IsImage() || m.MediaType.IsIndex()
	switch types.MediaType(m.ArtifactType) {
	case "", types.OCIConfigJSON, types.DockerConfigJSON:
		// Some builders repeat the type of the configuration here.
	default:
		return false
	}
	return usable && m.Digest.Hex != "" && (m.Platform == nil || m.Platform.OS != "unknown")
}

// mediaTypeOf trusts the body more than the header. Static file servers and some proxies send application/json
// or text/plain for everything.
func mediaTypeOf(got *answer) types.MediaType {
	var said struct {
		MediaType types.MediaType   `json:"mediaType"`
		Manifests []json.RawMessage `json:"manifests"`
		Config    json.RawMessage   `json:"config"`
		Schema    int               `json:"schemaVersion"`
	}
	if json.Unmarshal(got.body, &said) != nil {
		said.MediaType = ""
	}
	header, _, _ := strings.Cut(got.header.Get("Content-Type"), ";")
	media := types.MediaType(strings.TrimSpace(header))
	switch {
	case said.MediaType != "":
		return said.MediaType
	case media.IsIndex() || media.IsImage() || media.IsSchema1():
		return media
	case said.Schema == 2 && said.Manifests != nil:
		return types.OCIImageIndex
	case said.Schema == 2 && said.Config != nil:
		return types.OCIManifestSchema1
	}
	return media
}

func labelsOf(config []byte) (map[string]string, error) {
	var c struct {
		Config struct {
			Labels map[string]string `json:"Labels"`
		} `json:"config"`
	}
	if err := json.Unmarshal(config, &c); err != nil {
		return nil, notABundle("the image's configuration is malformed: %w", err)
	}
	return c.Config.Labels, nil
}

func isDigest(s string) bool {
	_, err := v1.NewHash(s)
	return err == nil
}

// digestOf returns the digest of b with the algorithm of another digest, or with sha256 if that is not a digest.
func digestOf(b []byte, other string) string {
	algorithm := digest.Canonical
	if like, err := digest.Parse(other); err == nil {
		algorithm = like.Algorithm()
	}
	return algorithm.FromBytes(b).String()
}

func mismatch(what, want, got string) error {
	return failure.New(failure.DigestMismatch, "%s %s: what the registry sent has digest %s", what, want, got).
		Fix("Pull again. If the problem stays, the registry or a proxy serves altered content: tell its operator.")
}

func notABundle(format string, args ...any) *failure.Error {
	return failure.New(failure.BundleInvalid, "%w", fmt.Errorf(format, args...))
}
