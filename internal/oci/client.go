// Package oci reads bundle and catalog images from registries and from the disk, and
// builds and pushes catalog images. It is the only package that speaks to a registry.
// What a registry answers is checked before it is used: blobs and manifests against
// their digests, archives against limits.
package oci

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/olmgraft/graft/internal/failure"
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

	greetings flight[greeting]
	sessions  flight[*session]
	blobs     flight[[]byte]
	small     blobMemory
	down      sync.Map // hosts of mirrors, and when they were last found unavailable
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
	known := newHosts(o, mirrors.insecureHosts())
	return &Client{
		hosts:     known,
		http:      newTransport(o, known),
		keys:      systemKeychain(o),
		mirrors:   mirrors,
		limits:    defaultLimits,
		greetings: flight[greeting]{keep: true},
		sessions:  flight[*session]{keep: true},
	}, nil
}

// Resolve gives the digest of the manifest that a reference names, by one HEAD
// request once the registry is known; where a registry does not serve HEAD, by
// GET. A reference by digest is its own answer, and asks nothing.
func (c *Client) Resolve(ctx context.Context, ref string) (string, error) {
	parsed, err := parseReference(ref)
	if err != nil {
		return "", err
	}
	if digest, ok := parsed.(name.Digest); ok {
		return digest.DigestStr(), nil
	}
	return fromSources(ctx, c, ref, parsed, func(s *session, at source) (string, error) {
		return s.headManifest(ctx, at.identifier)
	})
}

// Pull reads a bundle image. Nothing of it touches the disk.
func (c *Client) Pull(ctx context.Context, ref string) (*Pulled, error) {
	parsed, err := parseReference(ref)
	if err != nil {
		return nil, err
	}
	return fromSources(ctx, c, ref, parsed, func(s *session, at source) (*Pulled, error) {
		return c.pull(ctx, remoteStore{s, c, at.repo}, ref, at.identifier)
	})
}

// Tags lists the tags of a repository in the registry's order, each once. Mirrors
// are not asked: they know only the tags that somebody pulled through them.
func (c *Client) Tags(ctx context.Context, repository string) ([]string, error) {
	repo, err := parseRepository(repository)
	if err != nil {
		return nil, err
	}
	sources, err := c.mirrors.sources(repo, "")
	if err != nil {
		return nil, refused(repository, err)
	}
	s, err := c.session(ctx, sources[len(sources)-1])
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
	top, err := from.manifest(ctx, identifier)
	if err != nil {
		return nil, err
	}
	image, err := imageOf(ctx, from, top)
	if err != nil {
		return nil, err
	}
	if err := c.limits.checkImage(image); err != nil {
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
	files, err := unpack(layers, dirs, c.limits)
	if err != nil {
		return nil, err
	}
	return &Pulled{Ref: ref, Digest: top.digest, Labels: labels, Files: files}, nil
}

// fromSources tries the mirrors of a reference, if it has any, and at last the
// place that it names. Only a registry's failure leads on to the next place;
// what is wrong with the image itself is reported at once.
func fromSources[T any](ctx context.Context, c *Client, ref string, parsed name.Reference, read func(*session, source) (T, error)) (T, error) {
	var none T
	sources, err := c.mirrors.sources(parsed.Context(), parsed.Identifier())
	if err != nil {
		return none, refused(ref, err)
	}
	var passed []string
	for i, at := range sources {
		isMirror := i < len(sources)-1
		if isMirror && c.isDown(at) {
			continue
		}
		s, err := c.session(ctx, at)
		if err == nil {
			var got T
			if got, err = read(s, at); err == nil {
				return got, nil
			}
		}
		f := c.explain(ctx, ref, err)
		if isMirror && ctx.Err() == nil && leadsOn(f.Code) {
			if f.Code == failure.RegistryUnavailable {
				c.down.Store(at.repo.RegistryStr(), time.Now())
			}
			passed = append(passed, fmt.Sprintf("%s: %s", at.repo.Name(), f.Class))
			continue
		}
		return none, mention(f, passed)
	}
	return none, c.explain(ctx, ref, errors.New("no place to pull from"))
}

// isDown leaves a mirror alone for a while that has used up all attempts: a pool of
// workers would wait for it with every bundle.
func (c *Client) isDown(at source) bool {
	since, ok := c.down.Load(at.repo.RegistryStr())
	return ok && time.Since(since.(time.Time)) < time.Minute
}

func leadsOn(code failure.Code) bool {
	switch code {
	case failure.BundleNotFound, failure.RegistryAuth, failure.RegistryUnavailable:
		return true
	}
	return false
}
