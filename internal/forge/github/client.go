// Package github keeps the pull requests of Graft on GitHub and GitHub
// Enterprise Server: it finds, creates, updates and supersedes them, commits
// through the Git data API, keeps forks, and sends repository_dispatch events.
//
// Every request is tried again after server errors and waits out rate limits
// within the context's deadline; what then still stands in the way comes back as
// a failure.Error.
package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/olmgraft/graft/internal/failure"
)

// Options of a client.
type Options struct {
	// APIURL is GITHUB_API_URL: https://api.github.com, which is also the default,
	// or https://HOST/api/v3.
	APIURL string
	// ServerURL is GITHUB_SERVER_URL; it stands in remedies. The default follows
	// from APIURL.
	ServerURL string
	Token     string
	UserAgent string
	// Transport replaces http.DefaultTransport.
	Transport http.RoundTripper
	// Attempts of one request, the first included; 0 means 5. Waiting for a rate
	// limit is no attempt.
	Attempts int
	// Patience is how long a rate limit is waited for where the context has no
	// deadline; 0 means 10 minutes.
	Patience time.Duration
	// Now and Sleep replace the clock in tests.
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
}

// Client talks to one GitHub with one token. It may be used concurrently.
type Client struct {
	gh        *github.Client
	carrier   *carrier
	serverURL string
	graphql   string
}

// New makes a client. It makes no request.
func New(o Options) (*Client, error) {
	if o.APIURL == "" {
		o.APIURL = "https://api.github.com"
	}
	api, err := url.Parse(strings.TrimRight(o.APIURL, "/") + "/")
	if err != nil || api.Host == "" || api.Scheme != "https" && api.Scheme != "http" {
		return nil, failure.New(failure.Usage, "the API address %q is no http or https URL", o.APIURL).
			Fix("set GITHUB_API_URL to https://api.github.com or https://HOST/api/v3")
	}
	if api.User != nil {
		return nil, failure.New(failure.Usage, "the API address of %s holds credentials", api.Host).
			Fix("give the token by its own input")
	}
	carrier := newCarrier(o, api)
	gh := github.NewClient(&http.Client{Transport: carrier})
	gh.BaseURL = api
	return &Client{
		gh:        gh,
		carrier:   carrier,
		serverURL: serverURL(o.ServerURL, api),
		graphql:   graphqlURL(api),
	}, nil
}

// IsUser tells the token of a user from that of an app or a workflow, which has no
// account of its own.
func (c *Client) IsUser(ctx context.Context) (bool, error) {
	_, _, err := c.gh.Users.Get(ctx, "")
	switch statusOf(err) {
	case http.StatusForbidden, http.StatusNotFound:
		return false, nil
	}
	if err != nil {
		return false, c.fail(ctx, operation{doing: "looking up the account of the token"}, err)
	}
	return true, nil
}

// Branch is the commit at the tip of a branch; "" where there is no such branch.
func (c *Client) Branch(ctx context.Context, owner, repo, branch string) (string, error) {
	if err := checkRepository(owner, repo); err != nil {
		return "", err
	}
	ref, _, err := c.gh.Git.GetRef(ctx, owner, repo, "heads/"+branch)
	switch {
	case statusOf(err) == http.StatusNotFound:
		return "", nil
	case err != nil:
		return "", c.fail(ctx, operation{
			doing: fmt.Sprintf("reading the branch %s of %s/%s", branch, owner, repo),
			needs: "contents: read", refused: failure.GitFailed,
		}, err)
	}
	return ref.GetObject().GetSHA(), nil
}

var namePattern = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// checkRepository keeps names that would lead to another path of the API from being
// put into one.
func checkRepository(owner, repo string) error {
	for _, name := range []string{owner, repo} {
		if !namePattern.MatchString(name) || strings.Trim(name, ".") == "" {
			return failure.New(failure.Usage, "%q is no repository of GitHub", owner+"/"+repo).Fix("name it OWNER/NAME")
		}
	}
	return nil
}

func serverURL(given string, api *url.URL) string {
	switch {
	case given != "":
		return strings.TrimRight(given, "/")
	case api.Host == "api.github.com":
		return "https://github.com"
	}
	return api.Scheme + "://" + strings.TrimPrefix(api.Host, "api.")
}

// graphqlURL is /graphql beside the REST API, and /api/graphql beside the /api/v3
// of an Enterprise Server.
func graphqlURL(api *url.URL) string {
	at := *api
	at.Path = strings.TrimSuffix(api.Path, "v3/") + "graphql"
	return at.String()
}
