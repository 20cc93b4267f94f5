// Package oci reads bundle and catalog images from registries and from the disk, and
// builds and pushes catalog images. It is the only package that speaks to a registry.
// What a registry answers is checked before it is used: blobs and manifests against
// their digests, archives against limits.
package oci

import (
	"context"
	"net/http"
	"sync"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/olmgraft/graft/internal/outbound"
)

// Options of a Client. The zero Options are those of a plain run.
type Options struct {
	// PlainHTTP allows a registry that does not answer by TLS to be asked
	// without it. Loopback addresses are always asked so.
	PlainHTTP bool
	// SkipTLSVerify takes any certificate.
	SkipTLSVerify bool
	// RegistriesConf is a registries.conf with mirrors; none is read if it is "".
	RegistriesConf string
	// Auth is credentials as docker and podman write them to files; they count before those
	// of files. GitHubToken is for ghcr.io where nobody gives other credentials; without it,
	// that of the environment.
	Auth, GitHubToken string
	// Jobs bounds the requests under way to one host; 0 means 8.
	Jobs int
	// UserAgent is sent with each request; "" means graft.
	UserAgent string
	// Transport replaces the standard one; TLS and proxies are its matter then.
	Transport http.RoundTripper
	// Retry says how to go on after a fault that may pass.
	Retry outbound.Retry
}

// Client reads from any number of registries. Whether a registry wants a token,
// and the token for a repository, is asked once for all calls. It is safe for
// concurrent use.
type Client struct {
	hosts   *hosts
	http    *outbound.Transport
	keys    *keychain
	mirrors *registriesConf
	limits  limits

	challenges shared[*transport.Challenge]
	sessions   shared[*session]
	blobs      shared[[]byte]
	small      blobMemory
	idle       sync.Map // layers that have nothing of a catalog, and its directory
	down       sync.Map // hosts of mirrors, and when they were last found unavailable
}

// Pulled is what a bundle image holds.
type Pulled struct {
	// Ref is the reference as it was asked for.
	Ref string
	// Digest is that of the manifest or index that Ref names.
	Digest string
	// Labels are those of the image's configuration.
	Labels map[string]string
	// Files has the content of the files below the directories that the labels
	// name and below manifests/ and metadata/, by path from the image's root.
	Files map[string][]byte
}

// New fails only if o.RegistriesConf names a file that cannot be used.
func New(o Options) (*Client, error) {
	mirrors := &registriesConf{}
	if o.RegistriesConf != "" {
		var err error
		if mirrors, err = readRegistriesConf(o.RegistriesConf); err != nil {
			return nil, err
		}
	}
	if o.Jobs <= 0 {
		o.Jobs = 8
	}
	known := newHosts(o, mirrors)
	return &Client{
		hosts:      known,
		http:       newTransport(o, known),
		keys:       systemKeychain(o),
		mirrors:    mirrors,
		limits:     defaultLimits,
		challenges: shared[*transport.Challenge]{keep: true},
		sessions:   shared[*session]{keep: true},
	}, nil
}

// Resolve gives the digest of the manifest that a reference names, by one HEAD
// request once the registry is known; where a registry does not serve HEAD, by
// GET. A reference by digest is its own answer, and asks nothing.
func (c *Client) Resolve(ctx context.Context, ref string) (string, error) {
	if parsed, err := parseReference(ref); err == nil && isDigest(parsed.Identifier()) {
		return parsed.Identifier(), nil
	}
	return fromSources(ctx, c, ref, func(s *session, identifier string) (string, error) { return s.headManifest(ctx, identifier) })
}

// Pull reads a bundle image. Nothing of it touches the disk.
func (c *Client) Pull(ctx context.Context, ref string) (*Pulled, error) {
	return fromSources(ctx, c, ref, func(s *session, identifier string) (*Pulled, error) { return c.pull(ctx, s, ref, identifier) })
}

// Tags lists the tags of a repository in the registry's order, each once. Mirrors
// are not asked: they know only the tags that somebody pulled through them.
func (c *Client) Tags(ctx context.Context, repository string) ([]string, error) {
	repo, err := c.origin(repository)
	if err != nil {
		return nil, err
	}
	s, err := c.session(ctx, repo)
	if err != nil {
		return nil, c.explain(ctx, repository, err)
	}
	tags, err := s.tags(ctx)
	if err != nil {
		return nil, c.explain(ctx, repository, err)
	}
	return tags, nil
}

// pull reads one image from one place.
func (c *Client) pull(ctx context.Context, from store, ref, identifier string) (*Pulled, error) {
	top, image, err := imageOf(ctx, from, identifier, c.limits)
	if err != nil {
		return nil, err
	}
	config, layers, err := imageBlobs(ctx, from, image)
	if err != nil {
		return nil, err
	}
	labels, err := labelsOf(config)
	if err != nil {
		return nil, err
	}
	dirs, err := bundleDirs(labels)
	if err != nil {
		return nil, err
	}
	files, err := unpack(ctx, layers, dirs, c.limits)
	if err != nil {
		return nil, err
	}
	return &Pulled{Ref: ref, Digest: top.digest, Labels: labels, Files: files}, nil
}
