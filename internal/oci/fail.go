package oci

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/outbound"
)

// explain converts any error to a typed failure. The message begins with the reference. It contains no address
// beyond a host name, because redirects are signed, and no secret that was sent.
func (c *Client) explain(ctx context.Context, ref string, err error) *failure.Error {
	var f *failure.Error
	if known := (*failure.Error)(nil); errors.As(err, &known) {
		own := *known
		f = &own
	} else {
		f = classify(ctx, err)
		f.Err = err
	}
	f.Message = c.hosts.secrets.Redact(outbound.OneLine(ref + ": " + f.Message))
	return f
}

func classify(ctx context.Context, err error) *failure.Error {
	var status *errStatus
	var signIn *errSignIn
	var answer *transport.Error
	doing := "asking the registry"
	if fetch := (*errFetch)(nil); errors.As(err, &fetch) {
		doing = fetch.doing
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return failure.New(failure.Interrupted, "%s: interrupted", doing)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return failure.New(failure.RegistryUnavailable, "%s: no answer before the deadline of the run", doing)
	case errors.As(err, &status):
		return ofStatus(status.doing, status.from, status.after, status.answer)
	case errors.As(err, &signIn) && errors.As(err, &answer):
		f := ofStatus("asking for a token", signIn.from, "", answer)
		if f.Code != failure.RegistryUnavailable {
			f = refusedSignIn("asking for a token", signIn.from, answer)
		}
		return f
	case errors.As(err, &answer):
		return ofStatus(doing, "", "", answer)
	}
	return ofNetwork(doing, err)
}

// ofStatus returns the failure for an HTTP status.
func ofStatus(doing, from, after string, answer *transport.Error) *failure.Error {
	said := describeAnswer(answer)
	switch status := answer.StatusCode; {
	case status == http.StatusNotFound:
		return failure.New(failure.BundleNotFound, "%s: %s", doing, said)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return refusedSignIn(doing, from, answer)
	case outbound.PassingStatus(status):
		f := failure.New(failure.RegistryUnavailable, "%s: %s", doing, said)
		if after != "" {
			f.Message += "; the registry asks to come back after " + after
			if !strings.Contains(after, " ") {
				f.Message += " s"
			}
		}
		if status == http.StatusTooManyRequests {
			f = f.Fix("Run again later, or log in: most registries then allow more requests.")
		}
		return f
	}
	f := failure.New(failure.RegistryUnavailable, "%s: %s", doing, said).
		Fix("Check the image reference, and that its host is a registry.")
	f.Retryable = false
	return f
}

func refusedSignIn(doing, from string, answer *transport.Error) *failure.Error {
	f := failure.New(failure.RegistryAuth, "%s: %s", doing, describeAnswer(answer))
	if from == "" {
		return f.Fix("Check the image reference. If the image is private, log in with docker login or podman login, or set REGISTRY_AUTH_FILE.")
	}
	return f.Fix("Check the image reference, and that the credentials from %s may pull the image.", from)
}

// ofNetwork returns the failure for a request without an answer.
func ofNetwork(doing string, err error) *failure.Error {
	var dns *net.DNSError
	var plain errPlainHTTP
	var redirect errRedirect
	var fetch *errFetch
	if errors.As(err, &fetch) {
		err = fetch.err // doing has the rest
	}
	f := failure.New(failure.RegistryUnavailable, "%s: %s", doing, cause(err))
	switch {
	case errors.Is(err, outbound.ErrTooLong):
		return failure.New(failure.BundleInvalid, "%s: the answer is longer than an image's may be", doing)
	case errors.As(err, &dns) && dns.IsNotFound:
		f.Message = doing + ": no such host: " + dns.Name
		f = f.Fix("Check the host in the image reference, and the network's name server. If only a mirror serves the image, give --registries-conf.")
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &plain):
		f.Message = doing + ": the registry does not answer by TLS"
		f = f.Fix("Give --use-http if the registry serves plain HTTP.")
	case outbound.IsTLS(err):
		f = f.Fix("Make the system trust the registry's certificate authority, or give --skip-tls-verify.")
	case errors.As(err, &redirect):
		f = f.Fix("If the host is yours, name it as a location in the file of --registries-conf; otherwise use another registry.")
	case outbound.PassingError(err):
		return f
	}
	f.Retryable = false
	return f
}

// refused returns the failure for a reference that Graft may not read.
func refused(ref string, err error) error {
	var blocked errBlocked
	if errors.As(err, &blocked) {
		return failure.New(failure.BundleNotAllowed, "%s: %w", ref, err).
			Fix("Unblock the registry in the file of --registries-conf, or use another image.")
	}
	return failure.New(failure.Usage, "%s: the registries configuration makes no reference of it: %w", ref, err).
		Fix("Correct prefix and location in the file of --registries-conf.")
}

// mention adds the mirrors that were tried before.
func mention(f *failure.Error, passed []string) error {
	if len(passed) > 0 {
		f.Message += " (before that: " + strings.Join(passed, ", ") + ")"
	}
	return f
}

// describeAnswer returns a status and the registry's message, cut to the length of a line.
func describeAnswer(answer *transport.Error) string {
	text := fmt.Sprintf("HTTP %d", answer.StatusCode)
	if len(answer.Errors) == 0 {
		return strings.TrimSpace(text + " " + http.StatusText(answer.StatusCode))
	}
	first := answer.Errors[0]
	said := outbound.Shorten(outbound.OneLine(string(first.Code)+": "+first.Message), 200)
	return text + " " + strings.TrimSuffix(said, ": ")
}

// cause returns the innermost text of a network error, without addresses.
func cause(err error) string {
	if strings.Contains(err.Error(), "no token in bearer response") {
		// The library's text continues with the response, which may hold anything.
		return "the token server sent no token"
	}
	return outbound.Cause(err)
}
