package catalogsource

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Wanted is the wanted content of a CatalogSource. Empty fields stay unchanged.
type Wanted struct {
	Kind     string // Kind or ClusterKind; empty means Kind
	Form     Form
	Image    string
	Template string // for the annotation
	Poll     *int   // minutes between polls of a tag, for a ClusterCatalog
	Priority *int
	Labels   []Label
}

// Label is a label of an object.
type Label struct{ Key, Value string }

// Make returns the manifest of a CatalogSource. Its default is the deprecated form, because all releases of OLM
// read it. Namespace and template may be empty.
func Make(name, namespace string, w Wanted) ([]byte, error) {
	if w.Kind == ClusterKind {
		return makeCluster(name, w)
	}
	type imageSource struct {
		Image string `yaml:"catalogImage"`
	}
	var object struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
		Metadata   struct {
			Name        string            `yaml:"name"`
			Namespace   string            `yaml:"namespace,omitempty"`
			Labels      map[string]string `yaml:"labels,omitempty"`
			Annotations map[string]string `yaml:"annotations,omitempty"`
		} `yaml:"metadata"`
		Spec struct {
			Source     *imageSource `yaml:"catalogImageSource,omitempty"`
			SourceType string       `yaml:"sourceType,omitempty"`
			Image      string       `yaml:"image,omitempty"`
			Priority   *int         `yaml:"priority,omitempty"`
		} `yaml:"spec"`
	}
	object.APIVersion, object.Kind = Group+"/"+Stored, Kind
	object.Metadata.Name, object.Metadata.Namespace = name, namespace
	object.Metadata.Labels, object.Spec.Priority = labels(w.Labels), w.Priority
	if w.Template != "" {
		object.Metadata.Annotations = map[string]string{templateKey(Kind, w.Template): w.Template}
	}
	if w.Form == New {
		object.Spec.Source = &imageSource{w.Image}
	} else {
		object.Spec.SourceType, object.Spec.Image = "grpc", w.Image
	}
	return encode(object)
}

func makeCluster(name string, w Wanted) ([]byte, error) {
	var object struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
		Metadata   struct {
			Name        string            `yaml:"name"`
			Labels      map[string]string `yaml:"labels,omitempty"`
			Annotations map[string]string `yaml:"annotations,omitempty"`
		} `yaml:"metadata"`
		Spec struct {
			Priority *int `yaml:"priority,omitempty"`
			Source   struct {
				Type  string `yaml:"type"`
				Image struct {
					Ref  string `yaml:"ref"`
					Poll *int   `yaml:"pollIntervalMinutes,omitempty"`
				} `yaml:"image"`
			} `yaml:"source"`
		} `yaml:"spec"`
	}
	object.APIVersion, object.Kind, object.Metadata.Name = ClusterGroup+"/"+ClusterVersion, ClusterKind, name
	object.Metadata.Labels = labels(w.Labels)
	if w.Template != "" {
		object.Metadata.Annotations = map[string]string{templateKey(ClusterKind, w.Template): w.Template}
	}
	object.Spec.Priority = w.Priority
	object.Spec.Source.Type, object.Spec.Source.Image.Ref, object.Spec.Source.Image.Poll = "Image", w.Image, w.Poll
	return encode(object)
}

func labels(all []Label) map[string]string {
	out := map[string]string{}
	for _, l := range all {
		out[l.Key] = l.Value
	}
	return out
}

func encode(object any) ([]byte, error) {
	var out bytes.Buffer
	write := yaml.NewEncoder(&out)
	write.SetIndent(2)
	err := errors.Join(write.Encode(object), write.Close())
	return out.Bytes(), err
}

// Append returns the file with a manifest added at its end.
func (m *Manifest) Append(manifest []byte) []byte {
	src := m.file.Src
	if len(bytes.TrimSpace(src)) == 0 {
		return manifest
	}
	out := bytes.Clone(src)
	if !bytes.HasSuffix(out, []byte("\n")) {
		out = append(out, '\n')
	}
	more := append([]byte("---\n"), manifest...)
	if bytes.Contains(src, []byte("\r\n")) {
		more = bytes.ReplaceAll(more, []byte("\n"), []byte("\r\n"))
	}
	return append(out, more...)
}

