// Package oci reads bundle and catalog images from registries and from the disk, and builds and pushes catalog
// images. No other package talks to a registry. It checks all answers of a registry before use: blobs and
// manifests against their digests, archives against limits.
package oci

import (
	"context"
	"net/http"
	"sync"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/olmgraft/graft/internal/outbound"
)

// Options configure a Client. The zero Options suit a plain run.
type Options struct {
	// PlainHTTP allows requests without TLS to a registry that does not serve TLS. Loopback addresses are
	// always allowed.
	PlainHTTP bool
	// SkipTLSVerify accepts any certificate.
	SkipTLSVerify bool
	// RegistriesConf is a registries.conf with mirrors. "" reads none.
	RegistriesConf string
	// Auth holds credentials in the format of docker's and podman's files, and overrides those files.
	// GitHubToken is used for the container registry of its GitHub if there are no other credentials; it defaults
	// to the token in the environment.
	Auth, GitHubToken string
	// Jobs limits the concurrent requests to one host. 0 means 8.
	Jobs int
	// UserAgent is sent with each request. "" means graft.
	UserAgent string
	// Transport replaces the standard transport, and then handles TLS and proxies.
	Transport http.RoundTripper
	// Retry configures retries after temporary faults.
	Retry outbound.Retry
}

// Client reads from any number of registries. It asks each registry once whether it requires a token, and gets
// each repository's token once. It is safe for concurrent use.
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
	idle       sync.Map // layers without catalog files, with the catalog's directory
	down       sync.Map // hosts of mirrors, with the time when they were last unavailable
}

// Pulled is the content of a bundle image.
type Pulled struct {
	// Ref is the requested reference.
	Ref string
	// Digest is the digest of the manifest or index that Ref names.
	Digest string
	// Labels are the labels in the image's configuration.
	Labels map[string]string
	// Files holds the files below manifests/, metadata/ and the directories that the labels name, by path
	// relative to the image's root.
	Files map[string][]byte
}

// New fails only if o.RegistriesConf names an unusable file.
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

// Resolve returns the digest of the manifest that a reference names. It sends one HEAD request once the
// registry is known, or GET if the registry does not serve HEAD. For a reference by digest it returns that
// digest without a request.
func (c *Client) Resolve(ctx context.Context, ref string) (string, error) {
	if parsed, err := parseReference(ref); err == nil && isDigest(parsed.Identifier()) {
		return parsed.Identifier(), nil
	}
	return fromSources(ctx, c, ref, func(s *session, identifier string) (string, error) { return s.headManifest(ctx, identifier) })
}

// Pull reads a bundle image. It writes nothing to disk.
func (c *Client) Pull(ctx context.Context, ref string) (*Pulled, error) {
	return fromSources(ctx, c, ref, func(s *session, identifier string) (*Pulled, error) { return c.pull(ctx, s, ref, identifier) })
}

// Tags lists the tags of a repository in the registry's order, each once. It does not ask mirrors, which know
// only tags that were pulled through them.
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

// pull reads one image from one source.
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
