package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template/parse"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/render"
)

// isBundleDir detects a bundle's directory by the two directories in it.
func isBundleDir(name string) bool {
	for _, dir := range []string{"manifests", "metadata"} {
		if info, err := os.Stat(filepath.Join(name, dir)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// renderBundleDir renders an unpublished bundle.
func (a *app) renderBundleDir(ctx context.Context, o *renderOptions, ro render.Options, name string) error {
	if o.output == "mermaid" || o.base != "" || o.sum != "" || o.write != "" {
		return failure.New(failure.Usage, "rendering a bundle directory with --base, --sum, --write or as mermaid").Fix("Leave them out: the document goes to standard output.")
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return failure.New(failure.BundleInvalid, "opening the bundle directory: %w", err).At(name, 0, 0)
	}
	defer root.Close()
	files, err := bundle.FilesOf(root.FS())
	if err != nil {
		return err
	}
	img := bundle.Image{Files: files, Dir: true}
	facts, err := bundle.FactsOf(ctx, img)
	if err != nil {
		return err
	}
	if img.Ref, err = imageRef(o.imageTemplate, facts); err != nil {
		return err
	}
	doc, err := bundle.Render(ctx, img, ro.Metadata)
	if err != nil {
		return err
	}
	text, err := bundle.Document(bundle.Rewritten(doc, ro.Rewrite))
	if err != nil {
		return err
	}
	body, err := fbc.Encode(ro.Format, text)
	if err != nil {
		return err
	}
	return fbc.Write(a.Out.Documents(), ro.Format, []fbc.Blob{{Schema: doc.Schema, Package: doc.Package, Name: doc.Name, Body: body, Format: ro.Format}})
}

// imageRef fills a pattern in the template language, with variables only. text/template itself would call
// methods by name, so that the linker could drop none.
func imageRef(pattern string, f bundle.Facts) (string, error) {
	variables := map[string]string{"{{.Package}}": f.Package, "{{.Name}}": f.Name, "{{.Version}}": f.Version}
	t, err := parse.New("image-ref-template").Parse(pattern, "", "", map[string]*parse.Tree{})
	var b strings.Builder
	if err == nil && t.Root != nil {
		for _, node := range t.Root.Nodes {
			value, ok := variables[node.String()]
			if text, is := node.(*parse.TextNode); is {
				value, ok = string(text.Text), true
			}
			if !ok {
				err = fmt.Errorf("%s is no variable", node)
			}
			b.WriteString(value)
		}
	}
	if err != nil {
		return "", failure.New(failure.Usage, "reading --image-ref-template: %w", err).Fix("Its variables are {{.Package}}, {{.Name}} and {{.Version}}.")
	}
	return b.String(), nil
}
