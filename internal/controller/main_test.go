package controller

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

// An event goes to the namespace of its CatalogSource and names it.
func TestRecorder(t *testing.T) {
	got := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.Method + " " + r.URL.Path + " " + string(body)
		w.WriteHeader(http.StatusCreated)
	}))
	defer server.Close()
	events, stop, err := recorder(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	source := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "CatalogSource", "metadata": map[string]any{"namespace": "ns", "name": "x", "uid": "u"},
	}}
	events.Eventf(source, corev1.EventTypeWarning, "UnableToResolve", "%s", "why")
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
