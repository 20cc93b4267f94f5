package operand

import (
	"cmp"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/yamledit"
)

// NewEntry returns a new entry. It refuses an invalid one.
func NewEntry(schema, pkg, name, version string, images []fbc.RelatedImage) (Entry, error) {
	e := Entry{Schema: schema, Package: pkg, Name: name, Images: images}
	v, err := semver.Parse(version)
	e.Version = v
	wrong := ""
	switch {
	case schema != SchemaOperand && schema != SchemaRelatedImages:
		wrong = "the schema " + schema + " is neither " + SchemaOperand + " nor " + SchemaRelatedImages
	case name == "":
		wrong = "it has no name"
	case err != nil:
		wrong = "its version " + version + " is not a semantic version"
	case len(images) == 0:
		wrong = "it has no image"
	}
	seen := map[string]bool{}
	for _, i := range images {
		if _, ok := parseReference(i.Image); !ok || i.Name == "" || seen[i.Name] {
			wrong = "its image " + i.Name + "=" + i.Image + " has no name, the name of another, or is not an image reference"
		}
		seen[i.Name] = true
	}
	if wrong != "" {
		return e, failure.New(failure.Usage, "adding an entry: %s", wrong).
			Fix("Give --name, --version and, once for each image, --image NAME=REFERENCE.")
	}
	return e, nil
}

// standing is an existing document of a file: of a stream, or an item of a basic template's list.
type standing struct {
	file, index int
	node        *yamledit.Node
	list        *yamledit.Node // the list that contains it; nil in a stream
	schema      string
	name        string
}

// Add adds an entry to the files of a basic template or catalog. It returns the index of the file that changes
// and its new text, or -1 if the entry exists already.
//
//  1. An existing entry with the same name, version and package must have the same images;
//     otherwise Add fails with bundle-conflict.
//  2. If the entries of the name are sorted by version, up or down, the new one goes to its place
//     in that order, otherwise after the last of them. The first entry of a name goes after the
//     last entry of its schema, or to the end of the only file.
func Add(files []*yamledit.File, e Entry, templates Templates) (int, []byte, error) {
	all, err := standings(files, templates)
	if err != nil {
		return -1, nil, err
	}
	var siblings []standing
	var keys []key
	for _, s := range all {
		if s.schema != e.Schema || s.name != e.Name {
			continue
		}
		version := s.node.FoldText("version")
		v, err := semver.Parse(version)
		if err != nil {
			return -1, nil, s.node.Malformed("reading %s %s: its version %q is not a semantic version", s.schema, s.name, version)
		}
		k := key{v, s.node.FoldText("package")}
		if k.compare(e.key()) == 0 {
			return -1, nil, e.same(s)
		}
		siblings, keys = append(siblings, s), append(keys, k)
	}
	edits := make([]*yamledit.Edits, len(files))
	for i, f := range files {
		edits[i] = f.Edit()
	}
	var at standing
	switch last := len(siblings) - 1; {
	case last >= 0:
		if i := place(keys, e.key()); i <= last {
			at = siblings[i]
			err = e.insert(edits[at.file], at, 0, siblings)
			break
		}
		at = siblings[last]
		err = e.insert(edits[at.file], at, 1, siblings)
	default:
		at, err = e.first(all, files)
		if err == nil {
			err = e.insert(edits[at.file], at, 1, nil)
		}
	}
	if err != nil {
		return -1, nil, err
	}
	text, err := edits[at.file].Apply()
	return at.file, text, err
}

// standings returns the documents of the files in order.
func standings(files []*yamledit.File, templates Templates) ([]standing, error) {
	var all []standing
	for i, f := range files {
		for j, d := range f.Docs {
			root, err := d.Root()
			if err != nil {
				return nil, err
			}
			lists, template := templates(root)
			switch items := lists.Documents.Items(); {
			case lists.Wrapped:
				for k, item := range items {
					all = append(all, standingOf(i, k, item.Resolve(), lists.Documents))
				}
				if len(items) == 0 {
					return nil, failure.New(failure.EditRefused, "adding an entry to a template that has no documents").At(f.Name, 1, 1).
						Fix("Write the olm.package document under entries first.")
				}
			case template || root.FoldText("schema") == "":
				return nil, failure.New(failure.TemplateUnsupported, "adding an entry: the file is neither a basic template nor a catalog").At(f.Name, 1, 1).
					Fix("Name a basic template or a file-based catalog; other templates cannot have entries.")
			default:
				all = append(all, standingOf(i, j, root, nil))
			}
		}
	}
	return all, nil
}

