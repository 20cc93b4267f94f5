package documents

import (
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Streamed are documents of one file, one after another.
type Streamed struct {
	Set
	edits    *yamledit.Edits
	problems []*failure.Error
}

// Stream reads the documents of a file.
func Stream(s *kind.Source) *Streamed {
	st := &Streamed{edits: s.File.Edit()}
	for i, doc := range s.File.Docs {
		root, err := doc.Root()
		if err != nil {
			st.problems = append(st.problems, failure.Of(err))
			continue
		}
		if root == nil {
			continue
		}
		if root.Kind != yamledit.Mapping {
			st.problems = append(st.problems, root.Malformed("reading a document that is no mapping"))
			continue
		}
		st.Docs = append(st.Docs, FromNode(root, s.Name, i, st.edits))
	}
	return st
}

// Describe adds the documents and what is wrong with them.
func (st *Streamed) Describe(d *kind.Description) {
	d.Problems = append(d.Problems, st.problems...)
	st.Set.Describe(d)
}

// Edits are the edits to the file.
func (st *Streamed) Edits() *yamledit.Edits { return st.edits }

// AddChannel implements Adder.
func (st *Streamed) AddChannel(v yamledit.Value, siblings []Document) error {
	after := len(st.Docs) - 1
	if len(siblings) > 0 {
		return st.edits.InsertDoc(siblings[len(siblings)-1].Index, v, likes(siblings, 1<<30)...)
	}
	if p := st.Of(fbc.SchemaPackage); len(p) > 0 {
		return st.edits.InsertDoc(p[len(p)-1].Index, v)
	}
	return st.edits.InsertDoc(st.Docs[after].Index, v)
}

// AddBundle implements Adder.
func (st *Streamed) AddBundle(v yamledit.Value, siblings []Document, before *Document) error {
	after := st.Docs[len(st.Docs)-1].Index
	if len(siblings) > 0 {
		after = siblings[len(siblings)-1].Index
	}
	if before != nil && before.Index > 0 {
		after = before.Index - 1
	}
	return st.edits.InsertDoc(after, v, likes(siblings, after+1)...)
}
