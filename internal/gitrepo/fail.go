package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/outbound"
)

// explain converts any error to a typed failure. The message has the action, the address and the remote's own
// words, without secrets. needs is the permission that a workflow would grant. git-failed is retryable if the
// fault may be temporary.
func (m *remote) explain(ctx context.Context, doing, needs string, err error) *failure.Error {
	var known *failure.Error
	if errors.As(err, &known) {
		return known
	}
	f := m.classify(ctx, doing+" "+m.url, needs, err)
	f.Err = err
	return f
}

func (m *remote) classify(ctx context.Context, what, needs string, err error) *failure.Error {
	f := failure.New(failure.GitFailed, "%s: %s", what, m.clean(describe(err)))
	err = unwrap(err)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return failure.New(failure.Interrupted, "%s: interrupted", what)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		f = failure.New(failure.GitFailed, "%s: no answer before the deadline of the run", what)
	case errors.Is(err, transport.ErrAuthenticationRequired) && m.auth == nil:
		return f.Fix("Give a token with the permission %s.", needs)
	case errors.Is(err, transport.ErrAuthenticationRequired):
		return f.Fix("Check that the token is for this host and has not expired. It needs the permission %s.", needs)
	case errors.Is(err, transport.ErrAuthorizationFailed):
		return f.Fix("Give the token the permission %s for this repository.", needs)
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return f.Fix("Check the address. If the repository is private, give a token with access to it, and the permission %s.", needs)
	case outbound.IsCertificate(err):
		return f.Fix("Make the system trust the certificate authority of the host, for example with SSL_CERT_FILE.")
	case !mayPass(err):
		return f
	}
	f.Retryable = true
	return f.Fix("Run again later.")
}

// unwrap removes wrappers of go-git that errors.As does not see.
func unwrap(err error) error {
	for {
		var unexpected *plumbing.UnexpectedError
		var permanent *plumbing.PermanentError
		switch {
		case errors.As(err, &unexpected):
			err = unexpected.Err
		case errors.As(err, &permanent):
			err = permanent.Err
		default:
			return err
		}
	}
}

func describe(err error) string {
	err = unwrap(err)
	var answer *githttp.Err
	var request *url.Error
	switch {
	case errors.As(err, &answer):
		return strings.TrimSpace(fmt.Sprintf("HTTP %d %s %s", answer.StatusCode(), http.StatusText(answer.StatusCode()), withoutPage(answer.Reason)))
	case errors.As(err, &request):
		return request.Err.Error()
	case errors.Is(err, transport.ErrEmptyUploadPackRequest):
		return "the answer was cut short"
	}
	for _, known := range []error{transport.ErrAuthenticationRequired, transport.ErrAuthorizationFailed, transport.ErrRepositoryNotFound} {
		if errors.Is(err, known) {
			said := withoutPage(strings.TrimPrefix(err.Error(), known.Error()+":"))
			return strings.TrimSuffix(known.Error()+": "+said, ": ")
		}
	}
	return err.Error()
}

// withoutPage drops an HTML page.
func withoutPage(body string) string {
	if lower := strings.ToLower(body); strings.Contains(lower, "<html") || strings.Contains(lower, "<!doctype") {
		return ""
	}
	return strings.TrimSpace(body)
}

// mayPass treats every fault as temporary unless it says that the request will never be granted. That is safe,
// because Graft reads the branch before it repeats a push, and a fetch changes nothing.
func mayPass(err error) bool {
	err = unwrap(err)
	var dns *net.DNSError
	var answer *githttp.Err
	var said *pktline.ErrorLine
	switch {
	case errors.As(err, &answer):
		return outbound.PassingStatus(answer.StatusCode())
	case errors.As(err, &dns):
		return !dns.IsNotFound
	case errors.As(err, &said), strings.Contains(err.Error(), "http redirect: "), outbound.IsCertificate(err):
		return false
	}
	for _, final := range []error{
		transport.ErrAuthenticationRequired, transport.ErrAuthorizationFailed, transport.ErrRepositoryNotFound,
		transport.ErrInvalidAuthMethod, http.ErrSchemeMismatch,
	} {
		if errors.Is(err, final) {
			return false
		}
	}
	return true
}

// clean converts a remote's text to one line of limited length without secrets.
func (m *remote) clean(s string) string {
	return outbound.Shorten(outbound.OneLine(m.secrets.Redact(s)), 400)
}
