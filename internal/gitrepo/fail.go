package gitrepo

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/olmgraft/graft/internal/failure"
)

// explain makes a typed failure of whatever stood in the way: what was being done at
// which address, in the remote's own words, without secrets. needs is the permission
// that a workflow would grant for it. git-failed is retryable where the fault may pass.
func (m *remote) explain(ctx context.Context, doing, needs string, err error) *failure.Error {
	var known *failure.Error
	if errors.As(err, &known) {
		return known
	}
	what := doing + " " + m.url
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return withCause(failure.Interrupted, err, "%s: interrupted", what)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return retryable(withCause(failure.GitFailed, err, "%s: no answer before the deadline of the run", what).Fix("run again later"))
	}
	f := withCause(failure.GitFailed, err, "%s: %s", what, m.clean(describe(err)))
	err = reveal(err)
	switch {
	case errors.Is(err, transport.ErrAuthenticationRequired) && m.auth == nil:
		return f.Fix("give a token with the permission %s", needs)
	case errors.Is(err, transport.ErrAuthenticationRequired):
		return f.Fix("check that the token is meant for this host and has not expired; it needs the permission %s", needs)
	case errors.Is(err, transport.ErrAuthorizationFailed):
		return f.Fix("give the token the permission %s for this repository", needs)
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return f.Fix("check the address; if the repository is private, give a token that may see it, with the permission %s", needs)
	case isCertificate(err):
		return f.Fix("have the system trust the certificate authority of the host, as by SSL_CERT_FILE")
	case mayPass(err):
		return retryable(f.Fix("run again later"))
	}
	return f
}

func retryable(f *failure.Error) *failure.Error {
	f.Retryable = true
	return f
}

func withCause(code failure.Code, err error, format string, args ...any) *failure.Error {
	f := failure.New(code, format, args...)
	f.Err = err
	return f
}

// reveal goes through the wrappers of go-git that errors.As does not.
func reveal(err error) error {
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
	err = reveal(err)
	var answer *githttp.Err
	var request *url.Error
	switch {
	case errors.As(err, &answer):
		return strings.TrimSpace(fmt.Sprintf("HTTP %d %s %s", answer.StatusCode(), http.StatusText(answer.StatusCode()), plain(answer.Reason)))
	case errors.As(err, &request):
		return request.Err.Error()
	case errors.Is(err, transport.ErrEmptyUploadPackRequest):
		return "the answer was cut short"
	}
	for _, known := range []error{transport.ErrAuthenticationRequired, transport.ErrAuthorizationFailed, transport.ErrRepositoryNotFound} {
		if errors.Is(err, known) {
			said := plain(strings.TrimPrefix(err.Error(), known.Error()+":"))
			return strings.TrimSuffix(known.Error()+": "+said, ": ")
		}
	}
	return err.Error()
}

// plain drops pages that are meant for a browser.
func plain(body string) string {
	if lower := strings.ToLower(body); strings.Contains(lower, "<html") || strings.Contains(lower, "<!doctype") {
		return ""
	}
	return strings.TrimSpace(body)
}

// mayPass takes everything for passing but what says that the same request will never
// be granted: a push is looked up before it is sent again, and a fetch does no harm.
func mayPass(err error) bool {
	err = reveal(err)
	var dns *net.DNSError
	var answer *githttp.Err
	var said *pktline.ErrorLine
	switch {
	case errors.As(err, &answer):
		status := answer.StatusCode()
		return status == http.StatusRequestTimeout || status == http.StatusTooManyRequests ||
			status >= 500 && status != http.StatusNotImplemented && status != http.StatusHTTPVersionNotSupported
	case errors.As(err, &dns):
		return !dns.IsNotFound
	case errors.As(err, &said), strings.Contains(err.Error(), "http redirect: "), isCertificate(err):
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

func isCertificate(err error) bool {
	return errors.As(err, new(*tls.CertificateVerificationError)) || errors.As(err, new(x509.UnknownAuthorityError)) ||
		errors.As(err, new(x509.HostnameError)) || errors.As(err, new(x509.CertificateInvalidError))
}

// longestAsked is the longest Retry-After that is waited for.
const longestAsked = 2 * time.Minute

// pause is how long to wait before the next attempt, and whether that is worth it.
func (m *remote) pause(failed int, err error) (time.Duration, bool) {
	wait := 500 * time.Millisecond << min(failed-1, 5)
	wait = wait/2 + rand.N(wait/2+1)
	var answer *githttp.Err
	if errors.As(reveal(err), &answer) {
		if seconds, err := strconv.ParseUint(answer.Response.Header.Get("Retry-After"), 10, 31); err == nil {
			asked := time.Duration(seconds) * time.Second
			return asked + wait, asked <= longestAsked
		}
	}
	return wait, true
}

// userinfo goes to the last @, since a password may hold any character.
var userinfo = regexp.MustCompile(`://\S*@`)

// clean makes one line of what a remote said, not longer than a line wants to be, and
// without secrets and what would steer a terminal.
func (m *remote) clean(s string) string {
	for _, secret := range m.secrets {
		s = strings.ReplaceAll(s, secret, "***")
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(ansi.ReplaceAllString(userinfo.ReplaceAllString(s, "://***@"), ""), ""))
	s = strings.Join(strings.Fields(s), " ")
	const longest = 400
	if runes := []rune(s); len(runes) > longest {
		s = string(runes[:longest]) + "..."
	}
	return s
}

var ansi = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]")
