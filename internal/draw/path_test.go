package draw

import "testing"

func TestMermaidPath(t *testing.T) {
	got := string(MermaidPath([]PathNode{
		{Platform: "4.16", Channel: "stable", Bundle: "op.v1.0.0"},
		{Platform: "4.16", Channel: "stable", Bundle: "op.v1.1.0", By: "upgrade", Deprecated: true},
		{Platform: "4.17", Channel: "stable", Bundle: "op.v1.1.0", By: "cluster"},
		{Platform: "4.17", Channel: `"]; click`, Bundle: "op.v1.1.0", By: "channel"},
	}))
	const want = `graph LR
  subgraph p0["4.16"]
    n0["op.v1.0.0<br/>stable"]
    n1["op.v1.1.0<br/>stable"]
  end
  subgraph p2["4.17"]
    n2["op.v1.1.0<br/>stable"]
    n3["op.v1.1.0<br/>#34;#93;#59; click"]
  end
  n0 -- "upgrade" --> n1
  n1 -- "cluster" --> n2
  n2 -- "channel" --> n3
  classDef deprecated fill:#d0d7de,stroke:#9a6700,color:#424a53,stroke-dasharray:4 3
  class n1 deprecated
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
}
