package yamledit

import (
	"bytes"
	"testing"

	"github.com/olmgraft/graft/internal/testkit/corpus"

	"github.com/olmgraft/graft/internal/failure"
)

func seeds(f *testing.F) {
	for _, s := range []string{
		"entries:\n- name: a\n  skips: [x, 'y', \"z\"]\n- name: b # c\n",
		"{\"a\": [1, {\"b\": null}], \"c\": \"\\u00e9\"}", "a: |+\n  x\n\n\nb: >-\n  y\n", "? a\n: - b\n  -   c\n",
		"- - a\n  - b\n-\n  c: d\n", "a: &x {k: v}\nb: *x\nc: !!str 1\n", "%YAML 1.1\n---\na: 1\n...\n---\nb: 2\n",
		"\uFEFFa: \"b\\\n  c\"\r\nd: e\r\n", "a: b\u2028c\n", "[a, b: c, {d}, ]\n", "a:\n# x\n- 1\n# y\n- 2\n", "{a: [\n 1, # one\n 2 # two\n]}\n",
		"name: ! op\n! b: [! 1, !<!> 2]\nc: &x ! |\n  y\nd: !\n! e: *x\n",
	} {
		f.Add([]byte(s))
	}
	own := corpus.Own(f)
	for _, name := range own.Files(f, "render/templates/*.yaml") {
		if src := own.Read(f, name); len(src) < 4096 {
			f.Add(src)
		}
	}
}

// Every parsed node lies within its parent and after its previous sibling.
func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := Open("t.yaml", src)
		if err != nil {
			return
		}
		for _, d := range file.Docs {
			root, err := d.Root()
			if err != nil {
				if failure.Of(err).Line == 0 {
					t.Fatalf("a failure without a place: %v", err)
				}
				continue
			}
			checkNode(t, src, root)
		}
	})
}

func checkNode(t *testing.T, src []byte, n *Node) {
	if n == nil {
		return
	}
	if n.Start < 0 || n.End < n.Start || n.End > len(src) {
		t.Fatalf("node %q at %d:%d of %d bytes", n.Value, n.Start, n.End, len(src))
	}
	at := n.Start
	for _, c := range n.Children {
		if c.Start < at || c.End > n.End && n.Style == Flow {
			t.Fatalf("child %q at %d:%d, parent at %d:%d", c.Value, c.Start, c.End, n.Start, n.End)
		}
		at = c.End
		checkNode(t, src, c)
	}
}

// Every edit of every node gives the intended text, which Apply proves, or a typed failure. The same node can be
// edited in the result.
func FuzzEdit(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := Open("t.yaml", src)
		if err != nil {
			return
		}
		for _, d := range file.Docs {
			if root, err := d.Root(); err == nil {
				editAll(t, file, root, new(int))
			}
		}
	})
}

func editAll(t *testing.T, file *File, n *Node, count *int) {
	if *count++; n == nil || *count > 40 {
		return
	}
	for kind := range 7 {
		e := file.Edit()
		if err := someEdit(e, n, kind); err != nil {
			checkTyped(t, err)
			continue
		}
		out, err := e.Apply()
		if err != nil {
			checkTyped(t, err)
			continue
		}
		if e.Empty() != bytes.Equal(out, file.Src) && n.Kind != Scalar {
			t.Fatalf("edit %d of %q changed nothing", kind, file.Src)
		}
	}
	for _, c := range n.Children {
		editAll(t, file, c, count)
	}
}

func someEdit(e *Edits, n *Node, kind int) error {
	v := Map(Field{Key: "name", Value: Text("op: v1")}, Field{Key: "skips", Value: Texts([]string{"a", "- b"})})
	switch {
	case kind > 3 && n.Kind == Sequence && len(n.Children) > kind-4:
		return e.Remove(n.Children[kind-4])
	case kind > 3 && n.Kind == Mapping && len(n.Children) > 2*(kind-4):
		return e.RemoveField(n, n.Children[2*(kind-4)].Value)
	case kind > 3:
		if err := e.ReplaceRaw(n.doc.Index, []byte("name: other")); err != nil || n.doc.Index == 0 {
			return err
		}
		return e.RemoveDoc(0)
	case n.Kind == Scalar && kind == 0:
		return e.SetText(n, "yes")
	case n.IsNull() && kind == 1:
		return e.Fill(n, List(v))
	case n.Kind == Sequence:
		index := []int{0, len(n.Children), len(n.Children) / 2, 0}[kind]
		if err := e.Insert(n, index, v); err != nil || kind < 3 {
			return err
		}
		return e.Insert(n, len(n.Children), Text("two"))
	case n.Kind == Mapping:
		return e.AddField(n, "", Field{Key: "a new key", Value: []Value{Text("x"), List(v), v, Text("#")}[kind]})
	}
	return nil
}

func checkTyped(t *testing.T, err error) {
	if !failure.Is(err, failure.EditRefused) && !failure.Is(err, failure.TemplateMalformed) {
		t.Fatalf("not a typed failure: %v", err)
	}
}
