package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/testkit/gitremote"
	"github.com/olmgraft/graft/internal/testkit/registry"
	"github.com/olmgraft/graft/internal/testkit/servers"
)

// BenchmarkPublish publishes one bundle with the real program into 6 catalogs of 152 bundles in a repository of
// 80,000 files: go test -run '^$' -bench Publish ./internal/cli
func BenchmarkPublish(b *testing.B) {
	const bundles, catalogs, files = 152, 6, 80_000
	w, err := servers.Start(gitremote.Auto)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	dir := b.TempDir()
	image := func(n int) string { return fmt.Sprintf("%s/op:v1.%d.0", w.Registry.Addr, n) }
	var images, entries strings.Builder
	for n := range bundles + 1 {
		if _, err := w.Registry.Push(fmt.Sprintf("op:v1.%d.0", n), registry.Small("op", fmt.Sprintf("op.v1.%d.0", n), fmt.Sprintf("1.%d.0", n)), registry.Form{}); err != nil {
			b.Fatal(err)
		}
		if n == bundles {
			break // the bundle to publish
		}
		fmt.Fprintf(&entries, "  - name: op.v1.%d.0\n", n)
		if n > 0 {
			fmt.Fprintf(&entries, "    replaces: op.v1.%d.0\n", n-1)
		}
		fmt.Fprintf(&images, "- schema: olm.bundle\n  image: %s\n", image(n))
	}
	template := "schema: olm.template.basic\nentries:\n- schema: olm.package\n  name: op\n  defaultChannel: stable\n- schema: olm.channel\n  package: op\n  name: stable\n  entries:\n" + entries.String() + images.String()
	file := filepath.Join(dir, "basic.yaml")
	if err := os.WriteFile(file, []byte(template), 0o600); err != nil {
		b.Fatal(err)
	}
	catalog, err := exec.Command("graft", "render", "--migrate-level", "bundle-object-to-csv-metadata", file).Output()
	if err != nil {
		b.Fatal(err)
	}
	all := map[string]string{"basic.yaml": template, ".github/graft.yaml": "package: op\ntargets:\n- template: basic.yaml\n  channels: [stable]\n  catalogs:\n"}
	for n := range catalogs {
		at := fmt.Sprintf("catalogs/v4.%d/op/catalog.yaml", 17+n)
		all[at] = string(catalog)
		all[".github/graft.yaml"] += "  - path: " + at + "\n"
	}
	for n := len(all); n < files; n++ {
		all[fmt.Sprintf("other/%d/%d.yaml", n%400, n)] = "a: b\n"
	}
	if err := w.Create(all); err != nil {
		b.Fatal(err)
	}
	measured(b, w, ".", image(bundles))
}
