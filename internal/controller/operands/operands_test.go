package operands_test

import (
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/olmgraft/graft/internal/controller/operands"
	"github.com/olmgraft/graft/internal/controller/operands/suite"
	"github.com/olmgraft/graft/internal/testkit/cluster"
)

// The keeper runs on the stand-in as it runs on an API server in conformance/cluster.
func TestKeeper(t *testing.T) {
	stand := cluster.New()
	stand.Serve(cluster.Kind{Version: "v1", Name: "ConfigMap", Plural: "configmaps", Namespaced: true})
	for name, plural := range map[string]string{"CatalogSource": "catalogsources", "Subscription": "subscriptions"} {
		stand.Serve(cluster.Kind{Group: "operators.coreos.com", Version: "v1alpha1", Name: name, Plural: plural, Namespaced: true})
	}
	stand.Serve(cluster.Kind{Group: "olm.operatorframework.io", Version: "v1", Name: "ClusterCatalog", Plural: "clustercatalogs"})
	server := httptest.NewServer(stand)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	suite.Run(t, &suite.Server{Config: &rest.Config{Host: server.URL, QPS: -1}, ConfigMaps: operands.ConfigMaps, ClusterCatalogs: true})
}
