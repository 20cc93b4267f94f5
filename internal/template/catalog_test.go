package template

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmgraft/graft/internal/failure"
)

// TestInsertIntoCatalogs checks that a catalog keeps its layout: one file per bundle, files named by name or by
// version, and the form of its bundles. No existing file is overwritten.
func TestInsertIntoCatalogs(t *testing.T) {
	const channel = "schema: olm.package\nname: op\n---\nschema: olm.channel\npackage: op\nname: stable\nentries:\n- name: op.v1.0.0\n"
	bundle := func(version, held string) string {
		return "schema: olm.bundle\nname: op.v" + version + "\npackage: op\nimage: quay.io/example/op:v" + version + "\nproperties:\n- type: olm.package\n  value: {packageName: op, version: " + version + "}\n- type: " + held + "\n  value: {}\n"
	}
	made := func(version, held string) string {
		return "image: quay.io/example/op:v" + version + "\nname: op.v" + version + "\npackage: op\nproperties:\n- type: " + held + "\n  value: {}\nschema: olm.bundle\n"
	}
	const objects, metadata = "olm.bundle.object", "olm.csv.metadata"
	entry := channel + "- name: op.v1.1.0\n  replaces: op.v1.0.0\n"
	head, _, _ := strings.Cut(channel, "- name")
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  map[string]string // the written files; the failure under the empty name
		code  failure.Code
	}{
		{"one file", map[string]string{"c/catalog.yaml": channel + "---\n" + bundle("1.0.0", metadata)}, map[string]string{"c/catalog.yaml": entry + "---\n" + bundle("1.0.0", metadata) + "---\n" + made("1.1.0", metadata)}, 0},
		{"of bundle objects", map[string]string{"c/catalog.yaml": channel + "---\n" + bundle("1.0.0", objects)}, map[string]string{"c/catalog.yaml": entry + "---\n" + bundle("1.0.0", objects) + "---\n" + made("1.1.0", objects)}, 0},
		{"of both forms: the new one has objects", map[string]string{"c/catalog.yaml": channel + "---\n" + bundle("0.9.0", objects) + "---\n" + bundle("1.0.0", metadata)},
			map[string]string{"c/catalog.yaml": entry + "---\n" + bundle("0.9.0", objects) + "---\n" + bundle("1.0.0", metadata) + "---\n" + made("1.1.0", objects)}, 0},
		{"by name", map[string]string{"c/catalog.yaml": channel + "---\n" + bundle("1.0.0", metadata) + "---\n" + bundle("1.2.0", metadata)},
			map[string]string{"c/catalog.yaml": entry + "---\n" + bundle("1.0.0", metadata) + "---\n" + made("1.1.0", metadata) + "---\n" + bundle("1.2.0", metadata)}, 0},
		{"by version, newest first", map[string]string{"c/catalog.yaml": channel + "---\n" + bundle("1.2.0", metadata) + "---\n" + bundle("1.0.0", metadata)},
			map[string]string{"c/catalog.yaml": entry + "---\n" + bundle("1.2.0", metadata) + "---\n" + made("1.1.0", metadata) + "---\n" + bundle("1.0.0", metadata)}, 0},
		{"by the version in a bundle, not its name", map[string]string{"c/catalog.yaml": strings.Replace(channel, "op.v1.0.0", "op-first", 1) + "---\n" + strings.Replace(bundle("1.0.0", metadata), "op.v1.0.0", "op-first", 1)},
			map[string]string{"c/catalog.yaml": head + "- name: op-first\n- name: op.v1.1.0\n  replaces: op-first\n---\n" + strings.Replace(bundle("1.0.0", metadata), "op.v1.0.0", "op-first", 1) + "---\n" + made("1.1.0", metadata)}, 0},
		{"a file for each, by name", map[string]string{"c/channel.yaml": channel, "c/op.v1.0.0.yaml": bundle("1.0.0", metadata)}, map[string]string{"c/channel.yaml": entry, "c/op.v1.1.0.yaml": made("1.1.0", metadata)}, 0},
		{"a file for each, by version", map[string]string{"c/channel.yaml": channel, "c/bundle-1.0.0.yaml": "---\n" + bundle("1.0.0", metadata)}, map[string]string{"c/channel.yaml": entry, "c/bundle-1.1.0.yaml": "---\n" + made("1.1.0", metadata)}, 0},
		{"a folder for each", map[string]string{"c/channel.yaml": channel, "c/1.0.0/bundle.yaml": bundle("1.0.0", metadata)}, map[string]string{"c/channel.yaml": entry, "c/1.1.0/bundle.yaml": made("1.1.0", metadata)}, 0},
		{"an existing file", map[string]string{"c/channel.yaml": channel, "c/op.v1.0.0.yaml": bundle("1.0.0", metadata), "c/op.v1.1.0.yaml": "schema: precious\n"}, map[string]string{"": "c/op.v1.1.0.yaml: adding bundle op.v1.1.0: its file c/op.v1.1.0.yaml exists"}, failure.EditRefused},
		{"a channel without package", map[string]string{"c/catalog.yaml": "schema: olm.bundle\nname: op.v1.0.0\npackage: op\nimage: x\nproperties:\n- type: a\n  value: 1\n"}, map[string]string{"": "adding a channel to a catalog that has no olm.package document"}, failure.EditRefused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := fstest.MapFS{}
			for name, text := range tt.files {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
			o, err := Insert(fsys, "c", "c", "", nil, asked(t, "1.1.0 stable document"))
			if tt.code != 0 {
				if !failure.Is(err, tt.code) || !strings.HasPrefix(err.Error(), tt.want[""]) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range o.Files {
				if string(f.After) != tt.want[f.Path] || f.New != (tt.files[f.Path] == "") || string(f.Before) != tt.files[f.Path] {
					t.Errorf("%s, new %v: got\n%s\nwant\n%s", f.Path, f.New, f.After, tt.want[f.Path])
				}
			}
			if len(o.Files) != len(tt.want) {
				t.Errorf("%d files are written, want %d", len(o.Files), len(tt.want))
			}
		})
	}
	for name, document := range map[string]string{
		"another bundle":     bundle("1.2.0", metadata),
		"of another image":   strings.Replace(bundle("1.1.0", metadata), "quay.io/example", "quay.io/other", 1),
		"two bundles":        bundle("1.1.0", metadata) + "---\n" + bundle("1.2.0", metadata),
		"no bundle":          "schema: olm.package\nname: op\n",
		"of no form at all":  "a: [\n",
		"two of one channel": channel,
	} {
		r := asked(t, "1.1.0 stable")
		r.Bundle.Document = func(string, bool) ([]byte, error) { return []byte(document), nil }
		o, err := Insert(fstest.MapFS{"c/catalog.yaml": {Data: []byte(channel + "---\n" + bundle("1.0.0", metadata))}}, "c", "c", "", nil, r)
		codes := []failure.Code{failure.BundleConflict, failure.BundleInvalid, failure.TemplateMalformed}
		if !slices.ContainsFunc(codes, func(c failure.Code) bool { return failure.Is(err, c) }) || o != nil {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
