package controller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/olmgraft/graft/internal/failure"
)

// A server's statement about an object is an answer; a server that does not work gives none.
func TestIsDown(t *testing.T) {
	of := schema.GroupResource{Group: "g", Resource: "r"}
	for _, c := range []struct {
		err  error
		down bool
	}{
		{nil, false},
		{errors.New("there are 2 objects"), false},
		{apierrors.NewNotFound(of, "x"), false},
		{apierrors.NewForbidden(of, "x", errors.New("no")), false},
		{apierrors.NewInternalError(errors.New("x")), true},
		{apierrors.NewServiceUnavailable("x"), true},
		{apierrors.NewTooManyRequests("x", 1), true},
		{apierrors.NewUnauthorized("x"), true},
		{fmt.Errorf("asking: %w", &url.Error{Op: "Get", URL: "u", Err: errors.New("refused")}), true},
	} {
		if got := isDown(c.err); got != c.down {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}

// answers runs the command as graft does, with a kubeconfig for one server.
func answers(ctx context.Context, t *testing.T, server string, in io.Reader) (int, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := "apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: '" + server + "'}}]\ncontexts: [{name: a, context: {cluster: a}}]\ncurrent-context: a\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	code := Main(ctx, []string{"--answer", "--kubeconfig", file}, "x", in, &out, io.Discard)
	return code, out.String()
}

// An error is the last answer. The command ends on a signal even if its input stays open.
func TestAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/version":
			_, _ = io.WriteString(w, `{"gitVersion":"v1.30.1"}`)
		case "/apis/down.io/v1":
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	ctx := context.Background()
	if code, said := answers(ctx, t, "http://127.0.0.1:1", strings.NewReader("")); code != 82 || !strings.Contains(said, `"code":82`) {
		t.Errorf("%d: %s", code, said)
	}
	gone := `{"group":"gone.io","version":"v1","kind":"K","jsonpath":"{.a}"}`
	if code, said := answers(ctx, t, server.URL, strings.NewReader(gone+gone)); code != 0 || said != `{"version":"v1.30.1"}`+"\n"+strings.Repeat(`{"error":"the server has no kind K in gone.io/v1"}`+"\n", 2) {
		t.Errorf("%d: %s", code, said)
	}
	if code, said := answers(ctx, t, server.URL, strings.NewReader(strings.ReplaceAll(gone, "gone", "down"))); code != 82 || !strings.HasSuffix(said, `"code":82}`+"\n") {
		t.Errorf("%d: %s", code, said)
	}
	if code, said := answers(ctx, t, server.URL, strings.NewReader("x")); code != 2 || !strings.Contains(said, "reading a lookup") {
		t.Errorf("%d: %s", code, said)
	}
	held, _ := io.Pipe()
	ctx, stop := context.WithCancel(ctx)
	time.AfterFunc(100*time.Millisecond, stop)
	if code, said := answers(ctx, t, server.URL, held); code != int(failure.Interrupted) {
		t.Errorf("%d: %s", code, said)
	}
}
