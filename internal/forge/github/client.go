// Package github manages Graft's pull requests on GitHub and GitHub Enterprise Server: it finds, creates,
// updates and supersedes them, commits through the Git data API, keeps forks, and sends repository_dispatch
// events.
//
// It repeats every request after server errors and waits for rate limits within the context's deadline.
// Remaining errors are returned as a failure.Error.
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

// Options configure a client.
type Options struct {
	// APIURL is GITHUB_API_URL: https://api.github.com (the default) or https://HOST/api/v3.
	APIURL string
	// ServerURL is GITHUB_SERVER_URL, for remedies. The default follows from APIURL.
	ServerURL string
	Token     string
	UserAgent string
	// Transport replaces http.DefaultTransport.
	Transport http.RoundTripper
	// Retry configures retries. By default a request is sent up to 5 times, and the client waits up to 10
	// minutes for a rate limit if the context has no deadline. Waiting for a rate limit does not count as an
	// attempt.
	Retry outbound.Retry
}

// Client talks to one GitHub with one token. It is safe for concurrent use.
type Client struct {
	gh        *github.Client
	retry     outbound.Retry
	token     string
	serverURL string
	graphql   string
}

// New returns a client without sending a request.
func New(o Options) (*Client, error) {
	if o.APIURL == "" {
		o.APIURL = "https://api.github.com"
	}
	api, err := url.Parse(strings.TrimRight(o.APIURL, "/") + "/")
	if err != nil || api.Host == "" || api.Scheme != "https" && api.Scheme != "http" {
		return nil, failure.New(failure.Usage, "the API address %q is not an http or https URL", o.APIURL).
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
		Repeatable: func(*http.Request) bool { return true }, // except as outbound.Once requires
	}})
	c.gh.BaseURL = api
	return c, nil
}

var namePattern = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// checkRepository refuses names that would change the path of an API request.
func checkRepository(repo forge.Repository) error {
	for _, name := range []string{repo.Owner, repo.Name} {
		if !namePattern.MatchString(name) || strings.Trim(name, ".") == "" {
			return failure.New(failure.Usage, "%q is not a GitHub repository", repo).Fix("Name it OWNER/NAME.")
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

// graphqlURL returns /graphql beside the REST API, and /api/graphql beside the /api/v3 of an Enterprise Server.
func graphqlURL(api *url.URL) string {
	at := *api
	at.Path = strings.TrimSuffix(api.Path, "v3/") + "graphql"
	return at.String()
}
