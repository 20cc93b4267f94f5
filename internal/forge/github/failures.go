package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/outbound"
)

// operation describes the action for the message of a failure.
type operation struct {
	doing string
	// needs is the permission that a workflow would grant.
	needs string
	// refused is the code of the failure if GitHub refuses the request itself. 0 means pull-request-refused.
	refused failure.Code
}

// fail converts any error to a typed failure.
func (c *Client) fail(ctx context.Context, op operation, err error) error {
	f := c.classify(ctx, op, err)
	f.Err = err
	f.Message = c.scrub(outbound.OneLine(f.Message))
	return f
}

func (c *Client) classify(ctx context.Context, op operation, err error) *failure.Error {
	var known *failure.Error
	var limited *outbound.RateLimited
	switch {
	case errors.As(err, &known):
		own := *known
		return &own
	case errors.As(err, &limited):
		return failure.New(failure.ForgeRateLimited, "%s: %s", op.doing, limited).
			Fix("Run again after %s, or with a token that has its own limit.", limited.Until.UTC().Format("2006-01-02 15:04:05 UTC"))
	case errors.Is(ctx.Err(), context.Canceled):
		return failure.New(failure.Interrupted, "%s: interrupted", op.doing)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return failure.New(failure.ForgeUnavailable, "%s: no answer before the deadline of the run", op.doing)
	}
	if answer := answerOf(err); answer != nil {
		return c.ofAnswer(op, answer)
	}
	return ofNetwork(op, err)
}

// ofAnswer returns the failure for an HTTP answer.
func (c *Client) ofAnswer(op operation, answer *github.ErrorResponse) *failure.Error {
	said := saidOf(answer)
	status := answer.Response.StatusCode
	lower := strings.ToLower(said)
	switch {
	case status == http.StatusUnauthorized && c.token == "":
		return failure.New(failure.ForgeAuth, "%s: no token is given, and %s requires one", op.doing, c.serverURL).
			Fix("Give a token in the environment variable GITHUB_TOKEN, or as the input token.")
	case status == http.StatusUnauthorized:
		return failure.New(failure.ForgeAuth, "%s: HTTP 401 %s", op.doing, said).
			Fix("Give a token that is valid for %s.", c.serverURL)
	case strings.Contains(lower, "not permitted to create or approve pull requests"):
		return failure.New(failure.ForgeAuth, "%s: %s", op.doing, said).
			Fix("Allow it under Settings, Actions, General, Workflow permissions, or give the token of a GitHub App.")
	case strings.Contains(lower, "archived"):
		return failure.New(cmp.Or(op.refused, failure.PullRequestRefused), "%s: %s", op.doing, said).Fix("Unarchive the repository, or publish to another.")
	case status == http.StatusForbidden, status == http.StatusNotFound:
		return ofPermission(op, answer, said)
	case status == http.StatusUnprocessableEntity, status == http.StatusConflict:
		return failure.New(cmp.Or(op.refused, failure.PullRequestRefused), "%s: %s", op.doing, said)
	case status >= 500 || status == http.StatusRequestTimeout:
		return failure.New(failure.ForgeUnavailable, "%s: HTTP %d %s", op.doing, status, said)
	}
	f := failure.New(failure.ForgeUnavailable, "%s: HTTP %d %s", op.doing, status, said).
		Fix("Check GITHUB_API_URL: something other than GitHub's API answers there.")
	f.Retryable = false
	return f
}

// ofPermission names the missing permission: the one in GitHub's answer, or else the one that the operation
// needs. GitHub answers "not found" for things that a token may not see.
func ofPermission(op operation, answer *github.ErrorResponse, said string) *failure.Error {
	needs := acceptedPermissions(answer.Response.Header)
	if needs == "" {
		needs = op.needs
	}
	f := failure.New(failure.ForgeAuth, "%s: HTTP %d %s; it needs the permission %s",
		op.doing, answer.Response.StatusCode, said, needs)
	if scopes := strings.TrimSpace(answer.Response.Header.Get("X-Accepted-OAuth-Scopes")); scopes != "" {
		f.Message += "; or of a classic token one of the scopes " + scopes
	}
	if answer.Response.StatusCode == http.StatusNotFound {
		return f.Fix("Check the names. If they are correct, give the token the permission %s.", needs)
	}
	return f.Fix("Give the token the permission %s (in a workflow: under permissions).", needs)
}

