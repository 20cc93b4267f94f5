package oci

import (
	"archive/tar"
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

var usual = []string{"manifests", "metadata"}

func dir(name string) registry.Entry { return registry.Entry{Name: name + "/"} }

type tree = map[string]string

func asFiles(t tree) map[string][]byte {
	files := map[string][]byte{}
	for name, data := range t {
		files[name] = []byte(data)
	}
	return files
}

func TestUnpack(t *testing.T) {
	type layer = []registry.Entry
	cases := []struct {
		name   string
		layers []layer
		want   tree
	}{
		{"nothing", nil, tree{}},
		{"only the named directories", []layer{{plain("manifests/a", "a"), plain("etc/b", "b"), plain("manifests.txt", "c"), plain("manifestsx/d", "d")}}, tree{"manifests/a": "a"}},
		{"dotted names", []layer{{dir("."), dir("./manifests"), plain("./manifests/a", "a"), plain("x/../manifests/b", "b")}}, tree{"manifests/a": "a", "manifests/b": "b"}},
		{"no directory entries", []layer{{plain("manifests/deep/er/a", "a")}}, tree{"manifests/deep/er/a": "a"}},
		{"an empty file", []layer{{plain("manifests/a", "")}}, tree{"manifests/a": ""}},
		{"later layers win", []layer{{plain("manifests/a", "1")}, {plain("manifests/a", "2")}}, tree{"manifests/a": "2"}},
		{"later entries win", []layer{{plain("manifests/a", "1"), plain("manifests/a", "2")}}, tree{"manifests/a": "2"}},
		{"a file for a directory", []layer{{plain("manifests/a/b", "1")}, {plain("manifests/a", "2")}}, tree{"manifests/a": "2"}},
		{"a directory for a file", []layer{{plain("manifests/a", "1")}, {dir("manifests/a"), plain("manifests/a/b", "2")}}, tree{"manifests/a/b": "2"}},
		{"a directory again", []layer{{plain("manifests/a", "1")}, {dir("manifests"), plain("manifests/b", "2")}}, tree{"manifests/a": "1", "manifests/b": "2"}},

		{"whiteout of a file", []layer{{plain("manifests/a", "a"), plain("manifests/b", "b")}, {plain("manifests/.wh.a", "")}}, tree{"manifests/b": "b"}},
		{"whiteout of a directory", []layer{{plain("manifests/a", "a"), plain("metadata/b", "b")}, {plain(".wh.manifests", "")}}, tree{"metadata/b": "b"}},
		{"whiteout of nothing", []layer{{plain("manifests/a", "a")}, {plain("manifests/.wh.b", ""), plain("none/.wh.c", ""), plain("manifests/a/.wh.d", "")}}, tree{"manifests/a": "a"}},
		{"whiteout, then anew", []layer{{plain("manifests/a", "1")}, {plain("manifests/.wh.a", ""), plain("manifests/a", "2")}}, tree{"manifests/a": "2"}},
		{"anew, then whiteout", []layer{{plain("manifests/a", "1")}, {plain("manifests/a", "2"), plain("manifests/.wh.a", "")}}, tree{"manifests/a": "2"}},
		{"directory anew, then whiteout", []layer{{plain("manifests/a", "1")}, {plain("manifests/b", "2"), plain(".wh.manifests", "")}}, tree{"manifests/b": "2"}},
		{"opaque", []layer{{plain("manifests/a", "1"), plain("manifests/d/c", "1")}, {plain("manifests/b", "2"), plain("manifests/.wh..wh..opq", "")}}, tree{"manifests/b": "2"}},
		{"opaque first", []layer{{plain("manifests/a", "1")}, {plain("manifests/.wh..wh..opq", ""), plain("manifests/b", "2")}}, tree{"manifests/b": "2"}},
		{"opaque below", []layer{{plain("manifests/d/a", "1"), plain("manifests/e", "1")}, {plain("manifests/d/.wh..wh..opq", ""), plain("manifests/d/b", "2")}}, tree{"manifests/d/b": "2", "manifests/e": "1"}},
		{"opaque root", []layer{{plain("manifests/a", "1")}, {plain(".wh..wh..opq", ""), plain("metadata/b", "2")}}, tree{"metadata/b": "2"}},
		{"back after a whiteout", []layer{{plain("manifests/a", "1")}, {plain("manifests/.wh.a", "")}, {plain("manifests/a", "3")}}, tree{"manifests/a": "3"}},
		{"notes of a union file system", []layer{{plain("manifests/a", "1")}, {plain(".wh..wh.plnk", ""), plain("manifests/.wh..wh.aufs", "")}}, tree{"manifests/a": "1"}},

		{"symbolic link", []layer{{plain("manifests/a", "a"), symlink("manifests/b", "a")}}, tree{"manifests/a": "a", "manifests/b": "a"}},
		{"link before its file", []layer{{symlink("manifests/b", "./../manifests/a"), plain("manifests/a", "a")}}, tree{"manifests/a": "a", "manifests/b": "a"}},
		{"link to elsewhere in the image", []layer{{plain("shared/a", "a"), symlink("manifests/b", "../shared/a")}}, tree{"manifests/b": "a"}},
		{"link to a lower layer", []layer{{plain("x", "0"), plain("shared/a", "a")}, {symlink("manifests/b", "../shared/a")}}, tree{"manifests/b": "a"}},
		{"link to a file that a later layer changes", []layer{{plain("shared/a", "1"), symlink("manifests/b", "../shared/a")}, {plain("shared/a", "2")}}, tree{"manifests/b": "2"}},
		{"links of links", []layer{{plain("c", "c"), symlink("b", "c"), symlink("manifests/a", "../b")}}, tree{"manifests/a": "c"}},
		{"directory that is a link", []layer{{plain("bundle/manifests/a", "a"), symlink("manifests", "bundle/manifests")}}, tree{"manifests/a": "a"}},
		{"files through a link", []layer{{dir("bundle"), symlink("manifests", "bundle")}, {plain("manifests/a", "a")}}, tree{"manifests/a": "a"}},
		{"link to a directory below", []layer{{plain("manifests/a", "a"), symlink("manifests/self", ".")}}, tree{"manifests/a": "a"}},
		{"a link that is not followed", []layer{{plain("manifests/a", "a"), symlink("etc/passwd", "/../../etc/passwd"), symlink("x", "../..")}}, tree{"manifests/a": "a"}},
		{"a file for a link", []layer{{plain("manifests/a", "a"), symlink("manifests/b", "a")}, {plain("manifests/b", "b")}}, tree{"manifests/a": "a", "manifests/b": "b"}},
		{"a directory for a link", []layer{{plain("x/a", "a"), symlink("manifests", "x")}, {dir("manifests"), plain("manifests/b", "b")}}, tree{"manifests/b": "b"}},

		{"hard link", []layer{{plain("manifests/a", "a"), hardlink("manifests/b", "manifests/a")}}, tree{"manifests/a": "a", "manifests/b": "a"}},
		{"hard link to elsewhere", []layer{{plain("shared/a", "a")}, {hardlink("manifests/b", "./shared/a")}}, tree{"manifests/b": "a"}},
		{"hard link outlives its file", []layer{{plain("shared/a", "1"), hardlink("manifests/b", "shared/a")}, {plain("shared/.wh.a", "")}}, tree{"manifests/b": "1"}},
		{"hard link to a link", []layer{{plain("manifests/a", "a"), symlink("manifests/b", "a"), hardlink("manifests/c", "manifests/b")}}, tree{"manifests/a": "a", "manifests/b": "a", "manifests/c": "a"}},

		{"devices elsewhere", []layer{{plain("manifests/a", "a"), {Name: "dev/null", Type: tar.TypeChar}, {Name: "pipe", Type: tar.TypeFifo}}}, tree{"manifests/a": "a"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			var blobs [][]byte
			for _, entries := range tc.layers {
				blobs = append(blobs, archive(t, entries...))
			}
			got, err := unpack(t.Context(), blobs, usual, defaultLimits)
			if err != nil {
				t.Fatal(err)
			}
			wantFiles(t, got, asFiles(tc.want))
		})
	}
}

func TestUnpackRefuses(t *testing.T) {
	type layer = []registry.Entry
	long := "manifests/" + strings.Repeat("d/", budget.ImagePath/2)
	cases := []struct {
		name   string
		layers []layer
		word   string
	}{
		{"absolute path", []layer{{plain("/manifests/a", "a")}}, "/manifests/a"},
		{"absolute path elsewhere", []layer{{plain("/etc/passwd", "a")}}, "/etc/passwd"},
		{"path upwards", []layer{{plain("../a", "a")}}, "../a"},
		{"path upwards, hidden", []layer{{plain("manifests/../../a", "a")}}, "manifests/../../a"},
		{"directory upwards", []layer{{dir("manifests/../..")}}, "outside"},
		{"link upwards", []layer{{symlink("manifests/a", "../../etc/passwd")}}, "manifests/a"},
		{"absolute link", []layer{{symlink("manifests/a", "/etc/passwd")}}, "manifests/a"},
		{"link by a link", []layer{{symlink("x", ".."), symlink("manifests/a", "../x/etc/passwd")}}, "outside"},
		{"directory link", []layer{{symlink("manifests", "../manifests")}}, "outside"},
		{"through a link", []layer{{symlink("x", "../../etc"), plain("x/passwd", "a")}}, "x/passwd"},
		{"whiteout through a link", []layer{{symlink("x", ".."), plain("x/.wh.a", "")}}, "outside"},
		{"hard link upwards", []layer{{hardlink("manifests/a", "../etc/passwd")}}, "../etc/passwd"},
		{"absolute hard link", []layer{{hardlink("manifests/a", "/etc/passwd")}}, "/etc/passwd"},
		{"hard link by a link", []layer{{symlink("x", ".."), hardlink("manifests/a", "x/etc")}}, "outside"},
		{"hard link to nothing", []layer{{hardlink("manifests/a", "b")}}, "manifests/a"},
		{"hard link to itself", []layer{{hardlink("manifests/a", "manifests/a")}}, "manifests/a"},
		{"hard link to a directory", []layer{{dir("x"), hardlink("manifests/a", "x")}}, "directory"},
		{"link to nothing", []layer{{symlink("manifests/a", "b")}}, "manifests/a"},
		{"link to itself", []layer{{symlink("manifests/a", "a")}}, "circle"},
		{"links in a circle", []layer{{symlink("manifests/a", "b"), symlink("manifests/b", "a")}}, "circle"},
		{"below a file", []layer{{plain("manifests", "a"), plain("manifests/a", "b")}}, "manifests/a"},
		{"a file for the directory", []layer{{plain("manifests", "a")}}, "no directory"},
		{"device", []layer{{{Name: "manifests/a", Type: tar.TypeBlock}}}, "manifests/a"},
		{"long path", []layer{{dir(long)}}, "path of"},
		{"long link", []layer{{symlink("manifests/a", long)}}, "link of"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			var blobs [][]byte
			for _, entries := range tc.layers {
				blobs = append(blobs, archive(t, entries...))
			}
			_, err := unpack(t.Context(), blobs, usual, defaultLimits)
			wantFailure(t, err, failure.BundleInvalid, "", tc.word)
		})
	}
}

