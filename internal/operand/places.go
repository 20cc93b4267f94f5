package operand

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Place is a value in a file that names an image.
type Place struct {
	Image string
	Field string // kind of the value, such as relatedImages or the variable's name
	Line  int
	Col   int

	node *yamledit.Node
}

// Pinned reports whether the image is named by digest.
func (p Place) Pinned() bool {
	r, ok := parseReference(p.Image)
	return ok && r.Digest != ""
}

// Unpinned returns the failure for an image named by tag.
func (p Place) Unpinned() *failure.Error {
	if _, ok := parseReference(p.Image); !ok {
		return p.node.Failure(failure.ImageUnpinned, "%s: %q is not an image reference, so Graft cannot pin it", p.Field, p.Image).
			Fix("Write the image as REPOSITORY:TAG or REPOSITORY@DIGEST.")
	}
	return p.node.Failure(failure.ImageUnpinned, "%s: %s is named by tag", p.Field, p.Image)
}

// Failure returns a failure with the given code at the place.
func (p Place) Failure(code failure.Code, format string, args ...any) *failure.Error {
	return p.node.Failure(code, format, args...)
}

const csvKind = "ClusterServiceVersion"

// IsCSV reports whether a file contains a ClusterServiceVersion.
func IsCSV(f *yamledit.File) bool {
	return slices.ContainsFunc(f.Docs, func(d *yamledit.Doc) bool {
		if !bytes.Contains(d.Raw(), []byte(csvKind)) {
			return false // avoids parsing a catalog
		}
		root, err := d.Root()
		return err == nil && root.Get("kind").Text() == csvKind
	})
}

// Templates reports whether a document is a catalog template, and returns its lists of images.
type Templates func(root *yamledit.Node) (Lists, bool)

// Lists holds the lists of a template.
type Lists struct {
	// Images are lists whose items have one image each.
	Images []List
	// Documents is a list of catalog documents, or nil if the template has none yet. Wrapped reports whether this
	// kind of template contains such documents.
	Documents *yamledit.Node
	Wrapped   bool
	// Unsupported reports that the content of the template is unknown.
	Unsupported bool
}

// List is a list and its name in reports.
type List struct {
	Field string
	Node  *yamledit.Node
}

// Images returns the places that name images, in the order of the text: in ClusterServiceVersions related images,
// containers, variables and annotations; in semver and basic templates bundles; in basic templates and catalogs
// also the related images of bundles and the images of entries. It fails with template-unsupported for other
// templates and for any other file.
func Images(f *yamledit.File, templates Templates) ([]Place, error) {
	w := &walker{templates: templates, seen: map[*yamledit.Node]bool{}}
	for _, d := range f.Docs {
		root, err := d.Root()
		if err != nil {
			return nil, err
		}
		if root != nil {
			w.document(root)
		}
	}
	if w.unsupported != "" || !w.known {
		what := "it is neither a ClusterServiceVersion nor a catalog template"
		if w.unsupported != "" {
			what = "its schema is " + w.unsupported
		}
		return nil, failure.New(failure.TemplateUnsupported, "looking for images: %s", what).At(f.Name, 1, 1).
			Fix("Name a bundle's directory, a ClusterServiceVersion, a semver or basic template, or a file-based catalog.")
	}
	slices.SortStableFunc(w.found, func(a, b Place) int { return cmp.Compare(a.node.Start, b.node.Start) })
	return w.found, nil
}

type walker struct {
	templates   Templates
	found       []Place
	seen        map[*yamledit.Node]bool
	known       bool
	unsupported string
}

func (w *walker) document(root *yamledit.Node) {
	if root.Get("kind").Text() == csvKind {
		w.known = true
		w.csv(root)
		return
	}
	lists, template := w.templates(root)
	switch schema := root.FoldText("schema"); {
	case template && lists.Unsupported:
		w.unsupported = schema
	case template:
		w.known = true
		for _, l := range lists.Images {
			w.list(l.Node, l.Field)
		}
		for _, item := range lists.Documents.Items() {
			if item = item.Resolve(); item != nil {
				w.document(item)
			}
		}
	case schema != "":
		w.known = true
		w.catalogDocument(root, schema)
	}
}

