package controller

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
)

// An event names its CatalogSource and is in the same namespace. In a single run it is written before the call
// returns.
func TestEvents(t *testing.T) {
	for name, begin := range map[string]func(*rest.Config) (record.EventRecorder, func(), error){
		"background": func(c *rest.Config) (record.EventRecorder, func(), error) { return recorder(t.Context(), c) },
		"at once": func(c *rest.Config) (record.EventRecorder, func(), error) {
			r, err := poster(c, slog.New(slog.DiscardHandler))
			return r, func() {}, err
		},
	} {
		t.Run(name, func(t *testing.T) { checkEvent(t, begin, name == "at once") })
	}
}

func checkEvent(t *testing.T, begin func(*rest.Config) (record.EventRecorder, func(), error), now bool) {
	t.Helper()
	got := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.Method + " " + r.URL.Path + " " + string(body)
		w.WriteHeader(http.StatusCreated)
	}))
	defer server.Close()
	events, stop, err := begin(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	source := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "CatalogSource", "metadata": map[string]any{"namespace": "ns", "name": "x", "uid": "u"},
	}}
	events.Eventf(source, corev1.EventTypeWarning, "UnableToResolve", "%s", "why")
	if now && len(got) == 0 {
		t.Fatal("the event is missing")
	}
	select {
	case said := <-got:
		for _, want := range []string{"POST /api/v1/namespaces/ns/events ", `"involvedObject":{"kind":"CatalogSource","namespace":"ns","name":"x","uid":"u"`, `"reason":"UnableToResolve","message":"why"`, `"source":{"component":"graft-controller"}`, `"type":"Warning"`} {
			if !strings.Contains(said, want) {
				t.Errorf("%s has no %s", said, want)
			}
		}
	case <-time.After(time.Minute):
		t.Fatal("there was no event within a minute")
	}
}
