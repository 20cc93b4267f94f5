package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/testkit/gitremote"
	"github.com/olmgraft/graft/internal/testkit/peak"
	"github.com/olmgraft/graft/internal/testkit/registry"
	"github.com/olmgraft/graft/internal/testkit/servers"
)

const (
	scalePlatforms = 20
	scaleBundles   = 8
)

// scaleFiles returns a repository in the layout of the community catalogs: packages, each with a template and a
// catalog for each platform. One package's catalog is rendered; the others are copies under other names.
func scaleFiles(b *testing.B, w *servers.Servers, packages int) map[string]string {
	const named = "op-0000"
	template := "schema: olm.template.basic\nentries:\n- schema: olm.package\n  name: " + named + "\n  defaultChannel: stable\n- schema: olm.channel\n  package: " + named + "\n  name: stable\n  entries:\n"
	images := ""
	for n := range scaleBundles + 1 {
		version := fmt.Sprintf("1.%d.0", n)
		if _, err := w.Registry.Push(named+":v"+version, registry.Small(named, named+".v"+version, version), registry.Form{}); err != nil {
			b.Fatal(err)
		}
		if n == scaleBundles {
			break // the bundle to publish
		}
		template += "  - name: " + named + ".v" + version + "\n"
		if n > 0 {
			template += fmt.Sprintf("    replaces: %s.v1.%d.0\n", named, n-1)
		}
		images += "- schema: olm.bundle\n  image: " + w.Registry.Addr + "/" + named + ":v" + version + "\n"
	}
	template += images
	file := filepath.Join(b.TempDir(), "basic.yaml")
	if err := os.WriteFile(file, []byte(template), 0o600); err != nil {
		b.Fatal(err)
	}
	catalog, err := exec.Command("graft", "render", "--migrate-level", "bundle-object-to-csv-metadata", file).Output()
	if err != nil {
		b.Fatal(err)
	}
	ci := "fbc:\n  enabled: true\n  catalog_mapping:\n  - template_name: basic.yaml\n    type: olm.template.basic\n    catalog_names:\n"
	for n := range scalePlatforms {
		ci += fmt.Sprintf("    - v4.%d\n", 17+n)
	}
	all := map[string]string{
		fmt.Sprintf("operators/%s/1.%d.0/release-config.yaml", named, scaleBundles): fmt.Sprintf("catalog_templates:\n- template_name: basic.yaml\n  channels: [stable]\n  replaces: %s.v1.%d.0\n", named, scaleBundles-1),
	}
	for n := range packages {
		name := fmt.Sprintf("op-%04d", n)
		all["operators/"+name+"/ci.yaml"] = ci
		all["operators/"+name+"/catalog-templates/basic.yaml"] = strings.ReplaceAll(template, named, name)
		rendered := string(bytes.ReplaceAll(catalog, []byte(named), []byte(name)))
		for p := range scalePlatforms {
			all[fmt.Sprintf("catalogs/v4.%d/%s/catalog.yaml", 17+p, name)] = rendered
		}
	}
	return all
}

// BenchmarkScale publishes one bundle with the real program into the 20 catalogs of its package, in
// repositories with more and more packages, from a checkout of depth 1 as in the action.
//
//	go test -run '^$' -bench Scale ./internal/cli
func BenchmarkScale(b *testing.B) {
	for layout, configuration := range map[string]string{
		"community":  "",
		"graft.yaml": "targets:\n- template: operators/{package}/catalog-templates/basic.yaml\n  channels: [stable]\n  catalogs:\n  - path: catalogs/v{platform}/{package}/catalog.yaml\n",
	} {
		for _, packages := range []int{10, 100, 1000} {
			b.Run(fmt.Sprintf("layout=%s/packages=%d", layout, packages), func(b *testing.B) { scale(b, packages, configuration) })
		}
	}
}

func scale(b *testing.B, packages int, configuration string) {
	w, err := servers.Start(gitremote.Auto)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	files := scaleFiles(b, w, packages)
	if configuration != "" {
		files[".github/graft.yaml"] = configuration
	}
	if err := w.Create(files); err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(b.TempDir(), "checkout")
	clone := exec.Command("git", "clone", "-q", "--depth=1", "--no-checkout", "file://"+w.Repo.Dir(), dir)
	if out, err := clone.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	measured(b, w, dir, fmt.Sprintf("%s/op-0000:v1.%d.0", w.Registry.Addr, scaleBundles))
}

// measured publishes an image repeatedly without a push, and reports the cost.
func measured(b *testing.B, w *servers.Servers, dir, image string) {
	most, busy := 0, time.Duration(0)
	file := filepath.Join(b.TempDir(), "peak")
	for b.Loop() {
		w.Registry.Reset()
		cmd := exec.Command("graft", "publish", "--dry-run", "--repository", servers.Repository, "--image", image)
		cmd.Dir = dir
		cmd.Env = append(cmd.Environ(), peak.File+"="+file)
		for key, value := range w.Env() {
			cmd.Env = append(cmd.Environ(), key+"="+value)
		}
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "planned") {
			b.Fatalf("%v\n%.2000s", err, out)
		}
		busy += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		kibibytes, err := peak.Read(file)
		if err != nil {
			b.Fatal(err)
		}
		most = max(most, kibibytes>>10)
	}
	b.ReportMetric(float64(w.Registry.Count()), "requests")
	b.ReportMetric(float64(most), "MB")
	b.ReportMetric(float64(busy.Milliseconds())/float64(b.N), "cpu-ms/op")
}
