package config

import (
	"reflect"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/plan"
)

// Published catalogs are one text or a list. An empty list differs from a missing one.
func TestPublished(t *testing.T) {
	const target = "targets:\n- template: a.yaml\n"
	for _, tt := range []struct {
		text        string
		top, target []plan.PublishedSetup
		fails       bool
	}{
		{"published: quay.io/example/index:v{platform}\n" + target, []plan.PublishedSetup{{Catalog: "quay.io/example/index:v{platform}"}}, nil, false},
		{"published: [{platform: '4.20', catalog: out/v4.20}, {catalog: all.yaml}]\n" + target, []plan.PublishedSetup{{Platform: "4.20", Catalog: "out/v4.20"}, {Catalog: "all.yaml"}}, nil, false},
		{target + "  published: []\n", nil, []plan.PublishedSetup{}, false},
		{target + "  published: all.yaml\n", nil, []plan.PublishedSetup{{Catalog: "all.yaml"}}, false},
		{"published: [{platform: '4.20'}]\n", nil, nil, true},
		{"published: index:{version}\n", nil, nil, true},
		{"published: {platform: '4.20', catalog: a}\n", nil, nil, true},
		{"insteadOf: everything\n", nil, nil, true},
	} {
		c, err := Parse("graft.yaml", []byte(tt.text))
		if tt.fails {
			if !failure.Is(err, failure.Config) {
				t.Errorf("%s: got %v", tt.text, err)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(c.Published, tt.top) || !reflect.DeepEqual(c.Targets[0].Published, tt.target) {
			t.Errorf("%s: got %+v, %v", tt.text, c, err)
		}
	}
}
