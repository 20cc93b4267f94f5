package parts

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

const (
	pkg       = "defaultChannel: stable\nname: op\nschema: olm.package\n"
	stable    = "entries:\n- name: op.v1.0.0\nname: stable\npackage: op\nschema: olm.channel\n"
	stableTwo = "entries:\n- name: op.v1.0.0\n- name: op.v1.1.0\n  replaces: op.v1.0.0\nname: stable\npackage: op\nschema: olm.channel\n"
	fast      = "entries:\n- name: op.v1.1.0\nname: fast\npackage: op\nschema: olm.channel\n"
	// byHand has the content of stableTwo without the new entry.
	byHand = "# kept by hand\nname: stable   # the one\npackage: 'op'\nschema: olm.channel\nentries:\n    - name: op.v1.0.0   # first\n"
)

// hand is a channel in yq's layout; handNow is the expected result.
const (
	hand = "entries:\n  - name: op.v0.8.0\n  - name: op.v0.9.0\n    replaces: op.v0.8.0\n    skipRange: '<0.9.0'\n  # the first that counts\n  - name: op.v1.0.0\n    replaces: op.v0.9.0\n    skips:\n      - op.v0.9.1\n  - name: op.v1.1.0 # good\n    replaces: op.v1.0.0\nname: stable\npackage: op\nschema: olm.channel\n"

	handNow = "entries:\n- name: op.v0.9.0\n  skipRange: <0.9.0\n- name: op.v1.0.0\n  replaces: op.v0.9.0\n- name: op.v1.0.1\n  replaces: op.v1.0.0\n- name: op.v1.1.0\n  replaces: op.v1.0.1\n  skipRange: <1.1.0\n- name: op.v1.2.0\n  replaces: op.v1.1.0\n  skipRange: <1.2.0\n  skips:\n  - op.v1.1.1\nname: stable\npackage: op\nschema: olm.channel\n"

	mended = "entries:\n  - name: op.v0.9.0\n    skipRange: '<0.9.0'\n  # the first that counts\n  - name: op.v1.0.0\n    replaces: op.v0.9.0\n  - name: op.v1.0.1\n    replaces: op.v1.0.0\n  - name: op.v1.1.0 # good\n    replaces: op.v1.0.1\n    skipRange: '<1.1.0'\n  - name: op.v1.2.0\n    replaces: op.v1.1.0\n    skipRange: '<1.2.0'\n    skips:\n      - op.v1.1.1\nname: stable\npackage: op\nschema: olm.channel\n"
)

func bundle(version string) string {
	return "image: quay.io/example/op:" + strings.ReplaceAll(version, "+", "-") + "\nname: op.v" + strings.ReplaceAll(version, "+", "-") +
		"\npackage: op\nproperties:\n- type: olm.package\n  value:\n    packageName: op\n    version: " + version + "\nschema: olm.bundle\n"
}

