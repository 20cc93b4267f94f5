// Package github keeps the pull requests of Graft on GitHub and GitHub
// Enterprise Server: it finds, creates, updates and supersedes them, commits
// through the Git data API, keeps forks, and sends repository_dispatch events.
//
// Every request is tried again after server errors and waits out rate limits
// within the context's deadline; what then still stands in the way comes back as
// a failure.Error.
package github

import (
	"cmp"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/outbound"
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
	// Retry says how often a request is tried again; without a number it is sent 5 times,
	// and a rate limit is waited for up to 10 minutes where the context has no deadline.
	// Waiting for a rate limit is no attempt.
	Retry outbound.Retry
}

// Client talks to one GitHub with one token. It may be used concurrently.
type Client struct {
	gh        *github.Client
	retry     outbound.Retry
	token     string
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
			Fix("Set GITHUB_API_URL to https://api.github.com or https://HOST/api/v3.")
	}
	if api.User != nil {
		return nil, failure.New(failure.Usage, "the API address of %s holds credentials", api.Host).
			Fix("Give the token in its own input.")
	}
	o.Retry.Attempts, o.Retry.LongestAsked = cmp.Or(o.Retry.Attempts, 5), cmp.Or(o.Retry.LongestAsked, 10*time.Minute)
	c := &Client{
		retry: o.Retry.WithDefaults(),
		token: strings.TrimSpace(o.Token), serverURL: serverURL(o.ServerURL, api), graphql: graphqlURL(api),
	}
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	c.gh = github.NewClient(&http.Client{Transport: &outbound.Transport{
		Next: authorized{o.Transport, api, c.token}, Retry: c.retry, UserAgent: o.UserAgent, RateLimit: limitOf,
		Repeatable: func(*http.Request) bool { return true }, // but for what outbound.Once holds
	}})
	c.gh.BaseURL = api
	return c, nil
}

var namePattern = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// checkRepository keeps names that would lead to another path of the API from being
// put into one.
func checkRepository(repo forge.Repository) error {
	for _, name := range []string{repo.Owner, repo.Name} {
		if !namePattern.MatchString(name) || strings.Trim(name, ".") == "" {
			return failure.New(failure.Usage, "%q is no repository of GitHub", repo).Fix("Name it OWNER/NAME.")
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
