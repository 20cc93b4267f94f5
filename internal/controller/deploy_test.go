package controller

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

// Deployments have a memory limit and know it, and have no permission that they do not need.
func TestDeploymentsAreBounded(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("../../deploy", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".patch.yaml") {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for doc := range bytes.SplitSeq(text, []byte("\n---\n")) {
			var d apps.Deployment // a StatefulSet has the same template
			if err := yaml.Unmarshal(doc, &d); err != nil || d.Kind != "Deployment" && d.Kind != "StatefulSet" {
				continue
			}
			pod := d.Spec.Template.Spec
			for i := range pod.Containers {
				seen++
				bounded(t, name, &pod, &pod.Containers[i])
			}
		}
		return nil
	})
	if err != nil || seen < 2 {
		t.Errorf("%d containers, %v", seen, err)
	}
}

func bounded(t *testing.T, name string, pod *core.PodSpec, c *core.Container) {
	t.Helper()
	limit := c.Resources.Limits.Memory().Value()
	at := slices.IndexFunc(c.Env, func(e core.EnvVar) bool { return e.Name == "GOMEMLIMIT" })
	if limit == 0 || at < 0 {
		t.Fatalf("%s: %s has a limit of %d, and GOMEMLIMIT is its variable %d", name, c.Name, limit, at)
	}
	known, err := resource.ParseQuantity(strings.TrimSuffix(c.Env[at].Value, "B")) // Go's MiB is Kubernetes' Mi
	if err != nil || known.Value() > limit*95/100 || known.Value() < limit*80/100 {
		t.Errorf("%s: GOMEMLIMIT is %s of %d, %v", name, c.Env[at].Value, limit, err)
	}
	p, s := pod.SecurityContext, c.SecurityContext
	if p == nil || p.RunAsNonRoot == nil || !*p.RunAsNonRoot || p.SeccompProfile == nil || p.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault ||
		s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem ||
		s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) {
		t.Errorf("%s: %s may do more than it needs: %v, %v", name, c.Name, p, s)
	}
}
