package conformance

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/yaml"
)

type object = map[string]any

// breaker makes sound catalogs and breaks them.
type breaker struct{ *rand.Rand }

func (r breaker) pick(of ...string) string { return of[r.IntN(len(of))] }

// sound returns the documents of a catalog that opm accepts.
func (r breaker) sound() (docs []object) {
	for n := range 1 + r.IntN(2) {
		docs = append(docs, r.soundPackage(fmt.Sprintf("pack-%d", n))...)
	}
	if r.IntN(6) == 0 {
		docs = append(docs, object{"schema": "example.other", "package": "pack-0", "name": "x", "value": object{"a": 1}})
	}
	return docs
}

func (r breaker) soundPackage(name string) []object {
	versions := r.versions()
	bundles := map[string]string{}
	for _, v := range versions {
		bundles[v] = name + ".v" + strings.ReplaceAll(v, "+", "-")
	}
	var docs, channels []object
	stands := map[string]bool{}
	for n := range 1 + r.IntN(3) {
		from := r.IntN(len(versions))
		if n == 0 {
			from = 0
		}
		for _, v := range versions[from:] {
			stands[v] = true
		}
		channels = append(channels, r.soundChannel(name, []string{"stable", "fast", "alpha"}[n], versions[from:], bundles))
	}
	pkg := object{"schema": "olm.package", "name": name, "defaultChannel": channels[r.IntN(len(channels))]["name"]}
	if r.IntN(3) == 0 {
		pkg["icon"] = object{"base64data": "PHN2Zy8+", "mediatype": "image/svg+xml"}
		pkg["description"] = "A package: it has a description"
	}
	docs = append(append(docs, pkg), channels...)
	for _, v := range versions {
		docs = append(docs, r.soundBundle(name, bundles[v], v))
	}
	if r.IntN(3) == 0 {
		docs = append(docs, object{"schema": "olm.deprecations", "package": name, "entries": []any{
			object{"reference": object{"schema": "olm.bundle", "name": bundles[versions[0]]}, "message": "old"},
			object{"reference": object{"schema": "olm.channel", "name": "stable"}, "message": "slow"},
			object{"reference": object{"schema": "olm.package"}, "message": "gone"},
		}[:1+r.IntN(3)]})
	}
	return docs
}

func (r breaker) versions() []string {
	var versions []string
	for minor := range 1 + r.IntN(6) {
		for patch := range 1 + r.IntN(2) {
			v := fmt.Sprintf("1.%d.%d", minor, patch)
			if r.IntN(8) == 0 {
				v += r.pick("-rc.1", "-alpha", "+build.3", "-0.20240101", "+7")
			}
			versions = append(versions, v)
		}
	}
	return versions
}

func (r breaker) soundChannel(pkg, name string, versions []string, bundles map[string]string) object {
	var entries []any
	last := "" // the next entry replaces it
	var pending []any
	for i, v := range versions {
		e := object{"name": bundles[v]}
		if last != "" {
			e["replaces"] = last
		} else if r.IntN(4) == 0 && i == 0 {
			e["replaces"] = pkg + ".v0.0.1"
		}
		if len(pending) > 0 {
			e["skips"] = pending
		}
		if r.IntN(4) == 0 {
			e["skipRange"] = r.pick(">=1.0.0 <"+plainVersion(v), "<"+plainVersion(v), ">0.1.0 <1.0.0 || >=1.0.0 <"+plainVersion(v), "<1.x", "!=9.9.9")
		}
		entries = append(entries, e)
		if r.IntN(5) == 0 && i+1 < len(versions) {
			pending = append(pending, bundles[v]) // the next one skips it
			continue
		}
		last, pending = bundles[v], nil
	}
	return object{"schema": "olm.channel", "package": pkg, "name": name, "entries": entries}
}

func plainVersion(v string) string { v, _, _ = strings.Cut(v, "+"); return v }

func (r breaker) soundBundle(pkg, name, version string) object {
	props := []any{
		object{"type": "olm.gvk", "value": object{"group": "example.com", "kind": "Thing", "version": "v1"}},
		object{"type": "olm.package", "value": object{"packageName": pkg, "version": version}},
	}
	if r.IntN(3) == 0 {
		props = append(props, object{"type": "olm.package.required", "value": object{"packageName": "other", "versionRange": ">=1.0.0"}},
			object{"type": "olm.gvk.required", "value": object{"group": "g", "kind": "K", "version": "v1"}},
			object{"type": "olm.constraint", "value": object{"failureMessage": "no", "all": object{"constraints": []any{}}}},
			object{"type": "x.y", "value": r.oddValue()})
	}
	if r.IntN(2) == 0 {
		props = append(props, object{"type": "olm.csv.metadata", "value": soundMetadata()})
	} else {
		manifest := r.pick(`{"kind":"ClusterServiceVersion","metadata":{"name":"x"}}`, "kind: ConfigMap\nmetadata:\n  name: y\n", "  {not json", "plain")
		props = append(props, object{"type": "olm.bundle.object", "value": object{"data": base64.StdEncoding.EncodeToString([]byte(manifest))}})
	}
	if r.IntN(12) == 0 {
		props = append(props, object{"type": "olm.channel", "value": object{"channelName": "stable", "priority": 3}})
	}
	return object{"schema": "olm.bundle", "package": pkg, "name": name, "properties": props,
		"image": "quay.io/example/" + pkg + "@sha256:" + strings.Repeat("0a", 32),
		"relatedImages": []any{
			object{"name": "", "image": "quay.io/example/" + pkg + ":v1"},
			object{"name": "operand", "image": r.pick("localhost:5000/x", "busybox", "registry.example.com:8443/a/b_c/d--e:tag@sha256:"+strings.Repeat("f", 64), "")},
		}}
}