func TestLimits(t *testing.T) {
	// Go's gzip compresses zeros a little less than 1000 times.
	small := limits{files: 10, bytes: 2 << 20, packed: 66 << 20, kept: 2 << 20, ratio: 500, layers: 3}
	many := func(n int, name string) []registry.Entry {
		var entries []registry.Entry
		for i := range n {
			entries = append(entries, registry.Entry{Name: fmt.Sprintf(name, i)})
		}
		return entries
	}
	noise := func(n int) string {
		b := make([]byte, n)
		_, _ = rand.NewChaCha8([32]byte{}).Read(b)
		return string(b)
	}
	zeros := func(n int) string { return string(make([]byte, n)) }
	cases := []struct {
		name   string
		layers [][]registry.Entry
		pack   registry.Compression
		word   string // "" for an image within the limits
	}{
		{"as many files as may be", [][]registry.Entry{many(10, "manifests/%d")}, registry.Gzip, ""},
		{"a file more", [][]registry.Entry{many(11, "manifests/%d")}, registry.Gzip, "10 files"},
		{"a file more elsewhere", [][]registry.Entry{many(11, "etc/%d")}, registry.Gzip, "10 files"},
		{"over two layers", [][]registry.Entry{many(6, "manifests/%d"), many(6, "metadata/%d")}, registry.Gzip, "10 files"},
		{"as many directories", [][]registry.Entry{many(10, "%d/")}, registry.Gzip, ""},
		{"a directory more", [][]registry.Entry{many(11, "%d/")}, registry.Gzip, "directories"},
		{"directories without entries", [][]registry.Entry{{plain("manifests/a/b/c/d/e/f/g/h/i/j/k", "x")}}, registry.Gzip, "directories"},
		{"as large as may be", [][]registry.Entry{{plain("manifests/a", noise(2<<20))}}, registry.Plain, ""},
		{"a byte more", [][]registry.Entry{{plain("manifests/a", noise(2<<20+1))}}, registry.Zstd, "2 MiB"},
		{"a byte more, plain", [][]registry.Entry{{plain("etc/a", noise(2<<20+1))}}, registry.Plain, "2 MiB"},
		{"two layers too large", [][]registry.Entry{{plain("manifests/a", noise(3<<19))}, {plain("manifests/a", noise(1<<20))}}, registry.Zstd, "2 MiB"},
		{"links to a file", [][]registry.Entry{{plain("x", noise(1<<20)), symlink("manifests/a", "../x"), symlink("manifests/b", "../x")}}, registry.Gzip, ""},
		{"a link more", [][]registry.Entry{{plain("x", noise(1<<20)), symlink("manifests/a", "../x"), symlink("manifests/b", "../x"), symlink("manifests/c", "../x")}}, registry.Gzip, "each name"},
		{"a hard link more", [][]registry.Entry{{plain("manifests/x", noise(1<<20)), hardlink("manifests/a", "manifests/x"), hardlink("manifests/b", "manifests/x")}}, registry.Gzip, "each name"},
		{"a file that is replaced", [][]registry.Entry{{plain("manifests/a", noise(1<<20))}, {plain("manifests/a", noise(1<<20))}}, registry.Gzip, ""},
		{"links along long paths", [][]registry.Entry{{dir("manifests/d"), plain("manifests/a", "a"), symlink("manifests/b", strings.Repeat("d/../", 600)+"a"), symlink("manifests/c", strings.Repeat("d/../", 600)+"b")}}, registry.Gzip, "too long"},
		{"many zeros", [][]registry.Entry{{plain("manifests/a", zeros(3<<19))}}, registry.Gzip, "bomb"},
		{"many zeros elsewhere", [][]registry.Entry{{plain("etc/a", zeros(3<<19)), plain("manifests/a", "a")}}, registry.Gzip, "bomb"},
		{"many zeros, zstd", [][]registry.Entry{{plain("manifests/a", zeros(3<<19))}}, registry.Zstd, "bomb"},
		{"few zeros", [][]registry.Entry{{plain("manifests/a", zeros(1<<19))}}, registry.Zstd, ""},
		{"zeros as they are", [][]registry.Entry{{plain("manifests/a", zeros(3<<19))}}, registry.Plain, ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			var blobs [][]byte
			for _, entries := range tc.layers {
				blobs = append(blobs, packed(t, tc.pack, entries...).Blob)
			}
			_, err := unpack(t.Context(), blobs, usual, small)
			if tc.word == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantFailure(t, err, failure.BundleInvalid, "", tc.word, "scratch")
		})
	}
}

