package cli

import (
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/render"
)

// isBundleDir tells a bundle's directory by the two directories in it.
func isBundleDir(name string) bool {
	for _, dir := range []string{"manifests", "metadata"} {
		if info, err := os.Stat(filepath.Join(name, dir)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// renderBundleDir renders a bundle that was not published yet.
func (a *app) renderBundleDir(o *renderOptions, ro render.Options, name string) error {
	if o.output == "mermaid" || o.base != "" || o.sum != "" || o.write != "" {
		return failure.New(failure.Usage, "rendering a bundle directory with --base, --sum, --write or as mermaid").Fix("Leave them out: one document goes to standard output.")
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
	facts, err := bundle.FactsOf(img)
	if err != nil {
		return err
	}
	if img.Ref, err = imageRef(o.imageTemplate, facts); err != nil {
		return err
	}
	doc, err := bundle.Render(img, ro.Metadata)
	if err != nil {
		return err
	}
	text, err := bundle.Document(doc)
	if err != nil {
		return err
	}
	body, err := fbc.Encode(ro.Format, text)
	if err != nil {
		return err
	}
	return fbc.Write(a.Out, ro.Format, []fbc.Blob{{Schema: doc.Schema, Package: doc.Package, Name: doc.Name, Body: body, Format: ro.Format}})
}

func imageRef(pattern string, f bundle.Facts) (string, error) {
	t, err := template.New("image-ref-template").Option("missingkey=error").Parse(pattern)
	var b strings.Builder
	if err == nil {
		err = t.Execute(&b, struct{ Package, Name, Version string }{f.Package, f.Name, f.Version})
	}
	if err != nil {
		return "", failure.New(failure.Usage, "reading --image-ref-template: %w", err).Fix("Its variables are {{.Package}}, {{.Name}} and {{.Version}}.")
	}
	return b.String(), nil
}
