package conformance

import (
	"encoding"
	"encoding/json"
	"flag"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	crdv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var updateShapes = flag.Bool("update-shapes", false, "rewrite internal/bundle/shapes.txt")

const shapesFile = "../internal/bundle/shapes.txt"

// The table of the types into which opm decodes manifests equals those types in the modules that this opm is
// built with.
func TestShapesAreThoseOfOpm(t *testing.T) {
	g := shapeWriter{t: t, lines: map[string]string{}}
	g.record(reflect.TypeFor[appsv1.DeploymentSpec]())
	g.record(reflect.TypeFor[v1alpha1.ClusterServiceVersion]())
	g.record(reflect.TypeFor[crdv1.CustomResourceDefinition]())
	g.record(reflect.TypeFor[crdv1beta1.CustomResourceDefinition]())
	g.record(reflect.TypeFor[metav1.ObjectMeta]())
	want := g.text()

	if *updateShapes {
		if err := os.WriteFile(shapesFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(shapesFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("internal/bundle/shapes.txt is stale: run this test with -update-shapes")
	}
}

// shapeWriter describes Go types as lines of "name field:type ...".
type shapeWriter struct {
	t     *testing.T
	lines map[string]string
}

// special lists the types that decode themselves.
var special = map[string]string{
	"encoding/json.RawMessage":                           "any",
	"meta/v1.FieldsV1":                                   "any",
	"meta/v1.Time":                                       "time",
	"api/resource.Quantity":                              "quantity",
	"util/intstr.IntOrString":                            "int-or-string",
	"lib/version.OperatorVersion":                        "version",
	"lib/release.OperatorRelease":                        "release",
	"apiextensions/v1.JSON":                              "any",
	"apiextensions/v1.JSONSchemaPropsOrBool":             "or-bool|apiextensions/v1.JSONSchemaProps",
	"apiextensions/v1.JSONSchemaPropsOrArray":            "or-list|apiextensions/v1.JSONSchemaProps",
	"apiextensions/v1.JSONSchemaPropsOrStringArray":      "or-strings|apiextensions/v1.JSONSchemaProps",
	"apiextensions/v1beta1.JSON":                         "any",
	"apiextensions/v1beta1.JSONSchemaPropsOrBool":        "or-bool|apiextensions/v1beta1.JSONSchemaProps",
	"apiextensions/v1beta1.JSONSchemaPropsOrArray":       "or-list|apiextensions/v1beta1.JSONSchemaProps",
	"apiextensions/v1beta1.JSONSchemaPropsOrStringArray": "or-strings|apiextensions/v1beta1.JSONSchemaProps",
}

func (g shapeWriter) name(t reflect.Type) string {
	name := shapeName(t)
	if t.Kind() != reflect.Pointer && (reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())) {
		if special[name] == "" {
			g.t.Errorf("%s decodes itself and is not known here", name)
		}
		return special[name]
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.name(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + g.name(t.Elem())
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			g.t.Errorf("a map with keys of type %s", t.Key())
		}
		return "{}" + g.name(t.Elem())
	case reflect.Struct:
		g.record(t)
		return name
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Float64:
		return t.Kind().String()
	}
	g.t.Errorf("%s is of a kind that is not known here", t)
	return "any"
}

func shapeName(t reflect.Type) string {
	dir, base := path.Split(t.PkgPath())
	return path.Join(path.Base(dir), base) + "." + t.Name()
}

func (g shapeWriter) record(t reflect.Type) {
	name := shapeName(t)
	if _, done := g.lines[name]; done {
		return
	}
	g.lines[name] = "" // types may refer to themselves
	g.lines[name] = name + g.fields(t)
}

func (g shapeWriter) fields(t reflect.Type) string {
	var fields strings.Builder
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case tag == "-" || !f.IsExported():
		case tag == "" && f.Anonymous:
			fields.WriteString(g.fields(f.Type))
		case tag == "":
			g.t.Errorf("%s.%s has no name in JSON", t, f.Name)
		default:
			fields.WriteString(" " + tag + ":" + g.name(f.Type))
		}
	}
	return fields.String()
}

func (g shapeWriter) text() string {
	var lines []string
	for _, line := range g.lines {
		lines = append(lines, line+"\n")
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
