package outbound

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

type watcherKey struct{}

// Watch calls tell for every request under this context, with its address without query and credentials, the
// status (0 without an answer), and the duration.
func Watch(ctx context.Context, tell func(method, address string, status int, took time.Duration)) context.Context {
	return context.WithValue(ctx, watcherKey{}, tell)
}

func watched(req *http.Request, begun time.Time, resp *http.Response) {
	tell, ok := req.Context().Value(watcherKey{}).(func(string, string, int, time.Duration))
	if !ok {
		return
	}
	status := 0
	if resp != nil {
		status = resp.StatusCode
	}
	tell(req.Method, (&url.URL{Scheme: req.URL.Scheme, Host: req.URL.Host, Path: req.URL.Path}).String(), status, time.Since(begun))
}
