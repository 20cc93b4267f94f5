package oci

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/olmgraft/graft/internal/outbound"
)

// session is a signed-in connection to one repository, with its scheme, credentials and token. It uses the
// ping, token and transport of go-containerregistry, but not its Puller: that pings each repository again, does
// not compare a tag's content with the digest in the registry's header, and follows endless lists of tags.
type session struct {
	repo   name.Repository
	base   url.URL
	http   *http.Client
	from   string // the source of the credentials, if there are any
	client *Client
}

// errSignIn is a failure to get a token, whatever status the registry sent: a token server's 404 does not
// concern an image.
type errSignIn struct {
	from string
	err  error
}

func (e *errSignIn) Error() string { return e.err.Error() }
func (e *errSignIn) Unwrap() error { return e.err }

// session returns the repository's session and opens it once.
func (c *Client) session(ctx context.Context, repo name.Repository) (*session, error) {
	return c.sessions.do(ctx, repo.Name(), func() (*session, error) {
		return c.openSession(ctx, repo, repo.Scope(transport.PullScope))
	})
}

func (c *Client) openSession(ctx context.Context, repo name.Repository, scopes ...string) (*session, error) {
	reg := repo.Registry
	ctx = withOrigin(ctx, reg.RegistryStr())
	if c.hosts.plainHTTP || c.hosts.insecure[reg.RegistryStr()] {
		var err error
		if reg, err = name.NewRegistry(reg.RegistryStr(), name.Insecure); err != nil {
			return nil, err
		}
	}
	challenge, err := c.challenges.do(ctx, reg.RegistryStr(), func() (*transport.Challenge, error) { return c.ping(ctx, reg) })
	if err != nil {
		return nil, err
	}
	creds, err := c.keys.resolve(ctx, repo)
	if err != nil {
		return nil, err
	}
	c.hosts.secrets.Note(creds.config.Password, creds.config.IdentityToken, creds.config.RegistryToken)
	rt, err := c.signIn(ctx, reg, scopes, creds, challenge)
	if err != nil && creds.implied && isRefused(err) {
		// The workflow's own token is a guess, and a public image needs none.
		creds = credentials{}
		rt, err = c.signIn(ctx, reg, scopes, creds, challenge)
	}
	if err != nil {
		return nil, &errSignIn{creds.from, err}
	}
	s := &session{
		repo:   repo,
		base:   url.URL{Scheme: "https", Host: reg.RegistryStr(), Path: "/v2/" + repo.RepositoryStr() + "/"},
		http:   &http.Client{Transport: rt, CheckRedirect: followRedirect},
		from:   creds.from,
		client: c,
	}
	if challenge.Insecure {
		s.base.Scheme = "http"
	}
	return s, nil
}

// ping asks a registry with TLS and, if allowed, without. An error answer counts as no need for credentials;
// the next request will fail if that is wrong.
func (c *Client) ping(ctx context.Context, reg name.Registry) (*transport.Challenge, error) {
	challenge, err := transport.Ping(outbound.ShareAttempts(ctx, c.http.Retry.Attempts), reg, c.http)
	var answer *transport.Error
	if errors.As(err, &answer) && !outbound.PassingStatus(answer.StatusCode) && answer.Request != nil {
		return &transport.Challenge{Insecure: answer.Request.URL.Scheme == "http"}, nil
	}
	return challenge, err
}

// signIn returns a transport that adds the registry's credentials to requests to it and to no other host, and
// that renews an expired token.
func (c *Client) signIn(ctx context.Context, reg name.Registry, scopes []string, creds credentials, challenge *transport.Challenge) (http.RoundTripper, error) {
	auth := authn.Anonymous
	if creds.config != (authn.AuthConfig{}) {
		auth = authn.FromConfig(creds.config)
	}
	token := &transport.Token{Token: creds.config.RegistryToken}
	if strings.EqualFold(challenge.Scheme, "bearer") && token.Token == "" {
		if auth != authn.Anonymous && !c.keys.trusts(ctx, challenge.Parameters["realm"], reg) {
			auth = authn.Anonymous
		}
		var err error
		token, err = transport.Exchange(ctx, reg, auth, c.http, scopes, challenge)
		if err != nil {
			return nil, err
		}
		if token.Token == "" {
			token.Token = token.AccessToken
		}
	}
	return transport.FromToken(reg, auth, c.http, challenge, token)
}

func isRefused(err error) bool {
	var answer *transport.Error
	return errors.As(err, &answer) && (answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden)
}
