package graph

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
)

func operandGraphCatalog() string {
	var b strings.Builder
	bundle := func(pkg, version string, claims ...string) {
		fmt.Fprintf(&b, "---\nschema: olm.bundle\npackage: %s\nname: %s.v%s\nimage: i/%s:%s\nproperties:\n- {type: olm.package, value: {packageName: %s, version: %s}}\n", pkg, pkg, version, pkg, version, pkg, version)
		for _, c := range claims {
			typ, r, _ := strings.Cut(c, " ")
			fmt.Fprintf(&b, "- {type: %s, value: {name: etcd, version: %q}}\n", typ, r)
		}
	}
	bundle("op", "1.0.0", "olm.operand.supported 1.x", "olm.operand.supported 2.0.0")
	bundle("op", "2.0.0", "olm.operand.supported >=2.0.0 <4.0.0")
	bundle("op", "3.0.0", "olm.operand.required 4.x")
	bundle("other", "1.0.0", "olm.operand.supported 1.1.0")
	for pkg, channels := range map[string]string{"op": "stable op.v1.0.0,fast op.v1.0.0 op.v2.0.0 op.v3.0.0", "other": "beta other.v1.0.0"} {
		fmt.Fprintf(&b, "---\nschema: olm.package\nname: %s\ndefaultChannel: x\n", pkg)
		for _, ch := range strings.Split(channels, ",") {
			names := strings.Fields(ch)
			fmt.Fprintf(&b, "---\nschema: olm.channel\npackage: %s\nname: %s\nentries: [{name: %s}]\n", pkg, names[0], strings.Join(names[1:], "}, {name: "))
		}
	}
	for _, v := range []string{"3.0.0", "1.1.0", "2.0.0", "1.0.0", "4.0.0", "1.0.0"} {
		fmt.Fprintf(&b, "---\nschema: olm.operand\nname: etcd\nversion: %s\nimages: [{name: etcd, image: 'i/etcd:%s'}]\n", v, v)
	}
	return b.String()
}

func TestOperandGraph(t *testing.T) {
	c := load("c.yaml", []byte(operandGraphCatalog()))
	for _, test := range []struct {
		pkg, channel string
		nodes        string
		edges        [][2]int
	}{
		{"", "", "1.0.0 [fast stable] 1.1.0 [beta fast stable] 2.0.0 [fast stable] 3.0.0 [fast]", [][2]int{{0, 1}, {0, 2}, {1, 2}, {2, 3}}},
		{"op", "stable", "1.0.0 [fast stable] 1.1.0 [fast stable] 2.0.0 [fast stable]", [][2]int{{0, 1}, {0, 2}, {1, 2}}},
		{"other", "", "1.1.0 [beta]", nil},
		{"op", "beta", "", nil},
	} {
		nodes, edges, err := c.OperandGraph("etcd", test.pkg, test.channel)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range nodes {
			got = append(got, fmt.Sprintf("%s %v", n.Version, n.Channels))
		}
		if strings.Join(got, " ") != test.nodes || !reflect.DeepEqual(edges, test.edges) {
			t.Errorf("%s %s: got %v %v, want %s %v", test.pkg, test.channel, got, edges, test.nodes, test.edges)
		}
	}
	if c.HasOperand("kafka") || !c.HasOperand("etcd") {
		t.Error("it knows other operands")
	}
	two := operandGraphCatalog() + "---\nschema: olm.operand\nname: etcd\nversion: 1.0.0\nimages: [{name: etcd, image: other}]\n"
	if _, _, err := load("c.yaml", []byte(two)).OperandGraph("etcd", "", ""); !failure.Is(err, failure.OperandUnresolvable) {
		t.Errorf("got %v", err)
	}
}

// A set of related images is accepted if all claims about it hold.
func TestOperandGraphOfSets(t *testing.T) {
	text := strings.NewReplacer("olm.operand.supported", "olm.relatedImageBundle", "schema: olm.operand", "schema: olm.relatedimages", "images: [{name: etcd,", "relatedImages: [{name: etcd,").Replace(operandGraphCatalog())
	nodes, edges, err := load("c.yaml", []byte(text)).OperandGraph("etcd", "op", "")
	if err != nil || len(nodes) != 2 || nodes[0].Version != "2.0.0" || nodes[1].Version != "3.0.0" || len(edges) != 1 {
		t.Errorf("%v: %v %v", err, nodes, edges)
	}
}
