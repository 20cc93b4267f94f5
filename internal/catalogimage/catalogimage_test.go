package catalogimage

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/olmgraft/graft/internal/failure"
)

var epoch = time.Unix(0, 0).UTC()

// entries unpacks a layer.
func entries(t *testing.T, blob []byte) (headers []*tar.Header, files map[string][]byte) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(blob))
	if err != nil {
		t.Fatal(err)
	}
	if z.Name != "" || !z.ModTime.IsZero() {
		t.Errorf("the packing names %q and %s", z.Name, z.ModTime)
	}
	files = map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return headers, files
		}
		if err != nil {
			t.Fatal(err)
		}
		headers = append(headers, h)
		if h.Typeflag == tar.TypeReg {
			if files[h.Name], err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// For any files: the layer holds them unchanged, two layers are equal, each directory comes before its content,
// and the layer has nothing specific to this machine.
func TestLayerGivesTheFilesBack(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		files := map[string][]byte{}
		for range 1 + r.IntN(12) {
			name := strings.Repeat(fmt.Sprintf("d%d/", r.IntN(3)), r.IntN(4)) + fmt.Sprintf("f%d-%s.yaml", r.IntN(9), strings.Repeat("ä", r.IntN(90)))
			files[name] = bytes.Repeat([]byte{byte(r.UintN(256))}, r.IntN(2000))
		}
		one, err := Layer(files, epoch, seed%2 == 0)
		if err != nil {
			t.Fatal(err)
		}
		two, err := Layer(maps.Clone(files), epoch, seed%2 == 0)
		if err != nil || !bytes.Equal(one, two) {
			t.Fatalf("seed %d: two layers differ, %v", seed, err)
		}
		headers, got := entries(t, one)
		checkHeaders(t, headers)
		if _, hides := got["configs/"+opaque]; hides != (seed%2 == 0) {
			t.Errorf("seed %d: hides what is below: %v", seed, hides)
		}
		delete(got, "configs/"+opaque)
		want := map[string][]byte{}
		for name, data := range files {
			want[path.Join(Dir, name)] = data
		}
		if !maps.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("seed %d: got %d files, want %d", seed, len(got), len(want))
		}
	}
}

func checkHeaders(t *testing.T, headers []*tar.Header) {
	t.Helper()
	made := map[string]bool{".": true}
	for _, h := range headers {
		mode := map[byte]int64{tar.TypeReg: 0o644, tar.TypeDir: 0o755}[h.Typeflag]
		if h.Mode != mode || h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" || !h.ModTime.Equal(epoch) {
			t.Errorf("the header is %+v", h)
		}
		name := strings.TrimSuffix(h.Name, "/")
		if !made[path.Dir(name)] || made[name] {
			t.Errorf("%s comes before its directory, or twice", h.Name)
		}
		made[name] = true
	}
}

func TestLayerRefusesNames(t *testing.T) {
	for _, name := range []string{"../x", "/x", "a/../../x", "a//b", "..", "a/.wh.b", ".wh..wh..opq", "a/.wh.x/y"} {
		if _, err := Layer(map[string][]byte{name: nil}, epoch, false); !failure.Is(err, failure.TemplateMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTags(t *testing.T) {
	all := Values{PlatformVersion: "4.20", Package: "op", Version: "1.2.3", Revision: "abc", KubeVersion: "v1.17.1+6af3663"}
	for pattern, c := range map[string]struct {
		values Values
		want   string
		word   string
	}{
		"v{platform_version}":            {values: all, want: "v4.20"},
		"{package}-{version}-{revision}": {values: all, want: "op-1.2.3-abc"},
		"v{kube_major_version}.{kube_minor_version}.{kube_patch_version}": {values: all, want: "v1.17.1"},
		"{kube_minor_version}":       {values: Values{KubeVersion: "1.30"}, want: "30"},
		"{kube_patch_version}":       {values: Values{KubeVersion: "1.30"}, word: "with a patch version"},
		"{kube_major_version}":       {word: "--kube-version"},
		"{platform_version}":         {word: "--platform-version"},
		"{package}":                  {word: "one package"},
		"{olm_major_version}":        {values: all, word: "no placeholder {olm_major_version}"},
		"{Package}":                  {values: all, word: "no placeholder"},
		"{package":                   {values: all, word: "no placeholder"},
		"package}":                   {values: all, word: "no placeholder"},
		"{}":                         {values: all, word: "no placeholder"},
		"{group:a,jsonpath:{.spec}}": {values: all, word: "no placeholder"},
		"-x":                         {values: all, word: "invalid tag"},
		"a/b":                        {values: all, word: "invalid tag"},
		"":                           {values: all, word: "invalid tag"},
		"{version}":                  {values: Values{Version: "1.0.0+2"}, word: "invalid tag"},
		"x":                          {values: Values{KubeVersion: "latest"}, word: "--kube-version"},
	} {
		got, err := c.values.Tags([]string{pattern, pattern})
		if c.word == "" {
			if err != nil || !slices.Equal(got, []string{c.want}) {
				t.Errorf("%s: %v, %v", pattern, got, err)
			}
			continue
		}
		f := failure.Of(err)
		if f == nil || f.Code != failure.Usage || !strings.Contains(f.Message+f.Remedy, c.word) {
			t.Errorf("%s: %v, %v", pattern, got, err)
		}
	}
}

func TestOrigin(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "0": 0, "1700000000": 1700000000, "-1": -1, "x": -1, "99999999999999": -1} {
		at, err := Epoch(text)
		if want < 0 && failure.Of(err).Code != failure.Usage || want >= 0 && (err != nil || at.Unix() != want) {
			t.Errorf("%q: %v, %v", text, at, err)
		}
	}
	o := Origin{Source: "s", Revision: "new", Created: time.Unix(5, 0), BaseDigest: "d"}
	as := o.As(Origin{Revision: "old", Created: epoch}.Annotations())
	if want := (Origin{Source: "s", Revision: "old", Created: epoch, BaseDigest: "d"}); as != want {
		t.Errorf("got %+v", as)
	}
	if as := o.As(map[string]string{created: "0001-01-01T00:00:00Z"}); as.Created != o.Created || as.Revision != "" {
		t.Errorf("got %+v", as)
	}
	if l := (Origin{}).Labels(); !maps.Equal(l, map[string]string{configsLabel: "/configs"}) {
		t.Errorf("labels %v", l)
	}
}
