package conformance

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// breakages are the possible changes of a catalog. Most concern the meaning; the last few put any value anywhere.
var breakages = []struct {
	name string
	do   func(breaker, []object) []object
}{
	{"drop document", func(r breaker, d []object) []object { i := r.IntN(len(d)); return slices.Delete(d, i, i+1) }},
	{"duplicate document", func(r breaker, d []object) []object { return append(d, clone(d[r.IntN(len(d))]).(object)) }},
	{"shuffle documents", func(r breaker, d []object) []object {
		r.Shuffle(len(d), func(i, j int) { d[i], d[j] = d[j], d[i] })
		return d
	}},
	{"rename", func(r breaker, d []object) []object {
		d[r.IntN(len(d))]["name"] = r.pick("renamed", "pack-0.v1.0.0", "", "stable", "pack-1")
		return d
	}},
	{"repackage", func(r breaker, d []object) []object {
		d[r.IntN(len(d))]["package"] = r.pick("other", "pack-0", "pack-1", "")
		return d
	}},
	{"reschema", func(r breaker, d []object) []object {
		d[r.IntN(len(d))]["schema"] = r.pick("olm.bundles", "olm.package", "olm.channel", "olm.bundle", "olm.deprecations", "olm.deprecation", "", "OLM.package")
		return d
	}},
	{"default channel", func(r breaker, d []object) []object {
		each(r, d, "olm.package", func(p object) { p["defaultChannel"] = r.pick("", "nope", "fast", "alpha") })
		return d
	}},
	{"package name", func(r breaker, d []object) []object {
		name := r.pick("Pack-0", "pack.0", "-pack", strings.Repeat("p", 64), "pack_0")
		for _, doc := range d {
			for _, k := range []string{"name", "package"} {
				if doc[k] == "pack-0" {
					doc[k] = name
				}
			}
			for _, p := range list(doc, "properties") {
				if v, ok := p["value"].(object); ok && v["packageName"] == "pack-0" && r.IntN(4) > 0 {
					v["packageName"] = name
				}
			}
		}
		return d
	}},
	{"drop entry", entryBreakage(func(r breaker, ch object, es []any, i int) { ch["entries"] = slices.Delete(es, i, i+1) })},
	{"duplicate entry", entryBreakage(func(r breaker, ch object, es []any, i int) { ch["entries"] = append(es, clone(es[i])) })},
	{"drop entries", entryBreakage(func(r breaker, ch object, es []any, i int) { ch["entries"] = es[:i] })},
	{"drop replaces", entryBreakage(func(r breaker, ch object, es []any, i int) { delete(es[i].(object), "replaces") })},
	{"drop skips", entryBreakage(func(r breaker, ch object, es []any, i int) { delete(es[i].(object), "skips") })},
	{"replaces another", entryBreakage(func(r breaker, ch object, es []any, i int) {
		es[i].(object)["replaces"] = r.anyName(es)
	})},
	{"skips another", entryBreakage(func(r breaker, ch object, es []any, i int) {
		old, _ := es[i].(object)["skips"].([]any)
		es[i].(object)["skips"] = append(slices.Clone(old), r.anyName(es))
	})},
	{"range", entryBreakage(func(r breaker, ch object, es []any, i int) {
		es[i].(object)["skipRange"] = r.pick("", "x", ">=1.0.0", "1.0.0", ">=1.0", "<1.x", "1.x.x", ">1.0.0 || || <3.0.0", " ", "=>1.0.0", "^1.0.0", ">=1.0.0<2.0.0", "1", "!=1.0.0-rc.1")
	})},
	{"circle", entryBreakage(func(r breaker, ch object, es []any, i int) {
		j := r.IntN(i + 1)
		es[j].(object)["replaces"] = es[i].(object)["name"]
	})},
	{"version", packagePropertyBreakage(func(r breaker, v object) {
		v["version"] = r.pick("1.0.0", "1.0", "v1.0.0", "", "1.0.0+a", "1.0.0+b", "1.0.0-1", "01.0.0", "1.0.0-01", "1.0.0+", "1.0.0-é", "99999999999999999999.0.0")
	})},
	{"release", packagePropertyBreakage(func(r breaker, v object) {
		v["release"] = r.pick("1", "0.1", "01", "a_b", "", strings.Repeat("1", 20), strings.Repeat("1", 21), "a..b", "x")
	})},
	{"sound release", func(r breaker, d []object) []object { return r.release(d) }},
	{"property package", packagePropertyBreakage(func(r breaker, v object) { v["packageName"] = r.pick("", "pack-1", "other") })},
	{"properties", func(r breaker, d []object) []object {
		each(r, d, "olm.bundle", func(b object) {
			ps, _ := b["properties"].([]any)
			switch i := r.IntN(max(len(ps), 1)); {
			case len(ps) == 0 || r.IntN(4) == 0:
				delete(b, "properties")
			case r.IntN(3) == 0:
				b["properties"] = append(ps, clone(ps[i]))
			case r.IntN(2) == 0:
				b["properties"] = slices.Delete(ps, i, i+1)
			default:
				ps[i].(object)["type"] = r.pick("olm.package", "olm.gvk", "olm.bundle.object", "olm.csv.metadata", "olm.channel", "olm.constraint", "", "Olm.Package")
			}
		})
		return d
	}},
	{"property value", func(r breaker, d []object) []object {
		each(r, d, "olm.bundle", func(b object) {
			if ps := list(b, "properties"); len(ps) > 0 {
				p := ps[r.IntN(len(ps))]
				if r.IntN(4) == 0 {
					delete(p, "value")
				} else {
					p["value"] = r.oddValue()
				}
			}
		})
		return d
	}},
	{"manifest", func(r breaker, d []object) []object {
		each(r, d, "olm.bundle", func(b object) {
			data := r.pick("{", "[", "a: b: c", "\x00", "- x\ny", "a: 1\na: 2", "&a [*a]", "%", "---\n---\n", "? {a: b}\n: c", "\t", "a: .inf", "{]", "\xff")
			b["properties"] = append(b["properties"].([]any), object{"type": "olm.bundle.object",
				"value": object{"data": base64.StdEncoding.EncodeToString([]byte(data))}})
		})
		return d
	}},
	{"image", func(r breaker, d []object) []object {
		each(r, d, "olm.bundle", func(b object) { b["image"] = r.image() })
		return d
	}},
	{"related image", func(r breaker, d []object) []object {
		each(r, d, "olm.bundle", func(b object) {
			b["relatedImages"] = append(b["relatedImages"].([]any), object{"name": "more", "image": r.image()})
		})
		return d
	}},
	{"deprecation", func(r breaker, d []object) []object {
		ref := object{"schema": r.pick("olm.bundle", "olm.channel", "olm.package", "", "olm.other"), "name": r.pick("", "stable", "nope", "pack-0.v1.0.0", "fast")}
		entry := object{"reference": ref, "message": r.pick("why", "")}
		entries := []any{entry}
		if r.IntN(3) == 0 {
			entries = append(entries, clone(entry))
		}
		return append(d, object{"schema": "olm.deprecations", "package": r.pick("pack-0", "pack-0", "pack-0", "other", ""), "entries": entries})
	}},
	{"key in another case", func(r breaker, d []object) []object {
		m := r.anyObject(d)
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if r.IntN(2) == 0 {
				v := m[k]
				if r.IntN(2) == 0 {
					delete(m, k)
				}
				m[r.pick(strings.ToUpper(k), strings.ToUpper(k[:1])+k[1:], strings.ReplaceAll(k, "s", "ſ"))] = v
				break
			}
		}
		return d
	}},
	{"drop key", func(r breaker, d []object) []object {
		m := r.anyObject(d)
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if r.IntN(2) == 0 {
				delete(m, k)
				break
			}
		}
		return d
	}},
	{"odd value", func(r breaker, d []object) []object {
		m := r.anyObject(d)
		if keys := slices.Sorted(maps.Keys(m)); len(keys) > 0 {
			m[keys[r.IntN(len(keys))]] = r.oddValue()
		}
		return d
	}},
	{"odd item", func(r breaker, d []object) []object {
		m := r.anyObject(d)
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if l, ok := m[k].([]any); ok {
				if len(l) > 0 && r.IntN(2) == 0 {
					l[r.IntN(len(l))] = r.oddValue()
				} else {
					m[k] = append(l, r.oddValue())
				}
			}
		}
		return d
	}},
}

