package gitrepo

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/testkit/gitremote"
)

// BenchmarkPublish measures one run on a repository with many bundles and some large catalogs, in a shallow
// checkout and without a checkout: open, read the catalogs, and push a branch that changes all of them.
func BenchmarkPublish(b *testing.B) {
	for _, size := range []struct{ bundles, catalogs, megabytes int }{{100, 1, 1}, {5000, 5, 10}} {
		b.Run(fmt.Sprintf("%dbundles/%dx%dMB", size.bundles, size.catalogs, size.megabytes), func(b *testing.B) {
			dir, url := largeCheckout(b, size.bundles, size.catalogs, size.megabytes<<20)
			for name, o := range map[string]Options{"checkout": {Dir: dir}, "clone": {URL: url}} {
				b.Run(name, func(b *testing.B) {
					b.ReportAllocs()
					for n := 0; b.Loop(); n++ {
						publish(b, o, fmt.Sprintf("graft/%s/%d/%d", name, b.N, n), size.catalogs)
					}
				})
			}
		})
	}
}

func publish(b *testing.B, o Options, branch string, catalogs int) {
	b.Helper()
	o.Author, o.TempDir = bot, b.TempDir()
	r, err := Open(context.Background(), o)
	if err != nil {
		b.Fatal(err)
	}
	d := Delivery{Base: r.BaseCommit(), Branch: branch, Change: Change{Message: "x", Files: map[string]File{}}}
	for i := range catalogs {
		name := fmt.Sprintf("catalogs/%d/catalog.json", i)
		data, err := fs.ReadFile(r.FS(), name)
		if err != nil {
			b.Fatal(err)
		}
		d.Files[name] = File{Data: append(data, "more\n"...)}
	}
	if _, err := r.Deliver(context.Background(), d); err != nil {
		b.Fatal(err)
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
}

func largeCheckout(b *testing.B, bundles, catalogs, size int) (dir, url string) {
	b.Helper()
	s, err := gitremote.Start(gitremote.Options{Backend: gitremote.GitBackend, Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	repo := must[*gitremote.Repo](b)(s.Create("acme/catalog", nil))
	from := b.TempDir()
	git(b, from, "init", "-q", "-b", "main")
	random := rand.New(rand.NewPCG(1, 2))
	for i := range bundles {
		put(b, filepath.Join(from, "operators", fmt.Sprint(i%500), fmt.Sprint(i), "manifests", "csv.yaml"), text(random, 3000))
	}
	for i := range catalogs {
		put(b, filepath.Join(from, "catalogs", fmt.Sprint(i), "catalog.json"), text(random, size))
	}
	git(b, from, "add", ".")
	git(b, from, "commit", "-q", "-m", "x")
	git(b, from, "push", "-q", repo.URL(), "main")
	dir = filepath.Join(b.TempDir(), "work")
	git(b, ".", "clone", "-q", "--depth=1", repo.URL(), dir)
	return dir, repo.URL()
}

func put(b testing.TB, name, data string) {
	b.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
		b.Fatal(err)
	}
}

// text returns text that compresses about as well as YAML.
func text(random *rand.Rand, size int) string {
	var s strings.Builder
	for s.Len() < size {
		fmt.Fprintf(&s, "    - name: field-%05d\n      image: registry.example.com/op@sha256:%08x\n", random.IntN(50_000), random.Uint32())
	}
	return s.String()
}
