package graph

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDiffPaths(t *testing.T) {
	for _, test := range []struct {
		name, old, new string
		want           string // CHANGE VERSION:FROM>TO(RULES), in order
	}{
		{"nothing", "c: 1.0.0; 1.1.0 <1.0.0", "c: 1.0.0; 1.1.0 <1.0.0", ""},
		{"a new head", "c: 1.0.0; 1.1.0 <1.0.0", "c: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0", "direct 1.1.0:>1.2.0(v0 v1)"},
		{"a new head that skips", "c: 1.0.0; 1.1.0 <1.0.0", "c: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0 -1.0.0", "direct 1.0.0:1.1.0>1.2.0(v0 v1), direct 1.1.0:>1.2.0(v0 v1)"},
		{"one put between", "c: 1.0.0; 1.2.0 <1.0.0", "c: 1.0.0; 1.1.0 <1.0.0; 1.2.0 <1.1.0", "longer 1.0.0:1.2.0>1.1.0(v0 v1)"},
		{"v1 is freed from a dead end", "c: 1.0.0; 1.3.0 <1.0.0; 1.2.0 <1.0.0 -1.3.0", "c: 1.0.0; 1.3.0; 1.2.0 <1.0.0 -1.3.0", "gained 1.0.0:1.3.0>1.2.0(v1)"},
		{"v1 is led into a dead end", "c: 1.0.0; 1.3.0; 1.2.0 <1.0.0 -1.3.0", "c: 1.0.0; 1.3.0 <1.0.0; 1.2.0 <1.0.0 -1.3.0", "lost 1.0.0:1.2.0>1.3.0(v1)"},
		{"lost in both", "c: 1.0.0; 1.1.0 <1.0.0", "c: 1.1.0", "lost 1.0.0:1.1.0>(v0 v1)"},
		{"another way of the same length", "c: 1.0.0; 1.1.0 <1.0.0; 1.2.0 -1.1.0 <1.0.0; 1.3.0 <1.2.0", "c: 1.0.0; 1.1.0 <1.0.0; 1.2.0 -1.1.0; 1.3.0 <1.2.0 -1.0.0", "direct 1.0.0:1.2.0>1.3.0(v0 v1)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, p := range Diff(newCatalog(t, test.old), newCatalog(t, test.new)).Packages {
				for _, ch := range p.Channels {
					for _, c := range ch.Paths {
						var rules []string
						for _, g := range c.Rules {
							rules = append(rules, g.String())
						}
						got = append(got, string(c.Change)+" "+c.Version+":"+strings.TrimPrefix(c.Next.From, "p.v")+">"+strings.TrimPrefix(c.Next.To, "p.v")+"("+strings.Join(rules, " ")+")")
					}
				}
			}
			if text := strings.Join(got, ", "); text != test.want {
				t.Errorf("got %s\nwant %s", text, test.want)
			}
		})
	}
}

func TestDiff(t *testing.T) {
	was := load("old.yaml", []byte(soundCatalog))
	is := load("new.yaml", []byte(strings.NewReplacer(
		"defaultChannel: stable", "defaultChannel: fast",
		"  skipRange: '>=1.0.0 <1.2.0'", "  skips:\n  - p.v1.0.0",
		"example.com/p:1.1.0\nname", "example.com/p:1.1.0-1\nname",
		"schema: olm.channel\n---", "schema: olm.channel\n---\nentries:\n- name: p.v1.2.0\nname: fast\npackage: p\nschema: olm.channel\n---",
	).Replace(soundCatalog)))
	got, err := json.Marshal(Diff(was, is))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"packages":[{"name":"p","change":"changed","defaultChannel":{"from":"stable","to":"fast"},` +
		`"bundles":[{"name":"p.v1.1.0","change":"changed","version":"1.1.0","image":{"from":"example.com/p:1.1.0","to":"example.com/p:1.1.0-1"}}],` +
		`"channels":[{"name":"fast","change":"added","head":{"from":"","to":"p.v1.2.0"},"entries":[{"name":"p.v1.2.0","change":"added"}]},` +
		`{"name":"stable","change":"changed","edges":[{"bundle":"p.v1.2.0","kind":"skips","change":"added","to":"p.v1.0.0"},` +
		`{"bundle":"p.v1.2.0","kind":"skipRange","change":"removed","to":"\u003e=1.0.0 \u003c1.2.0"}]}]}]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	back, err := json.Marshal(Diff(is, was))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"defaultChannel":{"from":"fast","to":"stable"}`, `{"name":"fast","change":"removed","head":{"from":"p.v1.2.0","to":""},"entries":[{"name":"p.v1.2.0","change":"removed"}]}`,
		`{"bundle":"p.v1.2.0","kind":"skips","change":"removed","to":"p.v1.0.0"}`, `{"bundle":"p.v1.2.0","kind":"skipRange","change":"added","to":"\u003e=1.0.0 \u003c1.2.0"}`,
	} {
		if !strings.Contains(string(back), want) {
			t.Errorf("the other way round it lacks %s: %s", want, back)
		}
	}
	other := load("new.yaml", []byte(strings.NewReplacer("version: 1.1.0", "version: 1.1.5", "  replaces: p.v1.0.0\n", "  replaces: p.v0.9.0\n").Replace(soundCatalog)))
	changed, err := json.Marshal(Diff(was, other))
	if err != nil || !strings.Contains(string(changed), `{"name":"p.v1.1.0","change":"changed","version":"1.1.5","was":"1.1.0"}`) ||
		!strings.Contains(string(changed), `{"bundle":"p.v1.1.0","kind":"replaces","change":"changed","to":"p.v0.9.0","was":"p.v1.0.0"}`) {
		t.Errorf("%s, %v", changed, err)
	}
	gone, err := json.Marshal(Diff(was, &Catalog{}))
	if err != nil || !strings.Contains(string(gone), `"name":"p","change":"removed"`) {
		t.Errorf("%s, %v", gone, err)
	}
}
