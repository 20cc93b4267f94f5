package cut

import (
	"fmt"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

func channel(name string, entries ...string) fbc.Channel {
	ch := fbc.Channel{Schema: fbc.SchemaChannel, Name: name, Package: "op"}
	for _, text := range entries {
		name, replaces, _ := strings.Cut(text, "<")
		ch.Entries = append(ch.Entries, fbc.Entry{Name: name, Replaces: replaces})
	}
	return ch
}

func text(channels []fbc.Channel) string {
	var out strings.Builder
	for _, ch := range channels {
		out.WriteString(ch.Name + ":")
		for _, e := range ch.Entries {
			out.WriteString(" " + e.Name)
			if e.Replaces != "" {
				out.WriteString("<" + e.Replaces)
			}
		}
		out.WriteString("\n")
	}
	return out.String()
}

func TestChannels(t *testing.T) {
	of := semver.MustParseRange
	all := []fbc.Channel{channel("alpha", "op.v1.0.0", "nameless<op.v1.0.0"), channel("stable", "op.v1.0.0", "op.v1.1.0<op.v1.0.0", "op.v2.0.0<op.v1.1.0")}
	for name, tt := range map[string]struct {
		cut        Cut
		want, gone string
		unknown    bool // the version of nameless is unknown
	}{
		"nothing":                   {Cut{}, text(all), "map[]", false},
		"versions out":              {Cut{Exclude: []Rule{{Versions: of("<1.1.0-0")}}}, "alpha: nameless<op.v1.0.0\nstable: op.v1.1.0<op.v1.0.0 op.v2.0.0<op.v1.1.0\n", "map[[op op.v1.0.0]:true]", true},
		"closed":                    {Cut{Exclude: []Rule{{Versions: of("<1.1.0-0")}}, Close: true}, "alpha: nameless\nstable: op.v1.1.0 op.v2.0.0<op.v1.1.0\n", "map[[op op.v1.0.0]:true]", true},
		"a channel out":             {Cut{Exclude: []Rule{{Channels: []string{"al*"}}}}, "stable: op.v1.0.0 op.v1.1.0<op.v1.0.0 op.v2.0.0<op.v1.1.0\n", "map[[op nameless]:true]", false},
		"versions of a channel out": {Cut{Exclude: []Rule{{Channels: []string{"stable"}, Versions: of("<2.0.0-0")}}}, "alpha: op.v1.0.0 nameless<op.v1.0.0\nstable: op.v2.0.0<op.v1.1.0\n", "map[[op op.v1.1.0]:true]", false},
		"versions in":               {Cut{Include: []Rule{{Versions: of("<1.1.0")}, {Versions: of(">=3.0.0")}}}, "alpha: op.v1.0.0 nameless<op.v1.0.0\nstable: op.v1.0.0\n", "map[[op op.v1.1.0]:true [op op.v2.0.0]:true]", false},
		"in and out":                {Cut{Include: []Rule{{Versions: of("<2.0.0")}}, Exclude: []Rule{{Versions: of("<1.1.0")}}}, "stable: op.v1.1.0<op.v1.0.0\n", "map[[op nameless]:true [op op.v1.0.0]:true [op op.v2.0.0]:true]", false},
		"at a head":                 {Cut{Heads: map[string]string{"stable": "op.v1.1.0"}}, "alpha: op.v1.0.0 nameless<op.v1.0.0\nstable: op.v1.0.0 op.v1.1.0<op.v1.0.0\n", "map[[op op.v2.0.0]:true]", false},
		"at a head, by edges":       {Cut{Heads: map[string]string{"alpha": "op.v1.0.0"}}, "alpha: op.v1.0.0\nstable: op.v1.0.0 op.v1.1.0<op.v1.0.0 op.v2.0.0<op.v1.1.0\n", "map[[op nameless]:true]", true},
	} {
		version := func(string) (semver.Version, bool) { return semver.MustParse("1.0.5"), !tt.unknown }
		got, gone, err := tt.cut.Channels(all, version)
		if err != nil || text(got) != tt.want || fmt.Sprint(map[[2]string]bool(gone)) != tt.gone {
			t.Errorf("%s: %v\n%s%v\nwant\n%s%s", name, err, text(got), gone, tt.want, tt.gone)
		}
		if tt.cut.Empty() != (name == "nothing") {
			t.Errorf("%s is empty: %v", name, tt.cut.Empty())
		}
	}
	for _, heads := range []map[string]string{{"stable": "op.v1.2.0"}, {"stabel": "op.v1.1.0"}} {
		if _, _, err := (Cut{Heads: heads}).Channels(all, nil); !failure.Is(err, failure.Config) {
			t.Errorf("%v: %v", heads, err)
		}
	}
}

func TestDeprecations(t *testing.T) {
	before := []fbc.Channel{channel("alpha", "op.v1.0.0"), channel("stable", "op.v1.1.0")}
	after, gone, err := Cut{Exclude: []Rule{{Channels: []string{"alpha"}}}}.Channels(before, nil)
	if err != nil {
		t.Fatal(err)
	}
	entry := func(schema, name string) fbc.DeprecationEntry {
		return fbc.DeprecationEntry{Reference: fbc.Reference{Schema: schema, Name: name}}
	}
	all := []fbc.Deprecation{
		{Package: "op", Entries: []fbc.DeprecationEntry{entry(fbc.SchemaPackage, ""), entry(fbc.SchemaChannel, "alpha"), entry(fbc.SchemaBundle, "op.v1.0.0"), entry(fbc.SchemaBundle, "op.v1.1.0")}},
		{Package: "op", Entries: []fbc.DeprecationEntry{entry(fbc.SchemaChannel, "alpha")}},
		{Package: "other", Entries: []fbc.DeprecationEntry{entry(fbc.SchemaChannel, "alpha")}},
	}
	got := Deprecations(all, before, after, gone)
	if len(got) != 2 || len(got[0].Entries) != 2 || got[0].Entries[1].Reference.Name != "op.v1.1.0" || got[1].Package != "other" || len(all[0].Entries) != 4 {
		t.Errorf("%+v", got)
	}
}
