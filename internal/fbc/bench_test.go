package fbc

import (
	"bytes"
	"testing"

	"github.com/olmgraft/graft/internal/testkit/corpus"
)

// benchCatalog returns about 100 MB of real catalogs in opm's layout.
func benchCatalog(b *testing.B, pattern string) []byte {
	var all []byte
	c := corpus.Shared(b)
	for _, file := range c.Files(b, pattern) {
		all = append(all, c.Read(b, file)...)
	}
	return bytes.Repeat(all, 1+100_000_000/len(all))
}

func BenchmarkRead(b *testing.B) {
	for name, pattern := range map[string]string{"csv-metadata": "render/oracle/migr/*.yaml", "bundle-object": "render/oracle/none/*.yaml"} {
		src := benchCatalog(b, pattern)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read("f", src); err != nil {
					b.Fatal(err)
				}
			}
		})
		docs, err := Read("f", src)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name+"/light", func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				for i := range docs {
					var err error
					if docs[i].Schema == SchemaBundle {
						_, err = docs[i].BundleLight()
					} else {
						err = docs[i].Decode(&map[string]any{})
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
		b.Run(name+"/exact", func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				for i := range docs {
					if !docs[i].Exact() {
						b.Fatal(docs[i].Line)
					}
				}
			}
		})
		b.Run(name+"/objects", func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				for i := range docs {
					if docs[i].Schema == SchemaBundle {
						if err := docs[i].CheckObjects(); err != nil {
							b.Fatal(err)
						}
					}
				}
			}
		})
	}
}

func BenchmarkReadJSON(b *testing.B) {
	src := benchCatalog(b, "render/oracle/migr/konflux*.yaml")
	docs, err := Read("f", src)
	if err != nil {
		b.Fatal(err)
	}
	var blobs []Blob
	for i := range docs {
		body, err := docs[i].Blob(JSON)
		if err != nil {
			b.Fatal(err)
		}
		blobs = append(blobs, body)
	}
	var out bytes.Buffer
	if err := Write(&out, JSON, blobs); err != nil {
		b.Fatal(err)
	}
	for _, light := range []bool{false, true} {
		b.Run(map[bool]string{false: "index", true: "light"}[light], func(b *testing.B) {
			b.SetBytes(int64(out.Len()))
			b.ReportAllocs()
			for b.Loop() {
				docs, err := Read("f", out.Bytes())
				if err != nil {
					b.Fatal(err)
				}
				for i := range docs {
					if light && docs[i].Schema == SchemaBundle {
						if _, err := docs[i].BundleLight(); err != nil {
							b.Fatal(err)
						}
					}
				}
			}
		})
	}
}

func BenchmarkDocument(b *testing.B) {
	for name, pattern := range map[string]string{"csv-metadata": "render/oracle/migr/konflux*.yaml", "bundle-object": "render/oracle/none/konflux*.yaml"} {
		var docs []Doc
		var size int
		c := corpus.Shared(b)
		for _, file := range c.Files(b, pattern) {
			src := c.Read(b, file)
			var err error
			if docs, err = Read(file, src); err != nil {
				b.Fatal(err)
			}
			size += len(src)
		}
		run := func(what string, do func(d *Doc, json []byte) error) {
			var all [][]byte
			for i := range docs {
				j, err := docs[i].written()
				if err != nil {
					b.Fatal(err)
				}
				all = append(all, j)
			}
			b.Run(name+"/"+what, func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					for i := range docs {
						if err := do(&docs[i], all[i]); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
		run("JSON", func(d *Doc, _ []byte) error { _, err := d.JSON(); return err })
		run("Bundle", func(d *Doc, _ []byte) error { _, err := d.Bundle(); return err })
		run("Blob", func(d *Doc, _ []byte) error { _, err := d.Blob(YAML); return err })
		run("EncodeYAML", func(_ *Doc, j []byte) error { _, err := Encode(YAML, j); return err })
		run("EncodeJSON", func(_ *Doc, j []byte) error { _, err := Encode(JSON, j); return err })
	}
}
