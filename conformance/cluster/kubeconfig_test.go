package cluster

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/olmgraft/graft/internal/controller/suite"
)

// graft catalogsource resolve --kubeconfig with both real commands: JSONPath gives the same as client-go, and
// the files get the cluster's values.
func TestResolveAgainstCluster(t *testing.T) {
	c := newCluster(t, "", "kubeconfig")
	c.Create(suite.Samples, "apiVersion: foo.example.com/v1\nkind: Sample\nmetadata: {name: one, namespace: kubeconfig}\nspec: {list: [{type: A, v: v1}, {type: B, v: v2}]}\n")
	bin, work := t.TempDir(), t.TempDir()
	build := exec.Command("go", "build", "-o", bin+"/", "./cmd/graft", "./cmd/graft-controller")
	build.Dir, build.Env = "../..", append(os.Environ(), "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lookup := func(name, path string) string {
		return "quay.io/sample/catalog:{group:foo.example.com,version:v1,kind:Sample,name:" + name + ",namespace:kubeconfig,jsonpath:" + path + "}"
	}
	for name, template := range map[string]string{
		"filter": lookup("", `{.spec.list[?(@.type=='B')].v}`), "several": lookup("one", "{.spec.list[*].v}"), "none": lookup("two", "{.spec}"),
		"kube": "quay.io/sample/catalog:v{kube_major_version}.{kube_minor_version}",
	} {
		if err := os.WriteFile(filepath.Join(work, name+".yaml"), []byte(suite.CatalogSource("kubeconfig", name, template, suite.V119)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := realServer().Kubeconfig(t)
	run := func(kubeconfig string, files ...string) (int, string) {
		command := exec.Command(filepath.Join(bin, "graft"), append([]string{"catalogsource", "resolve", "--kubeconfig", kubeconfig}, files...)...)
		command.Dir = work
		out, _ := command.CombinedOutput()
		return command.ProcessState.ExitCode(), string(out)
	}
	if code, said := run(file, "filter.yaml"); code != 0 || !strings.Contains(said, "updated, quay.io/sample/catalog:v2 instead of") {
		t.Errorf("%d: %s", code, said)
	}
	if code, said := run(file, "several.yaml", "none.yaml"); code != 80 || !strings.Contains(said, "it gives 2 values, want one") || !strings.Contains(said, `samples.foo.example.com "two" not found`) {
		t.Errorf("%d: %s", code, said)
	}
	if code, said := run(filepath.Join(work, "missing"), "kube.yaml"); code != 2 || !strings.Contains(said, "reading the kubeconfig") || strings.Contains(said, "graft-controller:") {
		t.Errorf("%d: %s", code, said)
	}
	if code, said := run(proxied(t, "v1.20.7+k3s1"), "kube.yaml"); code != 0 || !strings.Contains(said, "updated, quay.io/sample/catalog:v1.20 instead of") {
		t.Errorf("%d: %s", code, said)
	}
}

// proxied returns a kubeconfig for the server with another reported version.
func proxied(t *testing.T, version string) string {
	t.Helper()
	to, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	through, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Transport: through, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/version" {
			fmt.Fprintf(w, `{"gitVersion":%q}`, version)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: %q}}]\ncontexts: [{name: a, context: {cluster: a}}]\ncurrent-context: a\n", server.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
