package registry

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"

	"gopkg.in/yaml.v3"
)

// Bundle is an operator bundle: files by path, such as manifests/csv.yaml, and
// the labels of its image.
type Bundle struct {
	Files  map[string][]byte
	Labels map[string]string
}

// Form selects the packing of a bundle. The zero Form is the usual one: docker schema 2, one gzip layer for
// each directory, no index.
type Form struct {
	OCI         bool
	Compression Compression
	// Platforms, such as linux/amd64, put the image below an index, once for each platform. One empty string
	// makes an index of one image without a platform.
	Platforms []string
}

// FromDir reads a bundle directory: manifests/ and metadata/. The labels come from metadata/annotations.yaml.
func FromDir(dir fs.FS) (Bundle, error) {
	b := Bundle{Files: map[string][]byte{}}
	for _, top := range []string{"manifests", "metadata"} {
		err := fs.WalkDir(dir, top, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b.Files[name], err = fs.ReadFile(dir, name)
			return err
		})
		if err != nil {
			return Bundle{}, err
		}
	}
	var annotations struct {
		Annotations map[string]string `yaml:"annotations"`
	}
	err := yaml.Unmarshal(b.Files["metadata/annotations.yaml"], &annotations)
	b.Labels = annotations.Annotations
	return b, err
}

// Push stores the bundle as repository:tag and returns the tag's digest, which is the index's if the form has one.
func (s *Server) Push(ref string, b Bundle, form Form) (string, error) {
	layers, err := b.layers(form)
	if err != nil {
		return "", err
	}
	image := Image{OCI: form.OCI, Labels: b.Labels, Layers: layers}
	if len(form.Platforms) == 0 {
		pushed, err := s.PushImage(ref, image)
		return pushed.Digest, err
	}
	repository, _, _ := strings.Cut(ref, ":")
	var members []Member
	for _, platform := range form.Platforms {
		image.OS, image.Architecture, _ = strings.Cut(platform, "/")
		member, err := s.PushImage(repository, image)
		if err != nil {
			return "", err
		}
		members = append(members, member)
	}
	pushed, err := s.PushIndex(ref, form.OCI, members)
	return pushed.Digest, err
}

// layers returns one layer for each top directory, ordered by name.
func (b Bundle) layers(form Form) ([]Layer, error) {
	names := make([]string, 0, len(b.Files))
	for name := range b.Files {
		names = append(names, name)
	}
	sort.Strings(names)
	var layers []Layer
	var entries []Entry
	made := map[string]bool{}
	flush := func() error {
		if len(entries) == 0 {
			return nil
		}
		blob, err := Tar(entries...)
		if err != nil {
			return err
		}
		layer, err := Pack(blob, form.Compression, form.OCI)
		layers, entries = append(layers, layer), nil
		return err
	}
	top := ""
	for _, name := range names {
		if first, _, _ := strings.Cut(name, "/"); first != top {
			if err := flush(); err != nil {
				return nil, err
			}
			top = first
		}
		entries = appendDirs(entries, made, path.Dir(name))
		entries = append(entries, Entry{Name: name, Data: b.Files[name]})
	}
	return layers, flush()
}

func appendDirs(entries []Entry, made map[string]bool, dir string) []Entry {
	if dir == "." || made[dir] {
		return entries
	}
	made[dir] = true
	return append(appendDirs(entries, made, path.Dir(dir)), Entry{Name: dir + "/"})
}

// Small returns a bundle of a package whose CSV has only a name and a version.
func Small(pkg, name, version string) Bundle {
	labels := map[string]string{
		"operators.operatorframework.io.bundle.package.v1":  pkg,
		"operators.operatorframework.io.bundle.channels.v1": "stable",
	}
	annotations := "annotations:\n"
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		annotations += "  " + key + ": " + labels[key] + "\n"
	}
	return Bundle{Labels: labels, Files: map[string][]byte{
		"metadata/annotations.yaml": []byte(annotations),
		"manifests/csv.yaml":        []byte("apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata:\n  name: " + name + "\nspec:\n  version: " + version + "\n"),
	}}
}
