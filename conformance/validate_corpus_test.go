package conformance

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpusCatalogs gives the catalogs of the corpus by name.
func corpusCatalogs(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	files, _ := filepath.Glob(dir + "/real/*.gz")
	for _, f := range files {
		all[strings.TrimSuffix(filepath.Base(f), ".gz")] = gunzip(t, f)
	}
	for tr := tar.NewReader(bytes.NewReader(gunzip(t, dir+"/broken/broken.tar.gz"))); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if all[filepath.Base(h.Name)], err = io.ReadAll(tr); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func gunzip(t *testing.T, file string) []byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
