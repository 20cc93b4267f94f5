package render

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

// Sum is a catalog.sum. It has a line for each bundle with its image, the image's digest and the hash of the
// rendered document. The lines are sorted, so that two branches that each add a bundle usually merge without a
// conflict. A bundle has one line for each form of metadata in its catalogs.
type Sum struct {
	name string
	rows map[string]sumRow
}

type sumRow struct {
	digest string
	hashes []string
}

// ParseSum reads a catalog.sum. An empty text is an empty sum.
func ParseSum(name string, text []byte) (*Sum, error) {
	s := &Sum{name: name, rows: map[string]sumRow{}}
	for i, line := range strings.Split(string(bytes.TrimSuffix(text, []byte("\n"))), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" {
			continue
		}
		f := strings.Fields(line)
		if len(f) != 3 || !strings.Contains(f[1], ":") || !strings.HasPrefix(f[2], "h1:") {
			return nil, failure.New(failure.Config, "reading it: the line is not IMAGE DIGEST HASH").At(name, i+1, 1).
				Fix("Restore the file, or remove it and run graft render --update-sum.")
		}
		row, ok := s.rows[f[0]]
		if ok && row.digest != f[1] {
			return nil, failure.New(failure.DigestMismatch, "reading it: %s is recorded twice, with %s and %s", f[0], row.digest, f[1]).At(name, i+1, 1).
				Fix("Keep the correct line, or run graft render --update-sum.")
		}
		s.rows[f[0]] = row.with(f[1], f[2])
	}
	return s, nil
}

// with returns the row with more forms of the bundle. Another digest replaces the row.
func (r sumRow) with(digest string, hashes ...string) sumRow {
	if r.digest != digest {
		return sumRow{digest, hashes}
	}
	return sumRow{digest, slices.Compact(slices.Sorted(slices.Values(slices.Concat(r.hashes, hashes))))}
}

// Clone returns a copy, so that a rendering's changes can be discarded.
func (s *Sum) Clone() *Sum { return &Sum{name: s.name, rows: maps.Clone(s.rows)} }

// Add adds the rows of another sum, such as that of another catalog in the repository.
func (s *Sum) Add(o *Sum) {
	for image, row := range o.rows {
		s.rows[image] = s.rows[image].with(row.digest, row.hashes...)
	}
}

// Digest returns the recorded digest of an image, or "". The sum may be nil.
func (s *Sum) Digest(image string) string {
	if s == nil {
		return ""
	}
	return s.rows[image].digest
}

// Forget removes an image, so that its next state is recorded.
func (s *Sum) Forget(image string) { delete(s.rows, image) }

// Text returns the content of the file.
func (s *Sum) Text() []byte {
	var lines []string
	for image, row := range s.rows {
		for _, hash := range row.hashes {
			lines = append(lines, fmt.Sprintf("%s %s %s\n", image, row.digest, hash))
		}
	}
	slices.Sort(lines)
	return []byte(strings.Join(lines, ""))
}

// hashDocument returns the hash of the document as JSON, so that it does not depend on the format.
func hashDocument(b fbc.Blob) (string, error) {
	docs, err := fbc.Read(b.Name, b.Body)
	if err != nil {
		return "", err
	}
	if len(docs) != 1 {
		return "", failure.New(failure.Internal, "hashing %s: it is %d documents", b.Name, len(docs))
	}
	text, err := docs[0].JSON()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return "h1:" + hex.EncodeToString(sum[:]), nil
}

// Check refuses a digest that differs from the image's recorded one.
func (s *Sum) Check(image, digest string) error {
	row, ok := s.rows[image]
	if !ok || row.digest == digest {
		return nil
	}
	return failure.New(failure.DigestMismatch, "rendering %s: it is %s now and was %s when %s recorded it", image, digest, row.digest, s.name).At(s.name, 0, 0)
}

func (r *renderer) checkSum(image, digest string) error {
	if r.o.Sum == nil || r.o.UpdateSum || digest == "" {
		return nil
	}
	return r.o.Sum.Check(image, digest)
}

// recorded reports whether a document of the base may be reused: its hash is recorded, or there is no sum.
func (r *renderer) recorded(image string, body []byte) bool {
	if r.o.Sum == nil {
		return true
	}
	row, ok := r.o.Sum.rows[image]
	if !ok {
		return false
	}
	hash, err := hashDocument(fbc.Blob{Name: image, Body: body})
	return err == nil && slices.Contains(row.hashes, hash)
}

// refresh resolves the tags of reused bundles again. A moved tag is a digest-mismatch, or with UpdateSum means
// that the bundle must be pulled again.
func (r *renderer) refresh(ctx context.Context, images []string) (moved []string, err error) {
	if r.o.Sum == nil {
		return nil, nil
	}
	var ask []string
	for _, image := range images {
		if b := r.bundles[image]; b.reused && !strings.Contains(image, "@") {
			ask = append(ask, image)
		}
	}
	var mu sync.Mutex
	err = r.each(ctx, ask, func(image string) error {
		digest, err := r.o.Registry.Resolve(ctx, image)
		if err != nil {
			return err
		}
		if err := r.checkSum(image, digest); err != nil {
			return err
		}
		if r.o.Sum.rows[image].digest != digest {
			mu.Lock()
			moved = append(moved, image)
			mu.Unlock()
		}
		r.bundles[image].digest = digest
		return nil
	}, nil)
	return moved, err
}

// record writes what was rendered to the sum. Images that the template no longer contains leave it.
func (r *renderer) record(images []string) error {
	if r.o.Sum == nil {
		return nil
	}
	rows := map[string]sumRow{}
	for _, image := range images {
		b := r.bundles[image]
		old, known := r.o.Sum.rows[image]
		if known && b.digest == "" {
			rows[image] = old
			continue
		}
		hash, err := hashDocument(b.blob)
		if err != nil {
			return err
		}
		rows[image] = old.with(b.digest, hash)
	}
	r.o.Sum.rows = rows
	return nil
}
