package oci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/outbound"
)

// answer is a successful answer whose body was read to the end.
type answer struct {
	header http.Header
	url    *url.URL
	body   []byte
}

// errStatus is an answer with an error status.
type errStatus struct {
	answer *transport.Error
	doing  string
	from   string // the source of the credentials
	after  string // Retry-After
}

func (e *errStatus) Error() string { return e.doing + ": " + e.answer.Error() }
func (e *errStatus) Unwrap() error { return e.answer }

// errFetch is a failure of a request or of a body.
type errFetch struct {
	doing string
	err   error
}

func (e *errFetch) Error() string { return e.doing + ": " + e.err.Error() }
func (e *errFetch) Unwrap() error { return e.err }

// get reads the content at path, at most limit bytes.
func (s *session) get(ctx context.Context, doing, path string, limit int64, accept string) (*answer, error) {
	at := s.base
	at.Path += path
	return s.do(ctx, http.MethodGet, doing, &at, limit, accept)
}

// getStream is get for an answer that is not kept in memory.
func (s *session) getStream(ctx context.Context, doing, path string, limit int64, take func(io.Reader) error) error {
	at := s.base
	at.Path += path
	_, err := s.send(ctx, http.MethodGet, doing, &at, limit, "", take)
	return err
}

func (s *session) do(ctx context.Context, method, doing string, at *url.URL, limit int64, accept string) (*answer, error) {
	return s.send(ctx, method, doing, at, limit, accept, nil)
}

func (s *session) send(ctx context.Context, method, doing string, at *url.URL, limit int64, accept string, take func(io.Reader) error) (*answer, error) {
	ctx = withOrigin(outbound.WithLimit(outbound.ShareAttempts(ctx, s.client.http.Retry.Attempts), limit), s.repo.RegistryStr())
	req, err := http.NewRequestWithContext(ctx, method, at.String(), nil)
	if err != nil {
		return nil, err
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	if take != nil {
		req = outbound.Stream(req, take)
	}
	resp, err := s.http.Do(req)
	if err != nil {
		if errors.As(err, new(*transport.Error)) {
			err = &errSignIn{s.from, err}
		}
		return nil, &errFetch{doing, err}
	}
	defer resp.Body.Close()
	if err := transport.CheckError(resp, http.StatusOK); err != nil {
		status := &errStatus{doing: doing, from: s.from, after: resp.Header.Get("Retry-After")}
		if !errors.As(err, &status.answer) {
			status.answer = &transport.Error{StatusCode: resp.StatusCode}
		}
		return nil, status
	}
	body, err := outbound.Body(resp)
	if err != nil {
		return nil, &errFetch{doing, err}
	}
	return &answer{header: resp.Header, url: resp.Request.URL, body: body}, nil
}

// tags follows the pages of the list.
func (s *session) tags(ctx context.Context) ([]string, error) {
	const doing = "listing the tags"
	at := s.base
	at.Path += "tags/list"
	at.RawQuery = "n=1000"
	var tags []string
	had, visited, idle := map[string]bool{}, map[string]bool{}, 0
	for next := &at; next != nil; {
		if visited[next.String()] || len(tags) > budget.Tags || idle > budget.TagsIdle {
			return nil, &errFetch{doing, errors.New("the pages of the list have no end")}
		}
		visited[next.String()] = true
		page, err := s.do(ctx, http.MethodGet, doing, next, budget.TagsPage, "application/json")
		if err != nil {
			return nil, err
		}
		var list struct {
			Tags []string `json:"tags"`
		}
		if err := json.Unmarshal(page.body, &list); err != nil {
			return nil, &errFetch{doing, err}
		}
		idle++
		for _, tag := range list.Tags {
			if !had[tag] {
				had[tag] = true
				tags = append(tags, tag)
				idle = 0
			}
		}
		if next, err = s.nextPage(page); err != nil {
			return nil, &errFetch{doing, err}
		}
	}
	return tags, nil
}

// nextPage returns the page that the Link header names, or nil after the last one. It refuses a page on another
// host, because the request carries the token.
func (s *session) nextPage(page *answer) (*url.URL, error) {
	for _, link := range page.header.Values("Link") {
		target, params, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(link), "<"), ">")
		if !ok || target == "" || strings.Contains(params, "rel=") && !strings.Contains(params, "next") {
			continue
		}
		ref, err := url.Parse(target)
		if err != nil {
			return nil, errors.New("the link to the next page is no address")
		}
		next := page.url.ResolveReference(ref)
		if next.Host != s.base.Host {
			return nil, fmt.Errorf("the next page is at another host, %s", next.Host)
		}
		next.Scheme = s.base.Scheme
		return next, nil
	}
	return nil, nil
}