// Find returns the object with a kind and name, or the only one of that kind if name is empty, or nil. The
// namespace selects between objects with the same name.
func (m *Manifest) Find(kind, name, namespace string) (*Source, error) {
	var found []*Source
	for _, s := range m.Sources {
		if s.Kind() == cmp.Or(kind, Kind) && (name == "" || s.Name == name) {
			found = append(found, s)
		}
	}
	if len(found) > 1 && namespace != "" {
		found = slices.DeleteFunc(found, func(s *Source) bool { return s.Namespace != namespace })
	}
	switch {
	case len(found) == 0:
		return nil, nil
	case len(found) > 1:
		return nil, found[1].root.Failure(failure.CatalogSourceInvalid, "looking for a %s: %s is the second of %d", found[1].Kind(), found[1], len(found)).
			Fix("Give the name and namespace of the intended one.")
	case !isSubdomain(found[0].Name):
		return nil, found[0].root.Failure(failure.CatalogSourceInvalid, "looking for a %s: %q is not a valid name", found[0].Kind(), found[0].Name).
			Fix("Write lower case letters, digits, - and dots.")
	}
	return found[0], nil
}

// Bring returns the file with one of its CatalogSources as wanted, and no other byte changed.
func (m *Manifest) Bring(s *Source, w Wanted) ([]byte, error) {
	if w.Image != "" && w.Image != s.Image() {
		if err := s.TakesImage(); err != nil {
			return nil, err
		}
	}
	if w.Form != "" {
		text, changed, err := m.Convert(w.Form, s)
		if err != nil {
			return nil, err
		}
		if len(changed) > 0 {
			again, err := Open(m.file.Name, text)
			if err != nil {
				return nil, err
			}
			w.Form = ""
			return again.Bring(again.Sources[slices.Index(m.Sources, s)], w)
		}
	}
	edits := m.file.Edit()
	without, err := s.keep(edits, w)
	if err == nil && !without && s.misplaces(w.Template) {
		without, err = true, s.removeShared(edits)
	}
	if err != nil {
		return nil, err
	}
	if without {
		return m.again(s, w, edits)
	}
	if w.Image != "" && w.Image != s.Image() {
		if err := s.setImage(edits, w.Image); err != nil {
			return nil, err
		}
	}
	if reference, _ := s.Reference(); w.Template != "" && w.Template != reference {
		if err := s.setTemplate(edits, w.Template); err != nil {
			return nil, err
		}
	}
	if edits.Empty() {
		return m.file.Src, nil
	}
	return edits.Apply()
}

// again applies edits and calls Bring on the result.
func (m *Manifest) again(s *Source, w Wanted, edits *yamledit.Edits) ([]byte, error) {
	text, err := edits.Apply()
	if err != nil {
		return nil, err
	}
	then, err := Open(m.file.Name, text)
	if err != nil {
		return nil, err
	}
	return then.Bring(then.Sources[slices.Index(m.Sources, s)], w)
}

// misplaces reports whether the template is in OLM's annotation although it belongs in Graft's own.
func (s *Source) misplaces(template string) bool {
	return template != "" && !s.isCluster() && templateKey(Kind, template) == OwnTemplate &&
		s.root.Get("metadata").Get("annotations").Get(ImageTemplate) != nil
}

// removeShared removes OLM's annotation.
func (s *Source) removeShared(edits *yamledit.Edits) error {
	meta := s.root.Get("metadata")
	if annotations := meta.Get("annotations"); len(annotations.Keys()) > 1 {
		return edits.RemoveField(annotations, ImageTemplate)
	}
	return edits.RemoveField(meta, "annotations")
}

func (s *Source) setTemplate(edits *yamledit.Edits, template string) error {
	field := yamledit.Field{Key: templateKey(s.Kind(), template), Value: yamledit.Text(template)}
	meta := s.root.Get("metadata")
	annotations := meta.Get("annotations")
	switch at := s.annotation(); {
	case at != nil && at.IsNull():
		return edits.Fill(at, yamledit.Text(template))
	case at != nil:
		return edits.SetText(at, template)
	case annotations != nil && annotations.IsNull():
		return edits.Fill(annotations, yamledit.Map(field))
	case annotations != nil:
		return edits.AddField(annotations, "", field)
	case meta != nil && meta.Kind == yamledit.Mapping:
		return edits.AddField(meta, "namespace", yamledit.Field{Key: "annotations", Value: yamledit.Map(field)})
	}
	return s.root.Failure(failure.CatalogSourceInvalid, "setting the template of %s: it has no metadata", s).Fix("Write metadata with a name.")
}

// CheckTemplate returns why a reference with templates can never be an image, or nil.
func CheckTemplate(template string) error {
	var image strings.Builder
	templates := 0
	for _, p := range Parse(template) {
		switch {
		case p.Template != nil:
			templates++
			image.WriteString("0")
		case p.Broken != nil:
			return fmt.Errorf("%s is not a template: %w", p.Shown(), p.Broken)
		default:
			image.WriteString(p.Text)
		}
	}
	if templates == 0 {
		return errors.New("it has no variable")
	}
	_, err := reference.Parse(image.String())
	return err
}