// acceptedPermissions converts "pull_requests=write,contents=read; issues=write" to the notation of workflows.
func acceptedPermissions(h http.Header) string {
	var ways []string
	for way := range strings.SplitSeq(h.Get("X-Accepted-GitHub-Permissions"), ";") {
		var all []string
		for one := range strings.SplitSeq(way, ",") {
			name, level, ok := strings.Cut(strings.TrimSpace(one), "=")
			if ok {
				all = append(all, strings.ReplaceAll(name, "_", "-")+": "+level)
			}
		}
		if text := strings.Join(all, " and "); text != "" && !slices.Contains(ways, text) {
			ways = append(ways, text)
		}
	}
	return strings.Join(ways, ", or ")
}

// ofNetwork returns the failure for a request without an answer.
func ofNetwork(op operation, err error) *failure.Error {
	f := failure.New(failure.ForgeUnavailable, "%s: %s", op.doing, outbound.Cause(err))
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		f = f.Fix("Check the host in GITHUB_API_URL, and the network's name server.")
		f.Retryable = false
	case outbound.IsTLS(err):
		f = f.Fix("Make the system trust the server's certificate authority.")
		f.Retryable = false
	}
	return f
}

// answerOf finds the answer in an error of go-github, which has several types for it.
func answerOf(err error) *github.ErrorResponse {
	var plain *github.ErrorResponse
	var otp *github.TwoFactorAuthError
	switch {
	case errors.As(err, &plain) && plain.Response != nil:
		return plain
	case errors.As(err, &otp) && otp.Response != nil:
		return (*github.ErrorResponse)(otp)
	}
	return nil
}

func statusOf(err error) int {
	if answer := answerOf(err); answer != nil {
		return answer.Response.StatusCode
	}
	return 0
}

// unprocessable returns GitHub's message for a request that it cannot process, in lower case, and a function
// that reports whether it concerns a field. It compares texts, because the code is "custom" for most of these
// errors.
func unprocessable(err error) (said string, of func(field string) bool) {
	answer := answerOf(err)
	if statusOf(err) != http.StatusUnprocessableEntity {
		return "", func(string) bool { return false }
	}
	return strings.ToLower(saidOf(answer)), func(field string) bool {
		return slices.ContainsFunc(answer.Errors, func(e github.Error) bool { return e.Field == field })
	}
}

// saidOf returns GitHub's message with those of the fields, such as "Validation Failed: No commits between main
// and graft/etcd/0.9.4".
func saidOf(answer *github.ErrorResponse) string {
	said := answer.Message
	if said == "" {
		said = http.StatusText(answer.Response.StatusCode)
	}
	var parts []string
	for _, e := range answer.Errors {
		part := e.Message
		if part == "" {
			part = strings.TrimSpace(fmt.Sprintf("%s %s is %s", e.Resource, e.Field, e.Code))
		}
		parts = append(parts, part)
	}
	if len(parts) > 0 {
		said += ": " + strings.Join(parts, "; ")
	}
	return outbound.Shorten(said, 500)
}

// scrub removes the token from a message, in case the forge repeats it.
func (c *Client) scrub(message string) string { return outbound.Redact(message, c.token) }

// Answer describes the answer behind a failure, for callers that retry by themselves. The zero value means no
// answer.
type Answer struct {
	Status int
	// RetryAt is the time of the next attempt that the forge asks for.
	RetryAt time.Time
}

// AnswerOf finds the answer that caused a failure.
func AnswerOf(err error, now time.Time) Answer {
	var limited *outbound.RateLimited
	if errors.As(err, &limited) {
		return Answer{RetryAt: limited.Until}
	}
	answer := answerOf(err)
	if answer == nil {
		return Answer{}
	}
	a := Answer{Status: answer.Response.StatusCode}
	if wait, ok := outbound.RetryAfter(answer.Response.Header, now); ok {
		a.RetryAt = now.Add(wait)
	}
	return a
}
