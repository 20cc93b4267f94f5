package controller

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
)

// A server that cannot go on ends the work, and says why.
func TestServerEndsEarly(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	c := command{options: Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil))}}
	ctx, end := context.WithCancelCause(t.Context())
	defer end(nil)
	c.serveOn(ctx, end, listener, http.NotFoundHandler())
	<-ctx.Done()
	c.serving.Wait()
	if cause := context.Cause(ctx); !failure.Is(cause, failure.Internal) {
		t.Errorf("it ended with %v", cause)
	}
}
