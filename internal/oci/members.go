package oci

import (
	"bytes"
	"context"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Members lists the digests of an index's members, including nested indexes and their members. It is empty for
// an image.
func (c *Client) Members(ctx context.Context, ref string) ([]string, error) {
	return fromSources(ctx, c, ref, func(s *session, identifier string) ([]string, error) { return s.members(ctx, identifier, 0) })
}

func (s *session) members(ctx context.Context, identifier string, depth int) ([]string, error) {
	m, err := s.manifest(ctx, identifier)
	if err != nil || !m.media.IsIndex() {
		return nil, err
	}
	if depth == 3 {
		return nil, notABundle("indexes are nested more than 3 deep")
	}
	index, err := v1.ParseIndexManifest(bytes.NewReader(m.body))
	if err != nil {
		return nil, notABundle("the index is malformed: %w", err)
	}
	var all []string
	for _, member := range index.Manifests {
		digest := member.Digest.String()
		all = append(all, digest)
		if member.MediaType.IsImage() {
			continue // an image has no members
		}
		more, err := s.members(ctx, digest, depth+1)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}
