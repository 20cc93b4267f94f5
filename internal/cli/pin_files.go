package cli

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/olmgraft/graft/internal/atomicfile"
	"github.com/olmgraft/graft/internal/cli/files"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/operand"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/yamledit"
)

// pinnable is a file with its images. repo is nil for standard input.
type pinnable struct {
	repo   *files.Repository
	path   string
	text   *yamledit.File
	places []operand.Place
}

// pinReport is the result for one file's images.
type pinReport struct {
	File    string      `json:"file"`
	Result  string      `json:"result"`
	Images  int         `json:"images"`
	Changes []pinChange `json:"changes,omitempty"`
}

// pinChange is an image that was named by tag.
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

// pinnables returns the files for an argument: a file, the ClusterServiceVersion of a bundle's directory, or
// the files of a catalog's directory.
func (a *app) pinnables(repos files.Repositories, o *pinOptions, name string) ([]pinnable, error) {
	if name == "-" {
		src, err := files.Stdin(a.In)
		if err != nil {
			return nil, err
		}
		f, err := opened(nil, "", "standard input", src)
		return []pinnable{f}, err
	}
	locate := repos.Locate
	if !o.check {
		locate = func(name string) (files.Located, error) { return repos.LocateToWrite(name, o.writing) }
	}
	at, err := locate(name)
	if err != nil {
		return nil, err
	}
	paths, err := pinnablePaths(at)
	if err != nil {
		return nil, err
	}
	var out []pinnable
	for _, p := range paths {
		src, err := at.Read(p)
		if err != nil {
			return nil, err
		}
		f, err := opened(at.Repo, p, at.Shown(p), src)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func opened(repo *files.Repository, p, shown string, src []byte) (pinnable, error) {
	text, err := yamledit.Open(shown, src)
	if err != nil {
		return pinnable{}, err
	}
	places, err := operand.Images(text, template.Lists)
	return pinnable{repo, p, text, places}, err
}

// pinnablePaths returns the file itself, or the files of a directory: those with a ClusterServiceVersion in it
// or its manifests/, or else those of a catalog.
func pinnablePaths(at files.Located) ([]string, error) {
	for _, dir := range []string{path.Join(at.Path, "manifests"), at.Path} {
		paths, err := csvPaths(at, dir)
		if len(paths) > 0 || err != nil {
			return paths, err
		}
	}
	return at.Paths()
}

func csvPaths(at files.Located, dir string) ([]string, error) {
	entries, err := fs.ReadDir(at.Repo, dir)
	if err != nil {
		return nil, nil //nolint:nilerr // not a directory: reading the file reports more
	}
	var paths []string
	for _, e := range entries {
		if e.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(e.Name())) {
			continue
		}
		p := path.Join(dir, e.Name())
		src, err := at.Read(p)
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

// digests returns the digests of all images that are named by tag.
func (o *pinOptions) digests(ctx context.Context, all []pinnable) (map[string]string, error) {
	var places []operand.Place
	for _, f := range all {
		places = append(places, f.places...)
	}
	wanted, err := operand.Wanted(places)
	if err != nil {
		return nil, err
	}
	if o.lock == "" {
		return o.asked(ctx, wanted)
	}
	text, err := os.ReadFile(o.lock)
	if err != nil {
		return nil, failure.New(failure.Usage, "reading the lock file: %w", err).Fix("Give --lock with a file that exists.")
	}
	return operand.Locked(o.lock, text, wanted)
}

// asked reads digests from the registries.
func (o *pinOptions) asked(ctx context.Context, wanted map[string]operand.Place) (map[string]string, error) {
	client, err := o.registry.Client()
	if err != nil {
		return nil, err
	}
	return oci.ForEach(o.registry.Jobs, slices.Collect(maps.Keys(wanted)), func(image string) (string, error) {
		digest, err := client.Resolve(ctx, image)
		if err != nil {
			f := failure.Of(err)
			place := wanted[image].Failure(f.Code, "")
			return "", f.At(place.File, place.Line, place.Col)
		}
		return digest, nil
	})
}

// lockFile returns the lock file with the found digests, or nothing if it has them.
func (o *pinOptions) lockFile(found map[string]string) ([]atomicfile.File, error) {
	if o.writeLock == "" {
		return nil, nil
	}
	at, err := atomicfile.Locate(o.writeLock, o.writing.Outside)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(o.writeLock)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, failure.New(failure.Usage, "reading the lock file: %w", err)
	}
	now, err := operand.Lock(o.writeLock, text, found)
	if err != nil || bytes.Equal(now, text) {
		return nil, err
	}
	return []atomicfile.File{{Place: at, Data: now}}, nil
}
