package controller_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/olmgraft/graft/internal/controller/suite"
	"github.com/olmgraft/graft/internal/testkit/cluster"
	"github.com/olmgraft/graft/internal/testkit/effort"
)

// The controller runs on the stand-in as it runs on an API server in conformance/cluster.
func TestController(t *testing.T) {
	s := newServer(t)
	s.Many = effort.Of(t, 20, 40, 1000)
	suite.Run(t, s)
}

// newServer returns a stand-in for an API server.
func newServer(t *testing.T) *suite.Server {
	stand := cluster.New()
	kind := cluster.Kind{Version: "v1", Name: "Sample", Plural: "samples", Namespaced: true}
	server := httptest.NewServer(stand)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	s := &suite.Server{
		Config: &rest.Config{Host: server.URL, QPS: -1}, Patience: 20 * time.Second,
		Define: func(group, version string) {
			one := kind
			one.Group, one.Version = group, version
			stand.Serve(one)
		},
	}
	s.Define("foo.example.com", "v1")
	stand.Serve(cluster.Kind{Version: "v1", Name: "ConfigMap", Plural: "configmaps", Namespaced: true})
	stand.Serve(cluster.Kind{Group: "operators.coreos.com", Version: "v1alpha1", Name: "CatalogSource", Plural: "catalogsources", Namespaced: true, Status: true})
	stand.Serve(cluster.Kind{Group: "operators.coreos.com", Version: "v1", Name: "OLMConfig", Plural: "olmconfigs"})
	return s
}
