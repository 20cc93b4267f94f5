package bundle

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/bundle/object"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/yamlread"
)

// cost is the rest of the budget while a bundle is read.
type cost struct {
	yamlread.Bound

	faults int
}

// checkSize refuses a bundle that is too large before parsing any of it.
func (b *Bundle) checkSize(context.Context) error {
	text, values := 0, 0
	for _, dir := range []string{manifestsDir, metadataDir} {
		for _, file := range b.image.Files.in(dir) {
			content := b.image.Files[file]
			if text += len(content); text > budget.BundleText {
				return b.tooMuch(file, "it has more than %d MiB of manifests and metadata, each name of a linked file by itself", budget.BundleText>>20)
			}
			if values += yamlread.Marks(content); values > budget.BundleValues {
				return b.tooMuch(file, "it has more than %d values in manifests and metadata", budget.BundleValues)
			}
		}
	}
	b.left = cost{Bound: yamlread.Bound{Values: budget.BundleValues, Bytes: 2 * budget.BundleText, Search: budget.BundlePlaces}}
	return nil
}

func (b *Bundle) tooMuch(file, format string, args ...any) *failure.Error {
	return b.fail(file, format, args...).Fix("Check that this is the intended image. docs/limits.md has the limits of a bundle.")
}

// one reads a file within the rest of the budget. Exceeding the budget is an error. Any other fault is returned
// as fault; the bundle is read without that file.
func (b *Bundle) one(ctx context.Context, file string, read func([]byte, yamlread.Bound) (object.Value, bool, error)) (v object.Value, more bool, fault, err error) {
	if err := ctx.Err(); err != nil {
		return v, false, nil, err
	}
	content, within := b.image.Files[file], b.left.Bound
	again := len(content) + 8*yamlread.Marks(content)
	if again > within.Search {
		within.Search = 0
	}
	v, more, fault = read(content, within)
	if at := (*yamlread.Error)(nil); errors.As(fault, &at) && at.Exceeds {
		return v, false, nil, b.tooMuch(file, "%w", fault)
	}
	if fault == nil {
		values, bytes := v.Size()
		b.left.Values, b.left.Bytes = max(b.left.Values-values, 0), max(b.left.Bytes-bytes, 0)
		return v, more, nil, nil
	}
	b.left.Search = max(b.left.Search-again, 0)
	if b.left.faults++; b.left.faults > budget.BundleFaults {
		return v, false, nil, b.tooMuch(file, "it has more than %d files that cannot be read", budget.BundleFaults)
	}
	return v, false, fault, nil
}

// while runs work until the context ends. The library that parses a file ignores the context. In that case while
// returns early, and work stops after that file.
func while(ctx context.Context, work func() error) error {
	type result struct {
		err      error
		panicked string
	}
	done := make(chan result, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- result{panicked: fmt.Sprintf("%v\n%s", p, debug.Stack())}
			}
		}()
		done <- result{err: work()}
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case r := <-done:
		if r.panicked != "" {
			panic(r.panicked)
		}
		return r.err
	}
}