func inJSON(t *testing.T, text string) string {
	t.Helper()
	docs, err := fbc.Read("t", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	b, err := docs[0].Blob(fbc.JSON)
	if err != nil {
		t.Fatal(err)
	}
	return string(b.Body) + "\n"
}

// blobs returns documents as a renderer has them.
func blobs(t *testing.T, documents ...string) []fbc.Blob {
	t.Helper()
	var out []fbc.Blob
	for _, text := range documents {
		docs, err := fbc.Read("rendered", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		b, err := docs[0].Blob(fbc.YAML)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

func write(t *testing.T, files map[string]string, documents ...string) (map[string]string, error) {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys["c/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	fsys["other.yaml"] = &fstest.MapFile{Data: []byte(pkg)}
	standing, err := fbc.ReadFS(fsys, "c")
	if err != nil && !failure.Is(err, failure.TemplateNotFound) {
		t.Fatal(err)
	}
	changed, err := Write(fsys, "c", standing, blobs(t, documents...))
	got := map[string]string{}
	for _, f := range changed {
		name := strings.TrimPrefix(f.Path, "c/")
		if before, stands := files[name]; stands == f.New || string(f.Before) != before {
			t.Errorf("%s is new: %v, and was %q", name, f.New, f.Before)
		}
		got[name] = string(f.After)
		if f.Gone {
			got[name] = "gone"
		}
	}
	return got, err
}

func TestWrite(t *testing.T) {
	v10, v11, v12 := bundle("1.0.0"), bundle("1.1.0"), bundle("1.2.0")
	three := map[string]string{"package.yaml": pkg, "channels/channel-stable.yaml": stable, "bundles/bundle-v1.0.0.yaml": v10}
	with := func(files map[string]string, more ...string) map[string]string {
		out := map[string]string{}
		for name, text := range files {
			out[name] = text
		}
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	for name, tt := range map[string]struct {
		files, want map[string]string
		documents   []string
	}{
		"nothing changes": {three, nil, []string{v10, stable, pkg}},
		"a new bundle": {three, map[string]string{"bundles/bundle-v1.1.0.yaml": v11, "channels/channel-stable.yaml": stableTwo},
			[]string{pkg, stableTwo, v10, v11}},
		"a new channel":    {three, map[string]string{"channels/channel-fast.yaml": fast}, []string{pkg, stable, fast, v10}},
		"a removed bundle": {with(three, "bundles/bundle-v1.1.0.yaml", v11), map[string]string{"bundles/bundle-v1.0.0.yaml": "gone"}, []string{pkg, stable, v11}},
		"by name": {map[string]string{"package.yaml": pkg, "op.v1.0.0/op.v1.0.0.yaml": v10, "stable.yaml": stable},
			map[string]string{"op.v1.1.0/op.v1.1.0.yaml": v11}, []string{pkg, stable, v10, v11}},
		"by version with its build": {map[string]string{"package.yaml": pkg, "stable.yaml": stable, "bundle-v1.0.0.yaml": v10, "bundle-v1.1.0+4.yaml": bundle("1.1.0+4")},
			map[string]string{"bundle-v1.2.0+7.yaml": bundle("1.2.0+7")}, []string{pkg, stable, v10, bundle("1.1.0+4"), bundle("1.2.0+7")}},
		"like most of them": {map[string]string{"package.yaml": pkg, "stable.yaml": stable, "first.yaml": v10, "b-1.1.0.yaml": v11, "b-1.2.0.yaml": v12},
			map[string]string{"b-1.3.0.yaml": bundle("1.3.0")}, []string{pkg, stable, v10, v11, v12, bundle("1.3.0")}},
		"a separator like theirs": {with(three, "bundles/bundle-v1.0.0.yaml", "---\n"+v10), map[string]string{"bundles/bundle-v1.1.0.yaml": "---\n" + v11},
			[]string{pkg, stable, v10, v11}},
		"index and bundles": {map[string]string{"index.yaml": "---\n" + pkg + "---\n" + stable, "bundle-v1.0.0.yaml": v10},
			map[string]string{"index.yaml": "---\n" + pkg + "---\n" + stableTwo + "---\n" + fast, "bundle-v1.1.0.yaml": v11}, []string{pkg, stableTwo, fast, v10, v11}},
		"no word in their names": {map[string]string{"package.yaml": pkg, "channel.yaml": stable, "bundle.yaml": v10},
			map[string]string{"bundle.yaml": v10 + "---\n" + v12}, []string{pkg, stable, v10, v12}},
		"in the place of another": {map[string]string{"package.yaml": pkg, "channel.yaml": stable, "bundle.yaml": v10},
			map[string]string{"bundle.yaml": v12}, []string{pkg, stable, v12}},
		"one file, in order of name": {map[string]string{"catalog.yaml": "---\n" + pkg + "---\n" + stable + "---\n" + v10 + "---\n" + v12},
			map[string]string{"catalog.yaml": "---\n" + pkg + "---\n" + stable + "---\n" + v10 + "---\n" + v11 + "---\n" + v12}, []string{pkg, stable, v10, v11, v12}},
		"JSON stays JSON": {map[string]string{"p.json": inJSON(t, pkg), "stable.json": inJSON(t, stable), "op.v1.0.0.json": inJSON(t, v10)},
			map[string]string{"stable.json": inJSON(t, stableTwo), "op.v1.1.0.json": inJSON(t, v11)}, []string{pkg, stableTwo, v10, v11}},
		"by hand": {with(three, "channels/channel-stable.yaml", byHand),
			map[string]string{"channels/channel-stable.yaml": byHand + "    - name: op.v1.1.0\n      replaces: op.v1.0.0\n"}, []string{pkg, stableTwo, v10}},
		"by hand and the same": {with(three, "channels/channel-stable.yaml", byHand, "bundles/bundle-v1.0.0.yaml", "# b\n"+v10), nil, []string{pkg, stable, v10}},
		"ignored files": {with(three, ".indexignore", "old\n", "old/bundle-v1.1.0.yaml", v11), map[string]string{"bundles/bundle-v1.1.0.yaml": v11},
			[]string{pkg, stable, v10, v11}},
		"the first deprecations": {three, map[string]string{"deprecations.yaml": "entries: []\npackage: op\nschema: olm.deprecations\n"},
			[]string{pkg, stable, v10, "entries: []\npackage: op\nschema: olm.deprecations\n"}},
		"the first of another schema, with the package": {map[string]string{"index.yaml": pkg + "---\n" + stable, "bundle-v1.0.0.yaml": v10},
			map[string]string{"index.yaml": pkg + "---\n" + stable + "---\nname: x\npackage: op\nschema: x.y\n"}, []string{pkg, stable, v10, "name: x\npackage: op\nschema: x.y\n"}},
		"an empty directory":  {map[string]string{".indexignore": "*.json\n"}, map[string]string{"catalog.yaml": "---\n" + pkg + "---\n" + stable + "---\n" + v10}, []string{v10, stable, pkg}},
		"no directory":        {nil, map[string]string{"catalog.yaml": "---\n" + pkg}, []string{pkg}},
		"mended in many ways": {with(three, "channels/channel-stable.yaml", hand), map[string]string{"channels/channel-stable.yaml": mended}, []string{pkg, handNow, v10}},
		"JSON by hand": {map[string]string{"all.json": inJSON(t, pkg) + `{"schema": "olm.channel", "package": "op", "name": "stable", "entries": [{"name": "op.v1.0.0"}]}` + "\n" + inJSON(t, v10)},
			map[string]string{"all.json": inJSON(t, pkg) + `{"schema": "olm.channel", "package": "op", "name": "stable", "entries": [{"name": "op.v1.0.0"}, {"name": "op.v1.1.0", "replaces": "op.v1.0.0"}]}` + "\n" + inJSON(t, v10)},
			[]string{pkg, stableTwo, v10}},
		"written anew where it cannot be mended": {with(three, "channels/channel-stable.yaml", "x: &x [{name: op.v1.0.0}]\nentries: *x\n"+strings.SplitAfterN(stable, "\n", 3)[2]),
			map[string]string{"channels/channel-stable.yaml": stableTwo}, []string{pkg, stableTwo, v10}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := write(t, tt.files, tt.documents...)
			if err != nil || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", with(tt.want)) {
				t.Errorf("%v, got\n%q\nwant\n%q", err, got, tt.want)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	files := map[string]string{"package.yaml": pkg, "stable.yaml": stable, "bundle-v1.0.0.yaml": bundle("1.0.0"), ".indexignore": "bundle-v1.1.*\nnote-*\n", "fast.yaml": pkg[:0] + "a: [b]\nschema: x\nname: fast\n"}
	for name, documents := range map[string][]string{
		"excludes c/bundle-v1.1.0.yaml": {pkg, stable, bundle("1.0.0"), bundle("1.1.0")},
		"c/fast.yaml exists":            {pkg, stable, fast, bundle("1.0.0"), "a: [b]\nschema: x\nname: fast\n"},
	} {
		if _, err := write(t, files, documents...); !failure.Is(err, failure.EditRefused) || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %s", err, name)
		}
	}
}
