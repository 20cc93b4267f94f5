package draw

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
)

// The example of the operand document, without the metadata that catalogs do not contain.
const documented = `{
  "nodes": [
    {
      "version": "0.0.0",
      "payload": "quay.io/redhat/openshift-cincinnati-test-public-manual@sha256:a264db3ac5288c9903dc3db269fca03a0b122fe4af80b57fc5087b329995013d",
      "metadata": {
        "io.openshift.upgrades.graph.release.channels": "a",
        "io.openshift.upgrades.graph.release.manifestref": "sha256:a264db3ac5288c9903dc3db269fca03a0b122fe4af80b57fc5087b329995013d"
      }
    },
    {
      "version": "0.0.1",
      "payload": "quay.io/redhat/openshift-cincinnati-test-public-manual@sha256:73df5efa869eaf57d4125f7655e05e1a72b59d05e55fea06d3701ea5b59234ff",
      "metadata": {
        "io.openshift.upgrades.graph.release.manifestref": "sha256:73df5efa869eaf57d4125f7655e05e1a72b59d05e55fea06d3701ea5b59234ff",
        "io.openshift.upgrades.graph.release.channels": "a"
      }
    }
  ],
  "edges": [[0, 1]]
}`

func TestCincinnatiAsDocumented(t *testing.T) {
	ch := newChannel(t, "a", "0.0.0; 0.0.1 <0.0.0 *head")
	for i, digest := range []string{"a264db3ac5288c9903dc3db269fca03a0b122fe4af80b57fc5087b329995013d", "73df5efa869eaf57d4125f7655e05e1a72b59d05e55fea06d3701ea5b59234ff"} {
		ch.Nodes[i].Image = "quay.io/redhat/openshift-cincinnati-test-public-manual@sha256:" + digest
	}
	var got, want any
	if err := json.Unmarshal(Cincinnati(Package{Name: "pkg", Channels: []Channel{ch}}, ""), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(documented), &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestCincinnati(t *testing.T) {
	stable := newChannel(t, "stable", "1.0.0; 1.1.0 <1.0.0 *skipped; 1.2.0 <1.0.0 -1.1.0 ~1.0.0 *head")
	fast := newChannel(t, "fast", "0.9.0 *outside *missing; 1.0.0 *outside; 1.2.0 <1.0.0 <0.9.0; 1.3.0 <1.2.0 *removed; 1.10.0 <1.2.0 <!1.3.0 *head")
	p := Package{Name: "pkg", Channels: []Channel{fast, stable}}
	for _, test := range []struct{ channel, want string }{
		{"", `{"nodes":[` +
			`{"version":"1.0.0","payload":"example.com/pkg:v1.0.0","metadata":{"io.openshift.upgrades.graph.release.channels":"stable"}},` +
			`{"version":"1.1.0","payload":"example.com/pkg:v1.1.0","metadata":{"io.openshift.upgrades.graph.release.channels":"stable"}},` +
			`{"version":"1.2.0","payload":"example.com/pkg:v1.2.0","metadata":{"io.openshift.upgrades.graph.release.channels":"fast,stable"}},` +
			`{"version":"1.10.0","payload":"example.com/pkg:v1.10.0","metadata":{"io.openshift.upgrades.graph.release.channels":"fast"}}` +
			`],"edges":[[0,1],[0,2],[1,2],[2,3]]}`},
		{"fast", `{"nodes":[` +
			`{"version":"1.2.0","payload":"example.com/pkg:v1.2.0","metadata":{"io.openshift.upgrades.graph.release.channels":"fast,stable"}},` +
			`{"version":"1.10.0","payload":"example.com/pkg:v1.10.0","metadata":{"io.openshift.upgrades.graph.release.channels":"fast"}}` +
			`],"edges":[[0,1]]}`},
		{"none", `{"nodes":[],"edges":[]}`},
	} {
		if got := string(Cincinnati(p, test.channel)); got != test.want+"\n" {
			t.Errorf("channel %q:\ngot  %swant %s", test.channel, got, test.want)
		}
	}
}

// The JSON of any graph parses, and its edges are pairs of its nodes.
func TestJSONOfAnyGraph(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	for range 200 {
		g := random(r)
		var picture struct {
			Packages []struct {
				Channels []struct {
					Nodes []Node
					Edges []struct{ From, To string }
				}
			}
		}
		if err := json.Unmarshal(JSON(g), &picture); err != nil || len(picture.Packages) != len(g.Packages) {
			t.Fatalf("%v: %d packages of %d", err, len(picture.Packages), len(g.Packages))
		}
		for i, p := range g.Packages {
			for c, ch := range p.Channels {
				got := picture.Packages[i].Channels[c]
				if len(got.Nodes) != len(ch.Nodes) || len(got.Edges) != len(ch.Edges) {
					t.Fatalf("%d nodes of %d, %d edges of %d", len(got.Nodes), len(ch.Nodes), len(got.Edges), len(ch.Edges))
				}
			}
			var graph cincinnatiGraph
			if err := json.Unmarshal(Cincinnati(p, ""), &graph); err != nil || graph.Nodes == nil || graph.Edges == nil {
				t.Fatalf("%v: %+v", err, graph)
			}
			for _, e := range graph.Edges {
				if e[0] == e[1] || max(e[0], e[1]) >= len(graph.Nodes) {
					t.Fatalf("edge %v among %d nodes", e, len(graph.Nodes))
				}
			}
		}
	}
}
