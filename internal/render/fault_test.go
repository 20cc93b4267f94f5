package render_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/outbound"
	"github.com/olmgraft/graft/internal/render"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

func smallBundle(version string) registry.Bundle {
	annotations := map[string]string{
		"operators.operatorframework.io.bundle.package.v1":  "op",
		"operators.operatorframework.io.bundle.channels.v1": "stable",
	}
	return registry.Bundle{
		Labels: annotations,
		Files: map[string][]byte{
			"metadata/annotations.yaml": []byte("annotations:\n  operators.operatorframework.io.bundle.package.v1: op\n  operators.operatorframework.io.bundle.channels.v1: stable\n"),
			"manifests/csv.yaml":        []byte("apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata:\n  name: op.v" + version + "\nspec:\n  version: " + version + "\n"),
		},
	}
}

func push(t *testing.T, s *registry.Server, version string) string {
	t.Helper()
	if _, err := s.Push("op:v"+version, smallBundle(version), registry.Form{}); err != nil {
		t.Fatal(err)
	}
	return s.Addr + "/op:v" + version
}

// Every fault yields a failure with its code, and leaves the existing catalog untouched.
func TestFaults(t *testing.T) {
	times := func(n int, f registry.Fault) func(registry.Request) registry.Fault {
		return func(r registry.Request) registry.Fault {
			if n--; n >= 0 {
				return f
			}
			return registry.Fault{}
		}
	}
	blob := func(f registry.Fault) func(registry.Request) registry.Fault {
		return func(r registry.Request) registry.Fault {
			if r.Kind == registry.Blob {
				return f
			}
			return registry.Fault{}
		}
	}
	manifest := func(f registry.Fault) func(registry.Request) registry.Fault {
		return func(r registry.Request) registry.Fault {
			if r.Kind == registry.Manifest {
				return f
			}
			return registry.Fault{}
		}
	}
	for name, tt := range map[string]struct {
		script func(registry.Request) registry.Fault
		want   failure.Code
	}{
		"500 twice, then fine":     {times(2, registry.Fault{Status: 500}), failure.OK},
		"429 once, then fine":      {times(1, registry.Fault{Status: 429}), failure.OK},
		"a manifest that is gone":  {manifest(registry.Fault{Status: 404}), failure.BundleNotFound},
		"no credentials":           {manifest(registry.Fault{Status: 401}), failure.RegistryAuth},
		"forbidden":                {manifest(registry.Fault{Status: 403}), failure.RegistryAuth},
		"500 without end":          {manifest(registry.Fault{Status: 500}), failure.RegistryUnavailable},
		"connections that reset":   {manifest(registry.Fault{Reset: true}), failure.RegistryUnavailable},
		"blobs that are cut short": {blob(registry.Fault{Truncate: 10}), failure.RegistryUnavailable},
		"blobs that are altered":   {blob(registry.Fault{Alter: func(b []byte) []byte { b[0] ^= 1; return b }}), failure.DigestMismatch},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			image := push(t, s, "1.0.0")
			s.SetScript(tt.script)
			c, err := oci.New(oci.Options{Retry: outbound.Retry{Sleep: func(context.Context, time.Duration) error { return nil }}})
			if err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(t.TempDir(), "catalog.yaml")
			if err := os.WriteFile(out, []byte("as it was"), 0o644); err != nil {
				t.Fatal(err)
			}
			err = renderTo(t, out, "schema: olm.semver\nstable:\n  bundles:\n  - image: "+image+"\n", render.Options{Registry: c})
			if got := failure.ExitCode(err); got != int(tt.want) {
				t.Fatalf("exit code %d, want %d: %v", got, tt.want, err)
			}
			text, _ := os.ReadFile(out)
			if untouched := string(text) == "as it was"; untouched != (tt.want != failure.OK) {
				t.Errorf("the catalog holds %q", text)
			}
			if left, _ := os.ReadDir(filepath.Dir(out)); len(left) != 1 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func renderTo(t *testing.T, out, src string, o render.Options) error {
	r, err := render.Render(context.Background(), open(t, "t.yaml", []byte(src)), o)
	if err != nil {
		return err
	}
	_, err = atomicfile.Stream(atomicfile.Place{Root: filepath.Dir(out), Path: filepath.Base(out)}, r.Write)
	return err
}

// A catalog that cannot be written completely is not written.
func TestHalfWritten(t *testing.T) {
	out := filepath.Join(t.TempDir(), "catalog.yaml")
	if err := os.WriteFile(out, []byte("as it was"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := atomicfile.Stream(atomicfile.Place{Root: filepath.Dir(out), Path: filepath.Base(out)}, func(w io.Writer) error {
		_, _ = w.Write([]byte("half of"))
		return errors.New("the disk is full")
	})
	if text, _ := os.ReadFile(out); err == nil || string(text) != "as it was" {
		t.Errorf("it holds %q, error %v", text, err)
	}
}

// Adding a bundle to a catalog of any size costs one pull.
func TestOneNewBundleCostsOnePull(t *testing.T) {
	s := start(t)
	src := "schema: olm.semver\nstable:\n  bundles:\n"
	for i := range 20 {
		src += "  - image: " + push(t, s, "1.0."+itoa(i)) + "\n"
	}
	o := render.Options{Registry: client(t, s)}
	first := text(t, open(t, "t.yaml", []byte(src)), o)
	o.Base = render.NewBase(docsOf(t, first))
	src += "  - image: " + push(t, s, "1.0.20") + "\n"
	s.Reset()
	o.Registry = client(t, s)
	second := text(t, open(t, "t.yaml", []byte(src)), o)
	if n := s.Count(); n > 8 {
		t.Errorf("%d requests, want at most 8", n)
	}
	o.Base = nil
	if whole := text(t, open(t, "t.yaml", []byte(src)), o); string(whole) != string(second) {
		t.Error("upon the base and from nothing the catalogs differ")
	}
}
