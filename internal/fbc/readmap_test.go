package fbc

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// ReadMap reads the same files in the same order as ReadFS.
func TestReadMapIsReadFS(t *testing.T) {
	names := []string{"a", "a-b", "b", "c.yaml", "notes.txt"}
	patterns := []string{"*.txt", "b/", "!b/c.yaml", "/a", "a/**/b", "c*", "!notes.txt"}
	ignoring := 0
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 3))
		files, disk := map[string][]byte{}, fstest.MapFS{}
		for range 1 + r.IntN(8) {
			var path []string
			for range r.IntN(3) {
				path = append(path, names[r.IntN(3)])
			}
			name, text := strings.Join(append(path, names[3+r.IntN(2)]), "/"), fmt.Sprintf("schema: x\nname: n%d\n", r.IntN(99))
			if r.IntN(4) == 0 {
				name, text = strings.Join(append(path, ignoreFile), "/"), patterns[r.IntN(len(patterns))]+"\n"
			}
			files[name], disk[name] = []byte(text), &fstest.MapFile{Data: []byte(text)}
		}
		want, err := ReadFS(disk, ".")
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadMap(files)
		same := func(a, b Doc) bool { return a.File == b.File && a.Name == b.Name }
		if err != nil || !slices.EqualFunc(got, want, same) {
			t.Fatalf("seed %d: %d documents, want %d, %v", seed, len(got), len(want), err)
		}
		if len(want) < len(files) {
			ignoring++
		}
	}
	if ignoring < 50 {
		t.Errorf("only %d catalogs leave out anything", ignoring)
	}
}
