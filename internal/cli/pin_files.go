package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"sync"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/operand"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/yamledit"
)

// pinnable is a file and the images in it; repo is nil for standard input.
type pinnable struct {
	repo   *repository
	path   string
	text   *yamledit.File
	places []operand.Place
}

// pinReport is what became of one file's images.
type pinReport struct {
	File    string      `json:"file"`
	Result  string      `json:"result"`
	Images  int         `json:"images"`
	Changes []pinChange `json:"changes,omitempty"`
}

// pinChange is one image that was named by tag.
type pinChange struct {
	Line  int    `json:"line"`
	Col   int    `json:"col"`
	Field string `json:"field"`
	From  string `json:"from"`
	To    string `json:"to"`
}

func (f pinnable) report(digests map[string]string) pinReport {
	rep := pinReport{File: f.text.Name, Result: "unchanged", Images: len(f.places)}
	for _, p := range f.places {
		if digest := digests[p.Image]; digest != "" && !p.Pinned() {
			rep.Result = "updated"
			rep.Changes = append(rep.Changes, pinChange{p.Line, p.Col, p.Field, p.Image, operand.ByDigest(p.Image, digest)})
		}
	}
	return rep
}

// pinnables are the files that a person names: a file, the ClusterServiceVersion of a
// bundle's directory, or the files of a catalog's.
func (a *app) pinnables(repos map[string]*repository, name string) ([]pinnable, error) {
	if name == "-" {
		src, err := io.ReadAll(io.LimitReader(a.In, maxStdin))
		if err != nil {
			return nil, failure.New(failure.Usage, "reading standard input: %w", err)
		}
		f, err := opened(nil, "", "standard input", src)
		return []pinnable{f}, err
	}
	at, err := a.locate(repos, name)
	if err != nil {
		return nil, err
	}
	paths, err := pinnablePaths(at)
	if err != nil {
		return nil, err
	}
	var out []pinnable
	for _, p := range paths {
		src, err := readAt(at, p)
		if err != nil {
			return nil, err
		}
		f, err := opened(at.repo, p, shownPath(at, p), src)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func opened(repo *repository, p, shown string, src []byte) (pinnable, error) {
	text, err := yamledit.Open(shown, src)
	if err != nil {
		return pinnable{}, err
	}
	places, err := operand.Images(text, template.Lists)
	return pinnable{repo, p, text, places}, err
}

// pinnablePaths are the file itself, or those of a directory: those with a
// ClusterServiceVersion where it or its manifests/ has one, else those of a catalog.
func pinnablePaths(at located) ([]string, error) {
	for _, dir := range []string{path.Join(at.path, "manifests"), at.path} {
		paths, err := csvPaths(at, dir)
		if len(paths) > 0 || err != nil {
			return paths, err
		}
	}
	return catalogPaths(at)
}

func csvPaths(at located, dir string) ([]string, error) {
	entries, err := fs.ReadDir(at.repo, dir)
	if err != nil {
		return nil, nil //nolint:nilerr // it is no directory: reading it as a file tells more
	}
	var paths []string
	for _, e := range entries {
		if e.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(e.Name())) {
			continue
		}
		p := path.Join(dir, e.Name())
		src, err := readAt(at, p)
		if err != nil {
			return nil, err
		}
		text, err := yamledit.Open(p, src)
		if err == nil && operand.IsCSV(text) {
			paths = append(paths, p)
		}
	}
	return paths, nil
}

// digests are those of all images that are named by tag, by the image.
func (o *pinOptions) digests(ctx context.Context, files []pinnable) (map[string]string, error) {
	wanted := map[string]operand.Place{}
	var errs []error
	for _, f := range files {
		for _, p := range f.places {
			if _, known := wanted[p.Image]; p.Pinned() || known {
				continue
			}
			if !operand.ByTag(p.Image) {
				errs = append(errs, p.Unpinned())
			}
			wanted[p.Image] = p
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if o.lock != "" {
		return o.locked(wanted)
	}
	return o.asked(ctx, wanted)
}

func (o *pinOptions) locked(wanted map[string]operand.Place) (map[string]string, error) {
	text, err := os.ReadFile(o.lock)
	if err != nil {
		return nil, failure.New(failure.Usage, "reading the lock file: %w", err).Fix("Give --lock with a file that exists.")
	}
	digests, err := operand.ParseLock(o.lock, text)
	if err != nil {
		return nil, err
	}
	var errs []error
	for image, p := range wanted {
		if digests[image] == "" {
			errs = append(errs, p.Failure(failure.BundleNotFound, "%s: the lock file %s has no digest for %s", p.Field, o.lock, image).
				Fix("Run graft pin --write-lock %s where the registry can be reached.", o.lock))
		}
	}
	return digests, sortedFailures(errs)
}

// asked asks the registries.
func (o *pinOptions) asked(ctx context.Context, wanted map[string]operand.Place) (map[string]string, error) {
	client, err := o.registry.Client()
	if err != nil {
		return nil, err
	}
	digests, errs := forEach(o.registry.Jobs, slices.Collect(maps.Keys(wanted)), func(image string) (string, error) {
		digest, err := client.Resolve(ctx, image)
		if err != nil {
			f := failure.Of(err)
			place := wanted[image].Failure(f.Code, "")
			return "", f.At(place.File, place.Line, place.Col)
		}
		return digest, nil
	})
	return digests, sortedFailures(errs)
}

// forEach does something for each image, so many at a time.
func forEach[T any](jobs int, images []string, do func(image string) (T, error)) (map[string]T, []error) {
	var mu sync.Mutex
	var wait sync.WaitGroup
	var errs []error
	out := map[string]T{}
	turns := make(chan struct{}, max(jobs, 1))
	for _, image := range images {
		wait.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			got, err := do(image)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, err)
				return
			}
			out[image] = got
		})
	}
	wait.Wait()
	return out, errs
}

// sortedFailures joins failures in the order of their places.
func sortedFailures(errs []error) error {
	slices.SortFunc(errs, func(a, b error) int {
		x, y := failure.Of(a), failure.Of(b)
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Col, y.Col))
	})
	return errors.Join(errs...)
}

// lockFile is the lock file with what was found; none where it says so already.
func (o *pinOptions) lockFile(found map[string]string) ([]atomicfile.File, error) {
	if o.writeLock == "" {
		return nil, nil
	}
	text, err := os.ReadFile(o.writeLock)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, failure.New(failure.Usage, "reading the lock file: %w", err)
	}
	all, err := operand.ParseLock(o.writeLock, text)
	if err != nil {
		return nil, err
	}
	for image, digest := range found {
		all[image] = digest
	}
	now := operand.FormatLock(all)
	if bytes.Equal(now, text) {
		return nil, nil
	}
	return []atomicfile.File{{Path: o.writeLock, Data: now}}, nil
}
