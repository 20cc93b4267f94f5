package graph

import (
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/operand"
)

// readEntry reads an entry of an operand. A fault is only a finding, because OLM ignores such entries.
func readEntry(d *fbc.Doc, at Pos) (*operand.Entry, []Finding) {
	e, err := operand.ReadEntry(d)
	if err != nil {
		return nil, []Finding{newFinding("operand-invalid", at, "%s", failure.Of(err).Message).in(d.Package, "", "")}
	}
	e.File, e.Line = at.File, at.Line
	return &e, nil
}

func (b *bundleRead) readClaim(lines *fbc.Lines, i int, typ string, value []byte) {
	c, ok, err := operand.ParseClaim(typ, value)
	if err != nil {
		b.fault(lines, "operand-invalid", []any{"properties", i}, "%s", failure.Of(err).Message)
	} else if ok {
		b.claims = append(b.claims, c)
	}
	g, ok, err := operand.ParseGraph(typ, value)
	if err != nil {
		b.fault(lines, "operand-invalid", []any{"properties", i}, "%s", failure.Of(err).Message)
	} else if ok {
		b.claims, b.operandGraphs = append(b.claims, g.Claim()), append(b.operandGraphs, g)
	}
}

// ownEntries returns the entries of the bundle's graphs.
func (b *Bundle) ownEntries() (all []*operand.Entry) {
	for _, g := range b.operandGraphs {
		for _, e := range g.Entries(operand.Pos{File: b.File, Line: b.Line}, b.Package, b.Name) {
			all = append(all, &e)
		}
	}
	return all
}

// noteTag counts images named by tag.
func (b *bundleRead) noteTag(image string) {
	if strings.Contains(image, "@") {
		return
	}
	if b.tagged++; b.tagged == 1 {
		b.firstTagged = image
	}
}

// operandName names an operand, or a set of related images.
type operandName struct{ schema, name string }

// verifyOperands checks entries and the bundles' claims about them.
func (v *verifier) verifyOperands(c *Catalog) {
	used := map[*operand.Entry]bool{}
	named := map[operandName][]*operand.Entry{}
	for _, e := range c.entries {
		name := operandName{e.Schema, e.Name}
		named[name] = append(named[name], e)
	}
	for _, p := range c.Packages {
		v.pkg = p
		for _, b := range p.Bundles {
			v.verifyClaims(named, b, used)
			if b.tagged > 0 {
				v.add("image-by-tag", b.Pos, "", b.Name, "%d of its images are named by tag, such as %s", b.tagged, b.firstTagged)
			}
		}
	}
	for _, e := range c.entries {
		at := Pos{e.File, e.Line}
		if !used[e] {
			v.found = append(v.found, newFinding("operand-unused", at, "no bundle takes %s %s", e.Name, e.Version).in(e.Package, "", ""))
		}
		for _, i := range e.Images {
			if operand.ByTag(i.Image) {
				v.found = append(v.found, newFinding("operand-image-by-tag", at, "%s %s names %s by tag: %s", e.Name, e.Version, i.Name, i.Image).in(e.Package, "", ""))
			}
		}
	}
}

// verifyClaims checks a bundle's claims against the entries, and marks the accepted entries as used.
func (v *verifier) verifyClaims(named map[operandName][]*operand.Entry, b *Bundle, used map[*operand.Entry]bool) {
	for _, claim := range b.claims {
		known, taken := 0, 0
		for _, e := range named[operandName{claim.Schema(), claim.Name}] {
			if claim.Type != operand.TypeRequired && !e.Serves(b.Package, b.Name) {
				continue
			}
			known++
			if claim.Range.Holds(e.Version) {
				taken++
				used[e] = true
			}
		}
		switch {
		case known == 0:
			v.add("operand-missing", b.Pos, "", b.Name, "%s of %s: there is no %s of that name", claim.Type, claim.Name, claim.Schema())
		case taken == 0:
			v.add("operand-range-empty", b.Pos, "", b.Name, "%s of %s: %q holds none of its %d versions", claim.Type, claim.Name, claim.Range.Text, known)
		}
	}
}
