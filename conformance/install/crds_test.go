package install

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// definitions are other projects' definitions that components use, by their module. They are not requirements
// of go.mod, because that would change the build of kube-apiserver.
var definitions = map[string][]string{
	"github.com/cert-manager/cert-manager@v1.19.1": {"deploy/crds/cert-manager.io_certificates.yaml", "deploy/crds/cert-manager.io_issuers.yaml"},
	"github.com/prometheus-operator/prometheus-operator@v0.85.0": {
		"example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml", "example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml",
	},
}

// TestComponents checks that the server accepts everything that the components of kustomize and of the chart
// add, without unknown fields.
func TestComponents(t *testing.T) {
	for module, files := range definitions {
		dir := download(t, module)
		for _, file := range files {
			text, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			apply(t, objects(t, string(text))...)
		}
	}
	for app, components := range charts {
		all := values{}
		var names []string
		for _, c := range components {
			names = append(names, c.name)
			maps.Copy(all, c.values)
		}
		for _, name := range []string{"graft-" + app, "operators"} {
			namespace(t, name, nil)
		}
		for kind, objects := range map[string][]*unstructured.Unstructured{"kustomize": composed(t, app, names...), "helm": rendered(t, app, all)} {
			for _, o := range objects {
				if o.GetNamespace() == "" && !strings.HasPrefix(o.GetKind(), "Cluster") && o.GetKind() != "Namespace" {
					o.SetNamespace("graft-" + app)
				}
				if _, err := tryApply(t, o, metav1.DryRunAll); err != nil {
					t.Errorf("%s: %s: %v", kind, named(o), err)
				}
			}
		}
	}
}

// download returns the folder of a module.
func download(t *testing.T, module string) string {
	t.Helper()
	c := exec.Command("go", "mod", "download", "-json", module)
	c.Dir = t.TempDir()
	c.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := c.Output()
	var got struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &got); err != nil || jsonErr != nil || got.Error != "" {
		t.Fatalf("downloading %s: %v %v %s", module, err, jsonErr, got.Error)
	}
	return got.Dir
}