// A header may claim any size. Memory is allocated only for what the blob can hold.
func TestClaimedSize(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "manifests/a", Typeflag: tar.TypeReg, Size: 90 << 20}); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := unpack(t.Context(), [][]byte{b.Bytes()}, usual, defaultLimits)
	runtime.ReadMemStats(&after)
	wantFailure(t, err, failure.BundleInvalid, "")
	if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
		t.Errorf("%d bytes were allocated for a blob of %d", got, b.Len())
	}
}

func TestUnsoundArchives(t *testing.T) {
	whole := archive(t, plain("manifests/a", strings.Repeat("some text ", 1000)))
	raw := packed(t, registry.Plain, plain("manifests/a", strings.Repeat("some text ", 1000))).Blob
	cases := map[string][]byte{
		"half of a gzip stream": whole[:len(whole)/2],
		"gzip magic alone":      whole[:2],
		"half of an archive":    raw[:len(raw)/2],
		"text":                  []byte(strings.Repeat("this is no archive ", 100)),
		"zstd magic alone":      {0x28, 0xb5, 0x2f, 0xfd},
	}
	for name, blob := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := unpack(t.Context(), [][]byte{blob}, usual, defaultLimits)
			wantFailure(t, err, failure.BundleInvalid, "")
		})
	}
	// Go's reader and others accept these as archives without entries.
	for name, blob := range map[string][]byte{"nothing": {}, "zeros": make([]byte, 1024)} {
		if files, err := unpack(t.Context(), [][]byte{blob}, usual, defaultLimits); err != nil || len(files) > 0 {
			t.Errorf("%s: %v, %v", name, files, err)
		}
	}
}

