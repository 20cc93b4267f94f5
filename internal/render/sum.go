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

// Sum is a catalog.sum: a line for each bundle with its image, the digest that the
// image had, and the hash of the document it was rendered to, sorted, so that two
// branches that add a bundle each merge without a conflict in most cases. A bundle whose
// catalogs hold its metadata in different forms has a line for each.
type Sum struct {
	name string
	rows map[string]sumRow
}

type sumRow struct {
	digest string
	hashes []string
}

// ParseSum reads a catalog.sum; an empty text is an empty sum.
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
				Fix("Restore the file, or remove it and render with --update-sum.")
		}
		row, ok := s.rows[f[0]]
		if ok && row.digest != f[1] {
			return nil, failure.New(failure.DigestMismatch, "reading it: %s is recorded twice, with %s and %s", f[0], row.digest, f[1]).At(name, i+1, 1).
				Fix("Keep the line that is right, or render with --update-sum.")
		}
		s.rows[f[0]] = row.with(f[1], f[2])
	}
	return s, nil
}

// with is the row with one more form of the bundle; another digest begins it anew.
func (r sumRow) with(digest string, hashes ...string) sumRow {
	if r.digest != digest {
		return sumRow{digest, hashes}
	}
	return sumRow{digest, slices.Compact(slices.Sorted(slices.Values(slices.Concat(r.hashes, hashes))))}
}

// Clone is a copy that can be rendered with and thrown away.
func (s *Sum) Clone() *Sum { return &Sum{name: s.name, rows: maps.Clone(s.rows)} }

// Add takes the rows of another sum, such as that of another catalog of the repository.
func (s *Sum) Add(o *Sum) {
	for image, row := range o.rows {
		s.rows[image] = s.rows[image].with(row.digest, row.hashes...)
	}
}

// Digest is the one that is recorded for an image, empty where there is none, or no sum.
func (s *Sum) Digest(image string) string {
	if s == nil {
		return ""
	}
	return s.rows[image].digest
}

// Forget has an image be recorded as it is now.
func (s *Sum) Forget(image string) { delete(s.rows, image) }

// Text is the file's content.
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

// hashDocument is over the document as JSON, so that it does not depend on the format.
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

// Check holds the digest of an image to the recorded one.
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

// recorded reports whether a document of the base may be reused: it is what was
// recorded, or nothing was.
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

// refresh asks the registry for the digests of reused bundles by tag. What moved is
// digest-mismatch, or, where the sum is to be updated, to be pulled anew.
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

// record writes what was rendered into the sum. What is no longer in the template
// leaves it.
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
