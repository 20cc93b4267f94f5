package yamledit

import (
	"testing"

	"github.com/olmgraft/graft/internal/failure"
)

// InsertDoc adds a document before the first one in the form of the file.
func TestInsertDocFirst(t *testing.T) {
	for name, test := range map[string]struct{ before, after string }{
		"separator":        {"---\na: 1\n", "---\na: '0'\n---\na: 1\n"},
		"none":             {"a: 1\n---\na: 2\n", "a: '0'\n---\na: 1\n---\na: 2\n"},
		"comment":          {"# of one\na: 1\n", "a: '0'\n---\n# of one\na: 1\n"},
		"comment below":    {"---\n# of one\na: 1\n", "---\na: '0'\n---\n# of one\na: 1\n"},
		"same line":        {"--- {a: 1}\n", "---\na: '0'\n--- {a: 1}\n"},
		"windows, BOM":     {"\xEF\xBB\xBF---\r\na: 1\r\n", "\xEF\xBB\xBF---\r\na: '0'\r\n---\r\na: 1\r\n"},
		"JSON":             {`{"a": 1}` + "\n" + `{"a": 2}`, `{"a": "0"}` + "\n" + `{"a": 1}` + "\n" + `{"a": 2}`},
		"without last end": {"a: 1", "a: '0'\n---\na: 1"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Open("f", []byte(test.before))
			if err != nil {
				t.Fatal(err)
			}
			e := f.Edit()
			if err := e.InsertDoc(-1, Map(Field{Key: "a", Value: Text("0")})); err != nil {
				t.Fatal(err)
			}
			out, err := e.Apply()
			if err != nil || string(out) != test.after {
				t.Errorf("%v: got\n%q\nwant\n%q", err, out, test.after)
			}
		})
	}
	f, err := Open("f", []byte("# of the file\n---\na: 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Edit().InsertDoc(-1, Map(Field{Key: "a", Value: Text("0")})); !failure.Is(err, failure.EditRefused) {
		t.Errorf("got %v", err)
	}
}

// InsertDoc adds a document below another one, whose comments stay with it.
func TestInsertDoc(t *testing.T) {
	for name, test := range map[string]struct{ before, after string }{
		"last":             {"a: 1\n", "a: 1\n---\na: '0'\n"},
		"between":          {"a: 1\n\n---\na: 2\n", "a: 1\n---\na: '0'\n\n---\na: 2\n"},
		"comment":          {"a: 1\n# of one\n", "a: 1\n# of one\n---\na: '0'\n"},
		"comment, no end":  {"a: 1\n# of one", "a: 1\n# of one\n---\na: '0'"},
		"comment between":  {"a: 1\n# of one\n---\na: 2\n", "a: 1\n# of one\n---\na: '0'\n---\na: 2\n"},
		"blanks behind":    {"a: 1  \n", "a: 1  \n---\na: '0'\n"},
		"separator at end": {"a: 1\n# of one\n---\n", "a: 1\n# of one\n---\na: '0'\n---\n"},
		"windows":          {"a: 1\r\n# of one\r\n", "a: 1\r\n# of one\r\n---\r\na: '0'\r\n"},
		"JSON":             {`{"a": 1}` + "\n", `{"a": 1}` + "\n" + `{"a": "0"}` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Open("f", []byte(test.before))
			if err != nil {
				t.Fatal(err)
			}
			e := f.Edit()
			if err := e.InsertDoc(0, Map(Field{Key: "a", Value: Text("0")})); err != nil {
				t.Fatal(err)
			}
			out, err := e.Apply()
			if err != nil || string(out) != test.after {
				t.Errorf("%v: got\n%q\nwant\n%q", err, out, test.after)
			}
		})
	}
}
