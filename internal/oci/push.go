package oci

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/outbound"
)

// Target is a repository to push to. It uses no mirrors.
type Target struct {
	// Repository is its name as requested.
	Repository string
	// Pushing is called before each push of a tag; it may be nil.
	Pushing func(tag string, n, total int)

	client  *Client
	session *session
	repo    name.Repository
}

// Published describes the image that a tag names.
type Published struct {
	Digest      string            `json:"-"`
	Annotations map[string]string `json:"annotations"`
}

// Target signs in to a repository. Without push, as in a dry run, it requests read permission only. To mount
// layers of a base in the same registry, it requests read permission for the base's repository in the same
// token.
func (c *Client) Target(ctx context.Context, repository string, base *Base, push bool) (*Target, error) {
	repo, err := c.origin(repository)
	if err != nil {
		return nil, err
	}
	t := &Target{Repository: repository, client: c, repo: repo}
	if !push {
		t.session, err = c.session(ctx, repo)
	} else {
		scopes := []string{repo.Scope(transport.PushScope)}
		if base.repo != nil && base.repo.RegistryStr() == repo.RegistryStr() && base.repo.Name() != repo.Name() {
			scopes = append(scopes, base.repo.Scope(transport.PullScope))
		}
		t.session, err = c.openSession(ctx, repo, scopes...)
	}
	if err != nil {
		return nil, t.fail(ctx, err)
	}
	if t.session.base.Scheme == "http" {
		if t.repo, err = name.NewRepository(repo.Name(), name.Insecure); err != nil {
			return nil, t.fail(ctx, err)
		}
	}
	return t, nil
}

// Published returns what a tag names, or nil for a missing tag. Some registries answer 403 for a missing tag; a
// push then shows whether pushing is forbidden too.
func (t *Target) Published(ctx context.Context, tag string) (*Published, error) {
	m, err := t.session.manifest(ctx, tag)
	var status *errStatus
	if errors.As(err, &status) && (status.answer.StatusCode == http.StatusNotFound || status.answer.StatusCode == http.StatusForbidden) {
		return nil, nil
	}
	if err != nil {
		return nil, t.fail(ctx, err)
	}
	p := &Published{Digest: m.digest}
	if m.media.IsIndex() || m.media.IsImage() {
		_ = json.Unmarshal(m.body, p) // a tag that names no catalog is replaced
	}
	return p, nil
}

// Push makes the tags name the image. It does not send what the registry already has. It pushes manifests after
// the parts that they name, and tags last.
func (t *Target) Push(ctx context.Context, image *Image, tags ...string) error {
	ctx = withOrigin(ctx, t.session.repo.RegistryStr())
	retry := t.client.http.Retry
	pusher, err := remote.NewPusher(
		remote.WithTransport(t.session.http.Transport),
		remote.WithRetryBackoff(remote.Backoff{Duration: retry.First, Factor: 2, Jitter: 0.5, Steps: retry.Attempts, Cap: retry.Longest}),
		remote.WithRetryPredicate(func(err error) bool { return ctx.Err() == nil && uploadMayPass(err) }),
	)
	if err != nil {
		return t.fail(ctx, err)
	}
	for i, tag := range tags {
		if t.Pushing != nil {
			t.Pushing(tag, i+1, len(tags))
		}
		if err := pusher.Push(ctx, t.repo.Tag(tag), image.content); err != nil {
			return t.fail(ctx, err)
		}
	}
	return nil
}

// uploadMayPass reports whether an upload may succeed if started again. The transport repeats reads and not
// writes, so the retries never multiply.
func uploadMayPass(err error) bool {
	var answer *transport.Error
	if errors.As(err, &answer) && answer.Request != nil {
		return answer.Request.Method != http.MethodGet && answer.Request.Method != http.MethodHead && outbound.PassingStatus(answer.StatusCode)
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		return !strings.EqualFold(outer.Op, http.MethodGet) && !strings.EqualFold(outer.Op, http.MethodHead) && outbound.PassingError(err)
	}
	return false
}

// fail converts errors of a push as the client converts those of a pull.
func (t *Target) fail(ctx context.Context, err error) error {
	var status *errStatus
	if !errors.As(err, &status) {
		err = &errFetch{"pushing", err}
	}
	f := t.client.explain(ctx, t.Repository, err)
	switch f.Code {
	case failure.RegistryAuth:
		return f.Fix("Check the repository, and log in with an account that may push to it.")
	case failure.BundleNotFound:
		return f.Fix("Check the repository. Some registries require that it is created first.")
	}
	return f
}