func (r breaker) image() string {
	parts := []string{"quay.io", "a", "b_c", "d-e", "F", ".", "/", "//", ":", "@", "sha256:", "sha512:", strings.Repeat("0", 64), strings.Repeat("a", 128), strings.Repeat("A", 64), "v1.0", "localhost", ":5000", "__", "___", "--", " ", "", "docker.io", "index.docker.io", strings.Repeat("x", 250)}
	var b strings.Builder
	for range 1 + r.IntN(7) {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	return b.String()
}

func entryBreakage(do func(breaker, object, []any, int)) func(breaker, []object) []object {
	return func(r breaker, d []object) []object {
		each(r, d, "olm.channel", func(ch object) {
			if es, ok := ch["entries"].([]any); ok && len(es) > 0 {
				i := r.IntN(len(es))
				if _, ok := es[i].(object); ok && !slices.ContainsFunc(es, func(e any) bool { _, ok := e.(object); return !ok }) {
					do(r, ch, es, i)
				}
			}
		})
		return d
	}
}

func packagePropertyBreakage(do func(breaker, object)) func(breaker, []object) []object {
	return func(r breaker, d []object) []object {
		each(r, d, "olm.bundle", func(b object) {
			for _, p := range list(b, "properties") {
				if v, ok := p["value"].(object); ok && p["type"] == "olm.package" {
					do(r, v)
				}
			}
		})
		return d
	}
}

// release gives one bundle a release and the matching name.
func (r breaker) release(d []object) []object {
	var was, is string
	packagePropertyBreakage(func(r breaker, v object) { v["release"] = "2" })(r, d)
	for _, b := range d {
		for _, p := range list(b, "properties") {
			if v, ok := p["value"].(object); ok && v["release"] == "2" {
				was, _ = b["name"].(string)
				is = fmt.Sprintf("%v-v%v-2", v["packageName"], v["version"])
				b["name"] = is
			}
		}
	}
	for _, ch := range d {
		for _, e := range list(ch, "entries") {
			for _, k := range []string{"name", "replaces"} {
				if e[k] == was && was != "" {
					e[k] = is
				}
			}
			if skips, ok := e["skips"].([]any); ok {
				for i := range skips {
					if skips[i] == was {
						skips[i] = is
					}
				}
			}
		}
	}
	return d
}
