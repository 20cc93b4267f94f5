package bundle

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/bundle/object"
	"github.com/olmgraft/graft/internal/shape"
)

// opm decodes CRDs, deployments and CSVs into the types of Kubernetes and refuses a bundle if any value has the
// wrong type. shapes.txt is a table of those types, written by a test of the conformance module. Checking a tree
// against the table takes a fraction of the time of decoding.
//
//go:embed shapes.txt
var shapesText string

// The types against which manifests are checked.
const (
	shapeCSV        = "operators/v1alpha1.ClusterServiceVersion"
	shapeDeployment = "apps/v1.DeploymentSpec"
	shapeMeta       = "meta/v1.ObjectMeta"
	shapeCRD        = "apiextensions/v1.CustomResourceDefinition"
	shapeCRDBeta    = "apiextensions/v1beta1.CustomResourceDefinition"
)

var shapes = sync.OnceValue(func() shape.Table[tree] { return shape.NewTable(shapesText, leaves) })

// tree adapts a value to package shape.
type tree struct{ object.Value }

func (t tree) Kind() shape.Kind {
	return [...]shape.Kind{shape.Null, shape.Bool, shape.Number, shape.Number, shape.String, shape.List, shape.Map}[t.Value.Kind]
}

func (t tree) Each(visit func(key string, index int, v tree)) {
	for i, item := range t.Items {
		visit(item.Key, i, tree{item.Value})
	}
}

// check reports the first value under v that opm could not decode into the type. anyCase ignores the case of
// fields, as encoding/json does; opm's decoder for CRDs requires exact names.
func check(v object.Value, typ string, anyCase bool) error {
	found := shapes()[typ].Check(tree{v}, anyCase)
	if len(found) == 0 {
		return nil
	}
	value := found[0].Value.Value
	got := value.Kind.String()
	if value.Text != "" && len(value.Text) < 40 {
		got += " (" + value.Text + ")"
	}
	return fmt.Errorf("%s is %s where %s is wanted", found[0].Path, got, found[0].Want)
}

// leaves are the types other than records.
var leaves = map[string]shape.Leaf[tree]{
	"any":     {Fits: func(tree) bool { return true }},
	"string":  {Want: "a string", Fits: isString},
	"bool":    {Want: "a boolean", Fits: func(v tree) bool { return v.Kind() == shape.Bool }},
	"int32":   {Want: "a whole number of 32 bits", Fits: func(v tree) bool { return isWhole(v, 32) }},
	"int64":   {Want: "a whole number of 64 bits", Fits: func(v tree) bool { return isWhole(v, 64) }},
	"float64": {Want: "a number", Fits: func(v tree) bool { return v.Kind() == shape.Number }},
	"bytes":   {Want: "a base64 string", Fits: isBytes},
	"time": {Want: "a time such as 2006-01-02T15:04:05Z", Fits: func(v tree) bool {
		_, err := time.Parse(time.RFC3339, v.Text)
		return isString(v) && err == nil
	}},
	"quantity":       {Want: "a quantity such as 500m or 1Gi", Fits: isQuantity},
	"int-or-string":  {Want: "a string or a whole number of 32 bits", Fits: func(v tree) bool { return isString(v) || isWhole(v, 32) }},
	"schema-or-bool": {Want: "a boolean or a schema", Fits: func(v tree) bool { return v.Kind() == shape.Bool }},
	"version": {Want: "a semantic version", NotNull: true, Fits: func(v tree) bool {
		if len(v.Text) > budget.VersionText {
			return false
		}
		_, err := semver.ParseTolerant(v.Text)
		return isString(v) && err == nil
	}},
	"release": {Want: "a release such as 1 or rc.2", NotNull: true, Fits: isRelease},
}

func isString(v tree) bool { return v.Kind() == shape.String }

func isWhole(v tree, bits int) bool {
	_, err := strconv.ParseInt(v.Text, 10, bits)
	return err == nil && v.Kind() == shape.Number
}

func isBytes(v tree) bool {
	if v.Kind() == shape.List {
		return !slices.ContainsFunc(v.Items, func(m object.Member) bool {
			_, err := strconv.ParseUint(m.Value.Text, 10, 8)
			return m.Value.Kind != object.Null && (isString(tree{m.Value}) || err != nil)
		})
	}
	_, err := base64.StdEncoding.DecodeString(v.Text)
	return isString(v) && err == nil
}

var quantity = regexp.MustCompile(`^[+-]?[0-9]*(\.[0-9]*)?([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,18})?$`)

func isQuantity(v tree) bool {
	text := strings.TrimSpace(v.Text)
	return (isString(v) || v.Kind() == shape.Number) && text != "" && quantity.MatchString(text)
}

func isRelease(v tree) bool {
	if !isString(v) || len(v.Text) > budget.VersionText {
		return false
	}
	for _, segment := range strings.Split(v.Text, ".") {
		if _, err := semver.NewPRVersion(segment); err != nil {
			return false
		}
	}
	return true
}
