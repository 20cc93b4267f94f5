package catalogs

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
)

// sample returns the documents of a package, some with faults.
func sample(name string, n int) (docs []string) {
	add := func(format string, args ...any) { docs = append(docs, fmt.Sprintf(format, args...)) }
	add("schema: olm.package\nname: %s\ndefaultChannel: stable%d\n", name, n%2)
	add("schema: olm.channel\npackage: %s\nname: stable0\nentries:\n- name: %s.v1.0.0\n- name: %s.v1.1.0\n  replaces: %s.v1.0.%d\n", name, name, name, name, n%3)
	for i := range 3 {
		add("schema: olm.bundle\npackage: %s\nname: %s.v1.%d.0\nimage: quay.io/x/%s:v1.%d.0\nproperties:\n- type: olm.package\n  value:\n    packageName: %s\n    version: 1.%d.%d\n", name, name, i, name, i, name, i%2, n%2)
	}
	if n%4 == 3 {
		add("schema: olm.channel\npackage: %s-gone\nname: a\nentries: []\n", name)
		add("schema: olm.packge\nname: %s\n", name)
	}
	return docs
}

// For any distribution of documents over files, verifying package by package finds the same as verifying all at
// once.
func TestVerifyInParts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 40 {
		var docs []string
		for n := range 5 {
			docs = append(docs, sample(fmt.Sprintf("p%d", n), n+round)...)
		}
		switch round % 8 {
		case 5:
			docs = append(docs, "schema: olm.bundle\npackage: p1\nname: [no, text]\n")
		case 6:
			docs = append(docs, "schema: olm.operand\npackage: p1\nname: db\nversion: 1.0.0\nimages: []\n")
		case 7:
			docs = append(docs, "schema: olm.channel\npackage: p2\nname: stable0\nentries: 3\n")
		}
		if round%2 == 1 {
			random.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		}
		dir := t.TempDir()
		half := random.IntN(len(docs))
		write(t, dir, "a.yaml", strings.Join(docs[:half], "---\n"))
		write(t, dir, "b/c.yaml", "---\n"+strings.Join(docs[half:], "---\n"))
		write(t, dir, "one.yaml", strings.Join(docs, "---\n"))
		write(t, dir, ".indexignore", "one.yaml\n")
		for _, name := range []string{dir, filepath.Join(dir, "one.yaml")} {
			got, err := (&Reader{}).Verify(t.Context(), name, &Verification{}, graph.Levels{})
			if err != nil {
				t.Fatal(err)
			}
			if want := atOnce(t, name); !reflect.DeepEqual(got, want) {
				t.Errorf("round %d, %s: got\n%v\nat once\n%v", round, filepath.Base(name), got, want)
			}
		}
	}
}

// atOnce verifies with the whole catalog in memory.
func atOnce(t *testing.T, name string) []graph.Finding {
	t.Helper()
	var b graph.Builder
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	files := []string{""}
	if info.IsDir() {
		if files, err = fbc.Files(os.DirFS(name), "."); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range files {
		file = filepath.Join(name, file)
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		docs, err := fbc.Read(file, src)
		if err != nil {
			b.Fail(err)
		}
		b.Add(docs)
	}
	return graph.Verify(b.Catalog(), nil, graph.Levels{})
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Memory for a catalog does not grow with the number of its packages: 10 and 150 packages of 256 KiB each, in
// one file and in many.
func TestVerifyHoldsOnePackage(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	for _, layout := range []string{"one file", "a file each"} {
		few, many := heldBy(t, layout, 10), heldBy(t, layout, 150)
		t.Logf("%s: %d KiB of 10 packages, %d KiB of 150", layout, few>>10, many>>10)
		if more := many - few; more > 6<<20 {
			t.Errorf("%s: 150 packages hold %d MiB more than 10", layout, more>>20)
		}
	}
}

// heldBy returns the largest additional live memory while a catalog is verified.
func heldBy(t *testing.T, layout string, packages int) int64 {
	t.Helper()
	dir := t.TempDir()
	filler := strings.Repeat("a line of the description\\n", 10_000)
	var all strings.Builder
	for n := range packages {
		name := fmt.Sprintf("p%d", n)
		text := strings.Join(append(sample(name, 0), "description: \""+filler+"\"\nname: "+name+"-shown\npackage: "+name+"\nschema: example.com/shown\n"), "---\n")
		if layout == "one file" {
			all.WriteString("---\n" + text)
		} else {
			write(t, dir, name+"/catalog.yaml", text)
		}
	}
	if layout == "one file" {
		dir = filepath.Join(dir, "catalog.yaml")
		write(t, filepath.Dir(dir), "catalog.yaml", all.String())
		all.Reset()
	}
	debug.FreeOSMemory() // collects garbage
	live := func() int64 {
		s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(s)
		return int64(s[0].Value.Uint64()) //nolint:gosec // a heap is smaller
	}
	before, most, done := live(), int64(0), make(chan struct{})
	stop := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				most = max(most, live())
			}
		}
	}()
	if _, err := (&Reader{}).Verify(t.Context(), dir, &Verification{}, graph.Levels{}); err != nil {
		t.Fatal(err)
	}
	close(stop)
	<-done
	return max(most-before, 0)
}