func soundMetadata() object {
	crd := object{"name": "things.example.com", "kind": "Thing", "version": "v1", "displayName": "Thing",
		"specDescriptors": []any{object{"path": "size", "x-descriptors": []any{"urn:a"}, "value": 3}},
		"resources":       []any{object{"kind": "Pod", "name": "", "version": "v1"}}}
	return object{"annotations": object{"a": "b", "containerImage": "x"}, "labels": object{"l": "m"},
		"crdDescriptions":       object{"owned": []any{crd}},
		"apiServiceDefinitions": object{"owned": []any{object{"name": "n", "group": "g", "version": "v", "kind": "k", "containerPort": 443}}},
		"description":           "text: with\nlines\n", "displayName": "A", "keywords": []any{"k"},
		"installModes": []any{object{"type": "OwnNamespace", "supported": true}},
		"links":        []any{object{"name": "n", "url": "u"}}, "maintainers": []any{object{"name": "n", "email": "e"}},
		"maturity": "alpha", "minKubeVersion": "1.20.0", "nativeAPIs": []any{object{"group": "", "version": "v1", "kind": "Pod"}},
		"provider": object{"name": "p", "url": "u"}}
}

// oddValue returns a value of any type, including those that readers interpret differently.
func (r breaker) oddValue() any {
	return []any{"", "x", "BAD IMAGE", "1.2", "01.2.3", "1.2.3", "no", "olm.bundle", "olm.package", "olm.channel", "stable", "pack-0", "pack-1",
		"Upper", "-dash", "a.b", strings.Repeat("a", 64), strings.Repeat("0", 64), ">=1.0.0 <2.0.0", ">1 <2", "<1.x", "|| 1.0.0", ">=1.0.0 ||",
		"quay.io/UP/x", "a//b", "a:b:c", "a@sha256:12", "a@sha999:" + strings.Repeat("a", 64), "//", "x/", "1.0.0+1.2", "1.0.0-01", "e30=", "!!", "tab\tin", "é",
		nil, true, false, 0, 1, -1, 3.5, 1e3, 1e21, 2147483648, json.Number("9223372036854775808"), 1.0,
		[]any{}, []any{"x"}, []any{nil}, []any{1, 2}, []any{300}, object{}, object{"name": "x"}, object{"data": "e30="}, object{"a": object{"b": []any{}}}}[r.IntN(55)]
}

// each calls do with one random document of a schema.
func each(r breaker, d []object, schema string, do func(object)) {
	var of []object
	for _, doc := range d {
		if doc["schema"] != schema {
			continue
		}
		if _, ok := doc["properties"].([]any); schema == "olm.bundle" && !ok {
			continue
		}
		if _, ok := doc["relatedImages"].([]any); schema == "olm.bundle" && !ok {
			continue
		}
		of = append(of, doc)
	}
	if len(of) > 0 {
		do(of[r.IntN(len(of))])
	}
}

func list(doc object, key string) (all []object) {
	l, _ := doc[key].([]any)
	for _, x := range l {
		if m, ok := x.(object); ok {
			all = append(all, m)
		}
	}
	return all
}

func (r breaker) anyName(entries []any) string {
	if e, ok := entries[r.IntN(len(entries))].(object); ok && r.IntN(6) > 0 {
		if s, ok := e["name"].(string); ok {
			return s
		}
	}
	return r.pick("", "ghost.v0.0.0", "pack-0.v1.0.0")
}

// anyObject returns a mapping at any depth.
func (r breaker) anyObject(d []object) object {
	var at any = d[r.IntN(len(d))]
	found := at.(object)
	for r.IntN(5) > 0 {
		switch x := at.(type) {
		case object:
			found = x
			keys := slices.Sorted(maps.Keys(x))
			if len(keys) == 0 {
				return found
			}
			at = x[keys[r.IntN(len(keys))]]
		case []any:
			if len(x) == 0 {
				return found
			}
			at = x[r.IntN(len(x))]
		default:
			return found
		}
	}
	return found
}

func clone(v any) any {
	switch v := v.(type) {
	case object:
		c := object{}
		for k, x := range v {
			c[k] = clone(x)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, x := range v {
			c[i] = clone(x)
		}
		return c
	}
	return v
}

// write returns the documents as a directory: YAML or JSON, in one file or several.
func (r breaker) write(t *testing.T, docs []object) fstest.MapFS {
	dir := fstest.MapFS{}
	files := 1 + r.IntN(3)
	for n := range files {
		name, asJSON := fmt.Sprintf("f%d.yaml", n), r.IntN(4) == 0
		var b strings.Builder
		for i, doc := range docs {
			if i%files != n {
				continue
			}
			js, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			if asJSON {
				name = fmt.Sprintf("f%d.json", n)
				b.Write(js)
				b.WriteByte('\n')
				continue
			}
			y, err := yaml.JSONToYAML(js)
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString("---\n")
			b.Write(y)
		}
		if b.Len() > 0 {
			dir[name] = &fstest.MapFile{Data: []byte(b.String())}
		}
	}
	return dir
}
