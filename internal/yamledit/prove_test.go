package yamledit

import (
	"bytes"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
)

const provedText = `# of the file
entries:
- name: a # why
- name: b
other: x
list: []
---
name: second
`

// provedEdit inserts an entry c at the end of the list in the first of two documents.
func provedEdit(t *testing.T, src string) *Edits {
	t.Helper()
	f, err := Open("t.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	root, err := f.Docs[0].Root()
	if err != nil {
		t.Fatal(err)
	}
	e := f.Edit()
	if err := e.Insert(root.Get("entries"), 2, Map(Field{Key: "name", Value: Text("c")})); err != nil {
		t.Fatal(err)
	}
	return e
}

// at returns the offset of a text that occurs once.
func (e *Edits) at(t *testing.T, text string) int {
	t.Helper()
	if bytes.Count(e.file.Src, []byte(text)) != 1 {
		t.Fatalf("%q does not occur once", text)
	}
	return bytes.Index(e.file.Src, []byte(text))
}

// An edit is refused whenever its splices change text outside the requested edit. No caller gets an unproved
// result.
func TestWrongSplicesAreRefused(t *testing.T) {
	add := func(e *Edits, at int, text string) { e.splices = append(e.splices, splice{at, at, []byte(text), 0}) }
	cut := func(e *Edits, t *testing.T, text string) {
		at := e.at(t, text)
		e.splices = append(e.splices, splice{at, at + len(text), nil, 0})
	}
	for name, spoil := range map[string]func(t *testing.T, e *Edits){
		"an entry lower than asked for": func(t *testing.T, e *Edits) {
			e.splices[0].start = e.at(t, "\n- name: b")
			e.splices[0].end = e.splices[0].start
		},
		"an entry outside of its list": func(t *testing.T, e *Edits) {
			e.splices[0].start = e.at(t, "\nother")
			e.splices[0].text = []byte("\nname: c")
		},
		"no entry":                            func(_ *testing.T, e *Edits) { e.splices = nil },
		"an entry twice":                      func(_ *testing.T, e *Edits) { e.splices[0].text = bytes.Repeat(e.splices[0].text, 2) },
		"another value":                       func(_ *testing.T, e *Edits) { e.splices[0].text = []byte("\n- name: d") },
		"another key":                         func(_ *testing.T, e *Edits) { e.splices[0].text = []byte("\n- nome: c") },
		"a key more":                          func(_ *testing.T, e *Edits) { e.splices[0].text = []byte("\n- name: c\n  skips: []") },
		"no mapping":                          func(_ *testing.T, e *Edits) { e.splices[0].text = []byte("\n- c") },
		"no string":                           func(_ *testing.T, e *Edits) { e.splices[0].text = []byte("\n- name: [c]") },
		"an anchor on it":                     func(_ *testing.T, e *Edits) { e.splices[0].text = []byte("\n- &c\n  name: c") },
		"another value changed":               func(t *testing.T, e *Edits) { add(e, e.at(t, "x\nlist"), "xx") },
		"another key changed":                 func(t *testing.T, e *Edits) { add(e, e.at(t, "other"), "an") },
		"another value in quotes":             func(t *testing.T, e *Edits) { add(e, e.at(t, "x\nlist"), "'"); add(e, e.at(t, "\nlist"), "'") },
		"another value of another type":       func(t *testing.T, e *Edits) { add(e, e.at(t, "x\nlist"), "!!binary ") },
		"an anchor elsewhere":                 func(t *testing.T, e *Edits) { add(e, e.at(t, "x\nlist"), "&x ") },
		"a key elsewhere":                     func(t *testing.T, e *Edits) { add(e, e.at(t, "other"), "more: y\n") },
		"an entry of another list":            func(t *testing.T, e *Edits) { add(e, e.at(t, "]"), "z") },
		"a comment that is gone":              func(t *testing.T, e *Edits) { cut(e, t, "# why") },
		"a comment that is gone with a value": func(t *testing.T, e *Edits) { cut(e, t, "a # why"); add(e, e.at(t, "a # why")+len("a # why"), "a") },
		"a blank that is gone": func(t *testing.T, e *Edits) {
			at := e.at(t, " # why")
			e.splices = append(e.splices, splice{at, at + 1, []byte("  "), 0})
		},
		"a line that is gone":                func(t *testing.T, e *Edits) { cut(e, t, "other: x\n") },
		"another document changed":           func(t *testing.T, e *Edits) { add(e, e.at(t, "second"), "the ") },
		"a comment in another document":      func(_ *testing.T, e *Edits) { add(e, len(e.file.Src), "# and\n") },
		"another document that is gone":      func(t *testing.T, e *Edits) { cut(e, t, "---\nname: second\n") },
		"a document more":                    func(_ *testing.T, e *Edits) { add(e, len(e.file.Src), "---\nname: third\n") },
		"a document in the place of another": func(t *testing.T, e *Edits) { add(e, e.at(t, "name: second"), "name: third\n---\n") },
		"no YAML":                            func(t *testing.T, e *Edits) { add(e, e.at(t, "x\nlist"), "[") },
		"no UTF-8":                           func(t *testing.T, e *Edits) { add(e, e.at(t, "# of"), "# \xff") },
		"two changes of one place":           func(t *testing.T, e *Edits) { cut(e, t, "other: x\n"); cut(e, t, "x\nlist") },
	} {
		t.Run(name, func(t *testing.T) {
			e := provedEdit(t, provedText)
			spoil(t, e)
			out, err := e.Apply()
			if f := failure.Of(err); !failure.Is(err, failure.EditRefused) || f.File != "t.yaml" || f.Line == 0 || out != nil {
				t.Errorf("got %v and text\n%s", err, out)
			}
		})
	}
	if out, err := provedEdit(t, provedText).Apply(); err != nil || string(out) != strings.Replace(provedText, "- name: b\n", "- name: b\n- name: c\n", 1) {
		t.Errorf("correct edit: %v\n%s", err, out)
	}
}

// Bytes outside the splices must be unchanged.
func TestWrongBytesAreRefused(t *testing.T) {
	crlf := strings.ReplaceAll(provedText, "\n", "\r\n")
	for name, tt := range map[string]struct{ src, old, new string }{
		"as requested":             {provedText, "", ""},
		"a byte of a comment":      {provedText, "# why", "# who"},
		"a comment":                {provedText, " # why", ""},
		"a comment above":          {provedText, "# of the file\n", ""},
		"a blank":                  {provedText, "a # why", "a  # why"},
		"a value's quotes":         {provedText, "other: x", "other: 'x'"},
		"the last line break":      {provedText, "second\n", "second"},
		"a line break more":        {provedText, "second\n", "second\n\n"},
		"the separator's":          {provedText, "---\n", "--- # and\n"},
		"line breaks of a file":    {crlf, "other: x\r\n", "other: x\n"},
		"the mark at its begin":    {"\uFEFF" + provedText, "\uFEFF", ""},
		"a byte before the change": {provedText, "- name: b", "- name: B"},
	} {
		t.Run(name, func(t *testing.T) {
			e := provedEdit(t, tt.src)
			out, err := e.Apply()
			if err != nil {
				t.Fatal(err)
			}
			if tt.old != "" && strings.Count(string(out), tt.old) != 1 {
				t.Fatalf("%q does not occur once:\n%s", tt.old, out)
			}
			err = e.prove([]byte(strings.Replace(string(out), tt.old, tt.new, 1)))
			if refused := failure.Is(err, failure.EditRefused); refused != (tt.old != "") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// prove compares changed values, mappings, filled lists and added documents with the requested ones.
func TestWrongEditsAreRefused(t *testing.T) {
	const src = "a: one # first\nb: {k: v, l: w}\nc: []\nd:\n---\nname: second\n"
	type edit func(e *Edits, root *Node) error
	set := func(e *Edits, root *Node) error { return e.SetText(root.Get("a"), "two") }
	field := func(e *Edits, root *Node) error { return e.AddField(root, "a", Field{Key: "key", Value: Text("2")}) }
	flow := func(e *Edits, root *Node) error {
		return e.AddField(root.Get("b"), "", Field{Key: "key", Value: Texts([]string{"2"})})
	}
	fill := func(e *Edits, root *Node) error { return e.Fill(root.Get("c"), Texts([]string{"p", "q"})) }
	null := func(e *Edits, root *Node) error { return e.Fill(root.Get("d"), Text("x")) }
	doc := func(e *Edits, _ *Node) error { return e.InsertDoc(0, Map(Field{Key: "name", Value: Text("new")})) }
	first := func(e *Edits, _ *Node) error { return e.InsertDoc(-1, Map(Field{Key: "name", Value: Text("new")})) }
	raw := func(e *Edits, _ *Node) error { return e.InsertRaw(1, []byte("name: new # as it is\n")) }
	for name, tt := range map[string]struct {
		make     edit
		old, new string // in the text that is spliced in
	}{
		"a value: as requested":              {set, "", ""},
		"a value: another":                   {set, "two", "three"},
		"a value: no string":                 {set, "two", "2"},
		"a value: a list":                    {set, "two", "[two]"},
		"a value: the old one":               {set, "two", "one"},
		"a key: as requested":                {field, "", ""},
		"a key: another":                     {field, "key:", "kez:"},
		"a key: another value":               {field, "'2'", "'3'"},
		"a key: no string":                   {field, "'2'", "2"},
		"a key: none":                        {field, "\nkey: '2'", ""},
		"a key: one more":                    {field, "'2'", "'2'\nm: '3'"},
		"a key: an existing one":             {field, "key:", "a:"},
		"a key in braces: as requested":      {flow, "", ""},
		"a key in braces: another value":     {flow, "2", "3"},
		"a key in braces: a longer list":     {flow, "'2'", "'2', '3'"},
		"a key in braces: no list":           {flow, "['2']", "'2'"},
		"a list: as requested":               {fill, "", ""},
		"a list: shorter":                    {fill, "\n- q", ""},
		"a list: longer":                     {fill, "\n- q", "\n- q\n- r"},
		"a list: in another order":           {fill, "- p\n- q", "- q\n- p"},
		"a null: as requested":               {null, "", ""},
		"a null: another value":              {null, "x", "y"},
		"a null: none":                       {null, "x", "~"},
		"a document: as requested":           {doc, "", ""},
		"a document: another":                {doc, "new", "now"},
		"a document: none":                   {doc, "\n---\nname: new", ""},
		"a document: two":                    {doc, "\n---", "\n---\nname: old\n---"},
		"a document: part of the one above":  {doc, "---\nname", "e"},
		"a first document: as requested":     {first, "", ""},
		"a first document: another":          {first, "new", "now"},
		"a first document: none":             {first, "name: new\n---\n", ""},
		"a document's text: as requested":    {raw, "", ""},
		"a document's text: without comment": {raw, " # as it is", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Open("t.yaml", []byte(src))
			if err != nil {
				t.Fatal(err)
			}
			root, err := f.Docs[0].Root()
			if err != nil {
				t.Fatal(err)
			}
			e := f.Edit()
			if err := tt.make(e, root); err != nil {
				t.Fatal(err)
			}
			e.spliceFlow()
			spoiled := tt.old == ""
			for i := range e.splices {
				if s := &e.splices[i]; !spoiled && strings.Contains(string(s.text), tt.old) {
					s.text, spoiled = []byte(strings.Replace(string(s.text), tt.old, tt.new, 1)), true
				}
			}
			if !spoiled {
				t.Fatalf("no splice has %q", tt.old)
			}
			if _, err := e.Apply(); failure.Is(err, failure.EditRefused) != (tt.old != "") {
				t.Errorf("got %v", err)
			}
		})
	}
}
