package catalogsource

import (
	"errors"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Group and Kind identify a CatalogSource.
const (
	Group = "operators.coreos.com"
	Kind  = "CatalogSource"
)

// Manifest is a file that contains CatalogSources and ClusterCatalogs, as documents or in lists.
type Manifest struct {
	Sources []*Source

	file *yamledit.File
}

// Source is one CatalogSource or ClusterCatalog of a manifest.
type Source struct {
	Name, Namespace string

	file       *yamledit.File
	root, spec *yamledit.Node // spec may be nil
}

// Open finds the CatalogSources of a file. It fails with catalogsource-invalid if the file is not a manifest. It
// ignores objects of other kinds.
func Open(name string, src []byte) (*Manifest, error) {
	file, err := yamledit.Open(name, src)
	if err != nil {
		return nil, invalidFile(err)
	}
	m := &Manifest{file: file}
	for _, d := range file.Docs {
		root, err := d.Root()
		if err != nil {
			return nil, invalidFile(err)
		}
		m.collect(root)
	}
	return m, nil
}

func invalidFile(err error) error {
	f := failure.Of(err)
	return failure.New(failure.CatalogSourceInvalid, "reading the manifest: %s", f.Message).At(f.File, f.Line, f.Col)
}

func (m *Manifest) collect(root *yamledit.Node) {
	kind := root.Get("kind").Text()
	group, _, _ := strings.Cut(root.Get("apiVersion").Text(), "/")
	if strings.HasSuffix(kind, "List") {
		for _, item := range root.Get("items").Items() {
			m.collect(item.Resolve())
		}
	}
	if (kind != Kind || group != Group) && (kind != ClusterKind || group != ClusterGroup) {
		return
	}
	meta := root.Get("metadata")
	m.Sources = append(m.Sources, &Source{
		Name: meta.Get("name").Text(), Namespace: meta.Get("namespace").Text(),
		file: m.file, root: root, spec: root.Get("spec"),
	})
}

// String returns NAMESPACE/NAME, as far as they are known.
func (s *Source) String() string { return strings.TrimPrefix(s.Namespace+"/"+s.Name, "/") }

func (s *Source) version() string {
	_, version, _ := strings.Cut(s.root.Get("apiVersion").Text(), "/")
	return version
}

// Reference returns the annotation's reference with templates. ok is false if it is empty.
func (s *Source) Reference() (reference string, ok bool) {
	reference = s.annotation().Text()
	return reference, reference != ""
}

// annotation returns the annotation in effect, or nil.
func (s *Source) annotation() *yamledit.Node {
	for _, key := range templateKeys {
		if n := s.root.Get("metadata").Get("annotations").Get(key); n.Text() != "" {
			return n
		}
	}
	return s.root.Get("metadata").Get("annotations").Get(ImageTemplate)
}

// ResolveImage returns the resolved image of a reference. It fails at the annotation for a template without a
// value, with the remedy for that template, and for a result that is not an image.
func (s *Source) ResolveImage(reference string, v Values, remedy func(Template) string) (string, error) {
	r := Resolve(reference, v)
	unresolvable := func(format string, args ...any) *failure.Error {
		return s.annotation().Failure(failure.CatalogSourceUnresolvable, format, args...)
	}
	var errs []error
	for _, u := range r.Unresolved {
		if broken := (*Broken)(nil); errors.As(u.Err, &broken) {
			errs = append(errs, unresolvable("resolving %s: %s is not a template: %w", s, u.Template.Text, u.Err).Fix("%s", broken.Fix))
			continue
		}
		errs = append(errs, unresolvable("resolving %s: %s%s: %w", s, u.Template.Text, v.Kube.of(), u.Err).Fix("%s", remedy(u.Template)))
	}
	if r.Invalid != nil {
		errs = append(errs, unresolvable("resolving %s: %q is not an image reference: %w", s, r.Image, r.Invalid).
			Fix("Correct the annotation %s, or the values that it looks up.", ImageTemplate))
	}
	return r.Image, errors.Join(errs...)
}

// At sets a failure's place to the annotation's.
func (s *Source) At(f *failure.Error) *failure.Error {
	line, col := s.annotation().Position()
	return f.At(s.file.Name, line, col)
}

// Image returns the image that the CatalogSource names, in either form.
func (s *Source) Image() string {
	if s.isCluster() {
		return s.clusterImage().Get("ref").Text()
	}
	if image := s.spec.Get("catalogImageSource").Get("catalogImage"); image != nil {
		return image.Text()
	}
	return s.spec.Get("image").Text()
}

// SetImages returns the file with other images, in the form of each CatalogSource, and with no other byte
// changed. It fails with catalogsource-invalid for a CatalogSource whose source is not an image.
func (m *Manifest) SetImages(images map[*Source]string) ([]byte, error) {
	edits := m.file.Edit()
	for _, s := range m.Sources {
		image, ok := images[s]
		if !ok || image == s.Image() {
			continue
		}
		if err := s.setImage(edits, image); err != nil {
			return nil, err
		}
	}
	if edits.Empty() {
		return m.file.Src, nil
	}
	return edits.Apply()
}

func (s *Source) setImage(edits *yamledit.Edits, image string) error {
	if err := s.TakesImage(); err != nil {
		return err
	}
	if s.isCluster() {
		return s.setClusterImage(edits, image)
	}
	parent, key := s.spec, "image"
	if in := s.spec.Get("catalogImageSource"); in != nil {
		parent, key = in, "catalogImage"
	}
	switch at := parent.Get(key); {
	case at == nil && parent.IsNull():
		return edits.Fill(parent, yamledit.Map(yamledit.Field{Key: key, Value: yamledit.Text(image)}))
	case at == nil && key == "image" && s.spec.Get(sourceType) == nil:
		if err := edits.AddField(parent, "", yamledit.Field{Key: sourceType, Value: yamledit.Text("grpc")}); err != nil {
			return err
		}
		return edits.AddField(parent, "", yamledit.Field{Key: key, Value: yamledit.Text(image)})
	case at == nil:
		return edits.AddField(parent, sourceType, yamledit.Field{Key: key, Value: yamledit.Text(image)})
	case at.IsNull():
		return edits.Fill(at, yamledit.Text(image))
	default:
		return edits.SetText(at, image)
	}
}

// TakesImage returns why no image can be set, or nil.
func (s *Source) TakesImage() error {
	if s.spec == nil || s.spec.Kind != yamledit.Mapping {
		return s.root.Failure(failure.CatalogSourceInvalid, "setting the image of %s: it has no spec", s).
			Fix("Write a spec with the image.")
	}
	if s.isCluster() {
		return s.takesClusterImage()
	}
	if s.version() == Next && s.spec.Get("catalogImageSource") == nil {
		return s.spec.Failure(failure.CatalogSourceInvalid, "setting the image of %s: it has no catalogImageSource", s).Fix("Write a spec with catalogImageSource.")
	}
	if kind := s.spec.Get(sourceType); kind != nil && kind.Text() != "grpc" {
		return kind.Failure(failure.CatalogSourceInvalid, "setting the image of %s: its sourceType is %s", s, kind.Text()).
			Fix("Write catalogImageSource instead of sourceType and its fields.")
	}
	for _, other := range otherSources() {
		if s.spec.Get(other) != nil {
			return s.spec.Get(other).Failure(failure.CatalogSourceInvalid, "setting the image of %s: its source is %s", s, other).
				Fix("Write catalogImageSource instead of %s.", other)
		}
	}
	return nil
}
