package graph

import (
	"bytes"
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/shape"
)

// types are the types of the fields in opm's own structs. If a value has the wrong type, opm rejects the catalog
// with an error of encoding/json; here each such value is reported with its path. The lists of a bundle are
// checked one by one. Types that begin with property/ are those of properties whose values opm reads.
var types = shape.NewTable(`
any-property type:string
package schema:string name:string defaultChannel:string description:string icon:icon properties:[]any-property
icon mediatype:string base64data:bytes
channel schema:string name:string package:string entries:[]entry properties:[]any-property
entry name:string replaces:string skipRange:string skips:[]string
bundle schema:string name:string package:string image:string
related-image name:string image:string
record
deprecations schema:string package:string entries:[]deprecation
deprecation message:string reference:reference
reference schema:string name:string
property/olm.package packageName:string version:string release:string
property/olm.package.required packageName:string versionRange:string
property/olm.gvk group:string kind:string version:string
property/olm.gvk.required group:string kind:string version:string
property/olm.bundle.object data:bytes
property/olm.channel channelName:string priority:int64
property/olm.csv.metadata description:string displayName:string maturity:string minKubeVersion:string annotations:{}string labels:{}string keywords:[]string apiServiceDefinitions:api-services crdDescriptions:crds installModes:[]install-mode links:[]link maintainers:[]maintainer nativeAPIs:[]native-api provider:link
api-services owned:[]api-service required:[]api-service
crds owned:[]crd required:[]crd
api-service name:string version:string kind:string displayName:string description:string resources:[]resource statusDescriptors:[]descriptor specDescriptors:[]descriptor actionDescriptors:[]descriptor group:string deploymentName:string containerPort:int32
crd name:string version:string kind:string displayName:string description:string resources:[]resource statusDescriptors:[]descriptor specDescriptors:[]descriptor actionDescriptors:[]descriptor
resource name:string kind:string version:string
descriptor path:string displayName:string description:string x-descriptors:[]string
install-mode type:string supported:bool
link name:string url:string
maintainer name:string email:string
native-api group:string version:string kind:string
`, map[string]shape.Leaf[value]{
	"string": {Want: "a string", Fits: func(v value) bool { return v[0] == '"' }},
	"bool":   {Want: "true or false", Fits: func(v value) bool { return v.Kind() == shape.Bool }},
	"int32":  {Want: "a whole number of 32 bits", Fits: func(v value) bool { return isWhole(v, 32) }},
	"int64":  {Want: "a whole number", Fits: func(v value) bool { return isWhole(v, 64) }},
	"bytes":  {Want: inBase64, Fits: isBytes},
})

var relatedImages, records = types.Type("[]related-image"), types.Type("[]record")

const inBase64 = "a string in base64"

// misfit returns what is wrong with a value.
func misfit(m shape.Mismatch[value]) string {
	got := "a number"
	switch m.Value.Kind() {
	case shape.String:
		if _, err := decodeOctets(m.Value); m.Want == inBase64 {
			return "is not base64: " + err.Error()
		}
		if got = "a string"; strings.HasPrefix(m.Value.text(), "//") {
			got += ": " + fbc.NoComment
		}
	case shape.Map:
		got = "a mapping"
	case shape.List:
		if m.Want == inBase64 { // bytes may be a list of numbers
			return "must be " + m.Want
		}
		got = "a list"
	case shape.Bool:
		got = "true or false"
	case shape.Number:
		if strings.HasPrefix(m.Want, "a whole number") {
			got = string(m.Value)
		}
	}
	return "must be " + m.Want + ", not " + got
}

// isWhole reports whether a value is a number that is whole after opm has converted it to floating point and
// back.
func isWhole(v value, bits int) bool {
	f, err := strconv.ParseFloat(string(v), 64)
	if v.Kind() != shape.Number || err != nil || math.Abs(f) >= 1e21 {
		return false
	}
	_, err = strconv.ParseInt(strconv.FormatFloat(f, 'f', -1, 64), 10, bits)
	return err == nil
}

// isBytes reports whether encoding/json accepts a value as bytes: base64, or a list of numbers.
func isBytes(v value) bool {
	if v.Kind() == shape.String {
		_, err := decodeOctets(v)
		return err == nil
	}
	for _, item := range v.Items() {
		n, err := strconv.ParseFloat(string(item), 64)
		if string(item) != "null" && (err != nil || n != math.Trunc(n) || math.Signbit(n) || n > 255) {
			return false
		}
	}
	return v.Kind() == shape.List
}

func decodeOctets(v value) ([]byte, error) {
	if bytes.IndexByte(v, '\\') < 0 {
		v = v[1 : len(v)-1]
	} else {
		v = value(unquote(v))
	}
	out := make([]byte, base64.StdEncoding.DecodedLen(len(v)))
	n, err := base64.StdEncoding.Decode(out, v)
	return out[:n], err
}
