package suite

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/olmgraft/graft/internal/controller"
	"github.com/olmgraft/graft/internal/failure"
)

func testOnce(t *testing.T, s *Server) {
	c := New(t, s, "v1.20.0", "once")
	c.Create(controller.Resource, CatalogSource("once", "kube", KubeTemplate, V119))
	if err := c.Controller.Once(context.Background()); err != nil {
		t.Fatal(err)
	}
	c.Follows("once/kube", "quay.io/kube-release-v1/catalog:v1.20")
	writes := c.Writes.Load()
	c.Create(controller.Resource, CatalogSource("once", "sample", SampleTemplate("once", ""), V119))
	if err := c.Controller.Once(context.Background()); failure.Of(err).Code != failure.CatalogSourceUnresolvable {
		t.Errorf("got %v", err)
	}
	if got := c.Writes.Load() - writes; got != 1 {
		t.Errorf("%d writes, want the conditions of one", got)
	}
	c.Create(Samples, Sample("once", "only", "v7"))
	if err := c.Controller.Once(context.Background()); err != nil {
		t.Error(err)
	}
	c.Follows("once/sample", "quay.io/sample/catalog:v7")
	c.Create(Samples, Sample("once", "second", "v8"))
	if err := c.Controller.Once(context.Background()); err == nil || !strings.Contains(err.Error(), "there are 2") {
		t.Errorf("of two objects: %v", err)
	}
	if o := c.Get("once/sample"); Image(o) != "quay.io/sample/catalog:v7" {
		t.Errorf("the image is %s", Image(o))
	}
}

// A single run repeats up to four times after conflicting writes, and then reports that it gives up.
func testOnceConflicts(t *testing.T, s *Server) {
	for rivals, ends := range map[int64]bool{4: true, 5: false} {
		name := fmt.Sprint("rivals-", rivals)
		c := New(t, s, "v1.20.0", name)
		c.Create(controller.Resource, CatalogSource(name, "kube", KubeTemplate, V119))
		var n atomic.Int64
		c.Meanwhile = func(r *http.Request) int {
			if isWrite(r, "status") && n.Add(1) <= rivals {
				c.Change(name+"/kube", func(o *unstructured.Unstructured) { ready(o, fmt.Sprint(n.Load())) }, "status")
			}
			return 0
		}
		if err := c.Controller.Once(context.Background()); (err == nil) != ends || err != nil && failure.Of(err).Code != failure.ClusterUnavailable {
			t.Errorf("%d rivals: %v", rivals, err)
		}
		if got := Condition(c.Get(name+"/kube"), "Ready")["message"]; got != fmt.Sprint(rivals) {
			t.Errorf("%d rivals: the condition is %v: a write of somebody else is lost", rivals, got)
		}
	}
}

func testNoCluster(t *testing.T, s *Server) {
	c := New(t, s, "v1.20.0", "none")
	down := c.Options
	down.Config = rest.CopyConfig(s.Config)
	down.Config.Host = "https://127.0.0.1:1"
	gone, err := controller.New(down)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range []func(context.Context) error{gone.Once, gone.Run} {
		if err := run(context.Background()); failure.Of(err).Code != failure.ClusterUnavailable {
			t.Errorf("without a cluster: %v", err)
		}
	}
	if gone.Ready() {
		t.Error("without a cluster it is ready")
	}
}

// Kubeconfig returns a file for the server with the controller's credentials.
func (s *Server) Kubeconfig(t *testing.T) string {
	t.Helper()
	c := api.NewConfig()
	own := s.own()
	c.Clusters["c"] = &api.Cluster{Server: own.Host, CertificateAuthorityData: own.CAData, TLSServerName: own.ServerName}
	c.AuthInfos["u"] = &api.AuthInfo{Token: own.BearerToken}
	c.Contexts["x"] = &api.Context{Cluster: "c", AuthInfo: "u"}
	c.CurrentContext = "x"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*c, file); err != nil {
		t.Fatal(err)
	}
	return file
}

func testCommand(t *testing.T, s *Server) {
	c := New(t, s, "", "command")
	c.Create(Samples, Sample("command", "one", "v5"))
	c.Create(controller.Resource, CatalogSource("command", "sample", SampleTemplate("command", "one"), V119))
	file := s.Kubeconfig(t)
	once := func(kubeconfig string, args ...string) (int, string) {
		var errs bytes.Buffer
		code := controller.Main(context.Background(), append(args, "--once", "--namespace", "command", "--kubeconfig", kubeconfig), "one", nil, io.Discard, &errs)
		return code, errs.String()
	}
	if code, text := once(file); code != 0 || Image(c.Get("command/sample")) != "quay.io/sample/catalog:v5" {
		t.Errorf("%d: %s", code, text)
	}
	c.Create(controller.Resource, CatalogSource("command", "missing", SampleTemplate("command", "two"), V119))
	if code, text := once(file); code != 80 || !strings.Contains(text, "graft-controller: resolving command/missing: Cannot construct catalog image reference") || !strings.Contains(text, "(catalogsource-unresolvable, 80)") {
		t.Errorf("%d: %s", code, text)
	}
	for _, wrong := range [][]string{{"--poll", "0s"}, {"--poll", "-1s"}, {"--olm", "maybe"}, {"more"}, {"--unknown"}} {
		if code, text := once(file, wrong...); code != 2 || !strings.Contains(text, "usage, 2") {
			t.Errorf("%v: %d: %s", wrong, code, text)
		}
	}
	none := filepath.Join(t.TempDir(), "none")
	if code, text := once(none); code != 2 || !strings.Contains(text, "reading the kubeconfig") {
		t.Errorf("%d: %s", code, text)
	}
	if err := os.WriteFile(none, []byte("apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}]\ncontexts: [{name: a, context: {cluster: a}}]\ncurrent-context: a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, text := once(none); code != 82 || !strings.Contains(text, "cluster-unavailable, 82") {
		t.Errorf("%d: %s", code, text)
	}
}