func (w *walker) catalogDocument(root *yamledit.Node, schema string) {
	switch schema {
	case fbc.SchemaBundle:
		w.add("image", root.FoldValue("image"))
		w.list(root.FoldValue("relatedImages"), "relatedImages")
	case SchemaRelatedImages:
		w.list(root.FoldValue("relatedImages"), "relatedImages")
	case SchemaOperand:
		w.list(root.FoldValue("images"), "images")
	}
}

// list adds the key image of each item.
func (w *walker) list(list *yamledit.Node, field string) {
	for _, item := range list.Items() {
		w.add(field, item.FoldValue("image"))
	}
}

func (w *walker) csv(root *yamledit.Node) {
	spec := root.Get("spec")
	w.list(spec.Get("relatedImages"), "relatedImages")
	named := map[string]bool{}
	for _, p := range w.found {
		named[p.Image] = true
	}
	annotations := root.Get("metadata").Get("annotations")
	w.add("containerImage", annotations.Get("containerImage"))
	w.annotations(annotations, named)
	for _, deployment := range spec.Get("install").Get("spec").Get("deployments").Items() {
		pod := deployment.Get("spec").Get("template")
		w.annotations(pod.Get("metadata").Get("annotations"), named)
		for _, kind := range []string{"initContainers", "containers"} {
			for _, c := range pod.Get("spec").Get(kind).Items() {
				w.add(kind, c.Get("image"))
				for _, env := range c.Get("env").Items() {
					name, value := env.Get("name").Text(), env.Get("value")
					if _, ok := parseReference(value.Text()); ok && strings.HasPrefix(name, "RELATED_IMAGE_") || isImage(name, value.Text(), named) {
						w.add(name, value)
					}
				}
			}
		}
	}
}

func (w *walker) annotations(m *yamledit.Node, named map[string]bool) {
	for key, value := range m.Fields() {
		if isImage(key.Text(), value.Text(), named) {
			w.add(key.Text(), value)
		}
	}
}

// isImage reports whether a text is an image. A text is an image if it is a related image, or if it has a host
// and a tag or digest, and either a related image has the same host or the field's name mentions an image. A
// single word such as busybox is not an image.
func isImage(field, text string, named map[string]bool) bool {
	r, ok := parseReference(text)
	hosted := r.Registry != ""
	switch {
	case !ok:
		return false
	case named[text]:
		return hosted || r.Tag+r.Digest != ""
	case !hosted || r.Tag+r.Digest == "":
		return false
	}
	if field = strings.ToLower(field); strings.Contains(field, "image") || strings.HasSuffix(field, "_img") {
		return true
	}
	for other := range named {
		if strings.HasPrefix(other, r.Registry+"/") {
			return true
		}
	}
	return false
}

func (w *walker) add(field string, n *yamledit.Node) {
	if n = n.Resolve(); n.Text() == "" || w.seen[n] {
		return
	}
	w.seen[n] = true
	line, col := n.Position()
	w.found = append(w.found, Place{Image: n.Text(), Field: field, Line: line, Col: col, node: n})
}

// Wanted returns the images that need a digest, each with its first place. An image that is no valid reference is
// a failure.
func Wanted(places []Place) (map[string]Place, error) {
	wanted := map[string]Place{}
	var errs []error
	for _, p := range places {
		if _, known := wanted[p.Image]; p.Pinned() || known {
			continue
		}
		if !ByTag(p.Image) {
			errs = append(errs, p.Unpinned())
		}
		wanted[p.Image] = p
	}
	return wanted, errors.Join(errs...)
}

// Pin replaces tags by digests and changes nothing else. digests maps images as the file names them; Pin skips
// images without a digest.
func Pin(f *yamledit.File, places []Place, digests map[string]string) ([]byte, error) {
	e := f.Edit()
	for _, p := range places {
		digest := digests[p.Image]
		if p.Pinned() || digest == "" {
			continue
		}
		if err := e.SetText(p.node, ByDigest(p.Image, digest)); err != nil {
			return nil, err
		}
	}
	if e.Empty() {
		return f.Src, nil
	}
	return e.Apply()
}

// ByDigest replaces an image's tag by a digest.
func ByDigest(image, digest string) string {
	repository, _, _ := reference.Cut(image)
	return repository + "@" + digest
}