func standingOf(file, index int, node, list *yamledit.Node) standing {
	return standing{file, index, node, list, node.FoldText("schema"), node.FoldText("name")}
}

// same refuses an existing entry with the same version but other images.
func (e Entry) same(s standing) error {
	var other Entry
	for _, item := range s.node.FoldValue(e.listKey()).Items() {
		other.Images = append(other.Images, fbc.RelatedImage{Name: item.FoldText("name"), Image: item.FoldText("image")})
	}
	if slices.Equal(e.sorted(), other.sorted()) {
		return nil
	}
	return s.node.Failure(failure.BundleConflict, "adding %s %s: an entry of this version has other images", e.Name, e.Version).
		Fix("Give the entry another version, such as %s+1, or correct the existing one.", e.Version)
}

// key distinguishes the entries of a name. An entry for a package can coexist with one for all packages.
type key struct {
	version semver.Version
	pkg     string
}

func (e Entry) key() key { return key{e.Version, e.Package} }

func (k key) compare(other key) int {
	return cmp.Or(Compare(k.version, other.version), strings.Compare(k.pkg, other.pkg))
}

// place returns the index before which an entry belongs, or the number of keys if it belongs at the end or the
// keys are not sorted.
func place(keys []key, k key) int {
	down := func(a, b key) int { return b.compare(a) }
	for _, order := range []func(a, b key) int{key.compare, down} {
		if slices.IsSortedFunc(keys, order) {
			i, _ := slices.BinarySearchFunc(keys, k, order)
			return i
		}
	}
	return len(keys)
}

// first returns the document after which the first entry of a name goes.
func (e Entry) first(all []standing, files []*yamledit.File) (standing, error) {
	for _, s := range slices.Backward(all) {
		if s.schema == e.Schema {
			return s, nil
		}
	}
	if len(files) == 1 && len(all) > 0 {
		return all[len(all)-1], nil
	}
	return standing{}, failure.New(failure.EditRefused, "adding %s %s: no file has an %s yet, so the place of the entry is unknown", e.Name, e.Version, e.Schema).
		Fix("Name the file that should have it.")
}

func (e Entry) insert(edits *yamledit.Edits, at standing, after int, siblings []standing) error {
	var likes []*yamledit.Node
	for _, s := range siblings {
		if s.file == at.file {
			likes = append(likes, s.node)
		}
	}
	slices.SortStableFunc(likes, func(a, b *yamledit.Node) int {
		return cmp.Compare(max(a.Start-at.node.Start, at.node.Start-a.Start), max(b.Start-at.node.Start, at.node.Start-b.Start))
	})
	if at.list != nil {
		return edits.Insert(at.list, at.index+after, e.value(), likes...)
	}
	return edits.InsertDoc(at.index+after-1, e.value(), likes...)
}

func (e Entry) listKey() string {
	if e.Schema == SchemaRelatedImages {
		return "relatedImages"
	}
	return "images"
}

func (e Entry) value() yamledit.Value {
	text := func(key, value string) yamledit.Field { return yamledit.Field{Key: key, Value: yamledit.Text(value)} }
	fields := []yamledit.Field{text("schema", e.Schema), text("name", e.Name)}
	if e.Package != "" {
		fields = append(fields, text("package", e.Package))
	}
	var images []yamledit.Value
	for _, i := range e.Images {
		images = append(images, yamledit.Map(text("name", i.Name), text("image", i.Image)))
	}
	fields = append(fields, text("version", e.Version.String()), yamledit.Field{Key: e.listKey(), Value: yamledit.List(images...)})
	return yamledit.Map(fields...)
}
