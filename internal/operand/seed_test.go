package operand

import (
	"reflect"
	"testing"

	"github.com/olmgraft/graft/internal/fbc"
)

// The examples of the design document. It writes the bundles as JSON with trailing commas and comments. They
// parse as YAML after the only change made here: comments begin with # instead of //.
const (
	seedRelated = `{
"schema": "olm.relatedimages",
"name": "etcdoperator-related",
"version": "0.9.0",
"relatedImages" : [
{
"name": "etcd-stable",
"image": "quay.io/coreos/etcd-operator@sha256:db563baa8194fcfe39d1df744ed70024b0f1f9e9b55b5923c2f3a413c44dc6b8"
}
]
}
`
	seedRelatedBundle = `{
"schema": "olm.bundle",
"name": "etcdoperator-community.v0.6.1",
"package": "etcd",
"image": "quay.io/operatorhubio/etcd:v0.6.1",
"version": "0.6.1",
"properties":[
{
"name": "olm.relatedImageBundle",
"value": {
"name": "etcdoperator-related",
"version": ">= 0.9.0 < 1.0.0"
},
},
# rest omitted
]
}
`
	seedOperand = `{
"schema": "olm.operand",
"name": "etcd",
"version": "3.1.1",
"images" : [
{
"name": "etcd",
"image": "quay.io/coreos/etcd@sha256:db563baa8194fcfe39d1df744ed70024b0f1f9e9b55b5923c2f3a413c44dc6b8"
}
]
}
`
	seedOperandBundle = `{
"schema": "olm.bundle",
"name": "etcdoperator-community.v0.6.1",
"package": "etcd",
"image": "quay.io/operatorhubio/etcd:v0.6.1",
"version": "0.6.1",
"properties":[
# supports 2.1.0-3.0.0 and 3.1.1 etcd
{
"name": "olm.operand.supported",
"value": {
"name": "etcd",
"version": "3.1.1"
},
},
{
"name": "olm.operand.supported",
"value": {
"name": "etcd",
"version": ">= 2.1.0 < 3.0.0"
},
},
# requires an operator the provides the prometheus operand
{
"name": "olm.operand.required",
"value": {
"name": "prometheus",
"version": ">= 2.1.0 < 3.0.0"
},
},
# rest omitted
]
}
`
)

func setOf(t *testing.T, texts ...string) *Set {
	t.Helper()
	s := &Set{}
	for i, text := range texts {
		docs, err := fbc.Read(string(rune('a'+i))+".yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Add(docs); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func claims(b Bundle) (out [][3]string) {
	for _, c := range b.Claims {
		out = append(out, [3]string{c.Type, c.Name, c.Range.Text})
	}
	return out
}

func TestSeedEntries(t *testing.T) {
	s := setOf(t, seedOperand, seedRelated)
	const digest = "@sha256:db563baa8194fcfe39d1df744ed70024b0f1f9e9b55b5923c2f3a413c44dc6b8"
	want := []Entry{
		{Pos: Pos{"a.yaml", 1}, Schema: SchemaOperand, Name: "etcd", Images: []fbc.RelatedImage{{Name: "etcd", Image: "quay.io/coreos/etcd" + digest}}},
		{Pos: Pos{"b.yaml", 1}, Schema: SchemaRelatedImages, Name: "etcdoperator-related", Images: []fbc.RelatedImage{{Name: "etcd-stable", Image: "quay.io/coreos/etcd-operator" + digest}}},
	}
	for i, version := range []string{"3.1.1", "0.9.0"} {
		if got := s.Entries[i].Version.String(); got != version {
			t.Errorf("version %s, want %s", got, version)
		}
		want[i].Version = s.Entries[i].Version
	}
	if !reflect.DeepEqual(s.Entries, want) {
		t.Errorf("got %+v\nwant %+v", s.Entries, want)
	}
}

func TestSeedBundles(t *testing.T) {
	for text, want := range map[string][][3]string{
		seedRelatedBundle: {{TypeRelatedImageBundle, "etcdoperator-related", ">= 0.9.0 < 1.0.0"}},
		seedOperandBundle: {
			{TypeSupported, "etcd", "3.1.1"}, {TypeSupported, "etcd", ">= 2.1.0 < 3.0.0"}, {TypeRequired, "prometheus", ">= 2.1.0 < 3.0.0"},
		},
	} {
		b := setOf(t, text).Bundles[0]
		if b.Package != "etcd" || b.Name != "etcdoperator-community.v0.6.1" || b.Image != "quay.io/operatorhubio/etcd:v0.6.1" {
			t.Errorf("got %+v", b)
		}
		if got := claims(b); !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

// "supports 2.1.0-3.0.0 and 3.1.1 etcd"
func TestSeedRanges(t *testing.T) {
	b := setOf(t, seedOperandBundle).Bundles[0]
	for version, want := range map[string]bool{"2.0.9": false, "2.1.0": true, "2.9.9": true, "3.0.0": false, "3.1.0": false, "3.1.1": true, "3.1.2": false} {
		got := false
		for _, c := range b.about(TypeSupported, "etcd") {
			got = got || c.Range.Holds(version1(t, version))
		}
		if got != want {
			t.Errorf("%s: %v", version, got)
		}
	}
}