func TestSkippableFrame(t *testing.T) {
	layer := packed(t, registry.Zstd, plain("manifests/a", "a")).Blob
	blob := append([]byte{0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'x', 'y', 'z'}, layer...)
	got, err := unpack(t.Context(), [][]byte{blob}, usual, defaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	wantFiles(t, got, map[string][]byte{"manifests/a": []byte("a")})
}

// The distribution of files over layers does not change the result, if the last entry for each is the same.
func TestLayersCompose(t *testing.T) {
	for seed := range 100 {
		pick := func(n int) int { seed = seed*1103515245 + 12345; return (seed >> 8 & 0xffff) % n }
		want := tree{}
		var blobs [][]byte
		for range 1 + pick(4) {
			var entries []registry.Entry
			had := map[string]bool{}
			for range pick(6) {
				name := path.Join("manifests", string(rune('a'+pick(4))))
				if had[name] {
					continue
				}
				had[name] = true
				switch pick(3) {
				case 0:
					delete(want, name)
					entries = append(entries, plain(path.Join("manifests", ".wh."+path.Base(name)), ""))
				default:
					want[name] = fmt.Sprint(pick(1000))
					entries = append(entries, plain(name, want[name]))
				}
			}
			blobs = append(blobs, packed(t, registry.Plain, entries...).Blob)
		}
		got, err := unpack(t.Context(), blobs, usual, defaultLimits)
		if err != nil {
			t.Fatal(err)
		}
		wantFiles(t, got, asFiles(want))
	}
}

// Any archive: no panic, no name outside, and within the limits.
func FuzzUnpack(f *testing.F) {
	f.Add(packed(f, registry.Plain, plain("manifests/a", "a"), symlink("manifests/b", "a"), plain("manifests/.wh.c", "")).Blob, []byte{})
	f.Add(archive(f, plain("../a", "a")), archive(f, hardlink("manifests/b", "manifests/a")))
	f.Add(packed(f, registry.Zstd, plain("metadata/a", "a")).Blob, packed(f, registry.Plain, symlink("manifests", "metadata")).Blob)
	small := limits{files: 100, bytes: 1 << 20, packed: 65 << 20, kept: 1 << 20, ratio: 1000, layers: 3}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		files, err := unpack(t.Context(), [][]byte{a, b}, usual, small)
		if err != nil {
			wantFailure(t, err, failure.BundleInvalid, "")
			return
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if path.Clean(name) != name || !below(name, usual) {
				t.Errorf("name %q", name)
			}
			if int64(len(files[name])) > small.bytes {
				t.Errorf("%s has %d bytes", name, len(files[name]))
			}
		}
	})
}
