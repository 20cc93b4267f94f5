package draw

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/fbc"
)

// The example of the operand document, now with an operand's data.
func TestCincinnatiOperandAsDocumented(t *testing.T) {
	const image = "quay.io/redhat/openshift-cincinnati-test-public-manual@sha256:"
	var nodes []OperandNode
	for i, digest := range []string{"a264db3ac5288c9903dc3db269fca03a0b122fe4af80b57fc5087b329995013d", "73df5efa869eaf57d4125f7655e05e1a72b59d05e55fea06d3701ea5b59234ff"} {
		nodes = append(nodes, OperandNode{[]string{"0.0.0", "0.0.1"}[i], []fbc.RelatedImage{{Name: "manual", Image: image + digest}}, []string{"a"}})
	}
	var got, want any
	if err := json.Unmarshal(CincinnatiOperand("manual", nodes, [][2]int{{0, 1}}), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(documented), &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestCincinnatiOperandOfSeveralImages(t *testing.T) {
	got := string(CincinnatiOperand("etcd", []OperandNode{{"1.0.0", []fbc.RelatedImage{{Name: "metrics", Image: "i/m:1"}, {Name: "etcd", Image: "i/e:1"}}, []string{"a", "b"}}}, nil))
	want := `{"nodes":[{"version":"1.0.0","payload":"i/e:1","metadata":{"io.olm.operand.image.etcd":"i/e:1","io.olm.operand.image.metrics":"i/m:1","io.openshift.upgrades.graph.release.channels":"a,b"}}],"edges":[]}`
	if strings.TrimSpace(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := string(CincinnatiOperand("etcd", nil, nil)); got != "{\"nodes\":[],\"edges\":[]}\n" {
		t.Errorf("got %s", got)
	}
}
