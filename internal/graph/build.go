package graph

import (
	"cmp"
	"hash/maphash"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/operand"
)

// FromDocs returns the upgrade view of a catalog's documents.
func FromDocs(docs []fbc.Doc) *Catalog {
	var b Builder
	b.Add(docs)
	return b.Catalog()
}

// Builder builds a catalog from documents that arrive file by file, so that the text of one file can be dropped
// before the next is read.
type Builder struct {
	// Light is for a catalog that serves only for comparison, such as the published one. The builder does not
	// verify it and reads only the facts of its bundles.
	Light bool
	// Known is a catalog whose bundle documents need not be read again: an equal document has the same facts and
	// faults. If Known is light, it has few faults, so published bundles are not checked again.
	Known *Catalog

	items  []item
	faults []Finding
}

// item is the content of one document.
type item struct {
	Pos
	schema      string
	pkgName     string // of the document, for a bundle that cannot be read
	name        string
	hash        uint64
	pkg         fbc.Package
	channel     fbc.Channel
	deprecation fbc.Deprecation
	lines       []int // of the entries
	ignored     int   // line of content that opm drops after the document
	bundle      *bundleRead
	entry       *operand.Entry
	faults      []Finding
}

// deprecation is an entry of an olm.deprecations document.
type deprecation struct {
	Pos
	fbc.DeprecationEntry
}

// Add reads documents. It keeps nothing of their text.
func (b *Builder) Add(docs []fbc.Doc) {
	read := make([]item, len(docs))
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(docs)) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(docs); i = int(next.Add(1)) - 1 {
				read[i] = b.read(&docs[i])
			}
		})
	}
	wait.Wait()
	b.items = append(b.items, read...)
}

// Fail records a reader's failure as a fault of the catalog.
func (b *Builder) Fail(err error) { b.faults = append(b.faults, Unreadable(err)...) }

var hashSeed = maphash.MakeSeed()

func (b *Builder) read(d *fbc.Doc) item {
	it := item{Pos: Pos{strings.Clone(d.File), d.Line}, schema: strings.Clone(d.Schema),
		pkgName: strings.Clone(d.Package), name: strings.Clone(d.Name), ignored: d.Ignored}
	switch d.Schema {
	case fbc.SchemaPackage:
		it.pkg, it.faults = small[fbc.Package](d, "package")
		it.pkg.Icon, it.pkg.Description, it.pkg.Properties = nil, "", nil
	case fbc.SchemaChannel:
		it.channel, it.faults = small[fbc.Channel](d, "channel")
		it.lines = d.EntryLines()
	case fbc.SchemaDeprecation:
		it.deprecation, it.faults = small[fbc.Deprecation](d, "deprecations")
		it.lines = d.EntryLines()
	case operand.SchemaOperand, operand.SchemaRelatedImages:
		it.entry, it.faults = readEntry(d, it.Pos)
	case fbc.SchemaBundle:
		it.hash = maphash.Bytes(hashSeed, d.Raw())
		if b.Known != nil {
			it.bundle = b.Known.known[it.hash]
		}
		switch {
		case it.bundle != nil:
		case b.Light:
			it.bundle = readBundleLight(d)
		default:
			it.bundle = readBundle(d)
		}
	}
	return it
}

// Catalog assembles the documents in opm's order: packages, channels, bundles, deprecations.
func (b *Builder) Catalog() *Catalog {
	c := &Catalog{byName: map[string]*Package{}, known: map[uint64]*bundleRead{}, faults: slices.Clone(b.faults)}
	a := assembly{c}
	for _, schema := range append(slices.Clone(olmSchemas), "") {
		for i := range b.items {
			if it := &b.items[i]; it.schema == schema || schema == "" && !slices.Contains(olmSchemas, it.schema) {
				a.add(it)
			}
		}
	}
	slices.SortFunc(c.Packages, func(x, y *Package) int { return cmp.Compare(x.Name, y.Name) })
	for _, p := range c.Packages {
		slices.SortFunc(p.Channels, func(x, y *Channel) int { return cmp.Compare(x.Name, y.Name) })
		slices.SortFunc(p.Bundles, func(x, y *Bundle) int { return cmp.Compare(x.Name, y.Name) })
	}
	return c
}

var olmSchemas = []string{fbc.SchemaPackage, fbc.SchemaChannel, fbc.SchemaBundle, fbc.SchemaDeprecation}

type assembly struct{ *Catalog }

func (a assembly) add(it *item) {
	a.faults = append(a.faults, it.faults...)
	if it.ignored > 0 {
		a.fault("document-ignored", Pos{it.File, it.ignored}, it.pkgName, "", "", "opm drops this text after the end of the document at line %d", it.Line)
	}
	switch it.schema {
	case fbc.SchemaPackage:
		a.addPackage(it)
	case fbc.SchemaChannel:
		a.addChannel(it)
	case fbc.SchemaBundle:
		a.addBundle(it)
	case fbc.SchemaDeprecation:
		a.addDeprecation(it)
	case operand.SchemaOperand, operand.SchemaRelatedImages:
		if it.entry != nil {
			a.entries = append(a.entries, it.entry)
		}
	case fbc.SchemaLifecycles: // not part of the graph
	default:
		a.fault("document-ignored", it.Pos, "", "", "", "schema %q is not one that OLM knows%s", it.schema, meant(it.schema))
	}
}

// meant suggests the schema that a misspelt one should be.
func meant(schema string) string {
	letters := func(s string) string {
		s = strings.ToLower(strings.TrimSuffix(s, "s"))
		return strings.Map(func(r rune) rune {
			if r < 'a' || r > 'z' {
				return -1
			}
			return r
		}, s)
	}
	for _, known := range olmSchemas {
		if letters(known) == letters(schema) || letters(known) == "olm"+letters(schema) {
			return "; is " + known + " meant?"
		}
	}
	return ""
}

func (a assembly) fault(id string, at Pos, pkg, channel, bundle, format string, args ...any) {
	a.faults = append(a.faults, newFinding(id, at, format, args...).in(pkg, channel, bundle))
}

func (a assembly) addPackage(it *item) {
	name := it.pkg.Name
	if p := a.byName[name]; p != nil {
		a.fault("package-duplicate", it.Pos, name, "", "", "package %q already exists at %s", name, p.Pos)
		return
	}
	if name == "" {
		a.fault("package-without-name", it.Pos, "", "", "", "the package has no name")
	} else if why := dnsLabelFault(name); why != "" {
		a.fault("package-name-invalid", it.Pos, name, "", "", "package name %q %s", name, why)
	}
	p := a.newPackage(name, it.Pos)
	p.Declared, p.DefaultChannel = true, it.pkg.DefaultChannel
}

func (a assembly) newPackage(name string, at Pos) *Package {
	p := &Package{Pos: at, Name: name, channels: map[string]*Channel{}, bundles: map[string]*Bundle{},
		deprecated: map[string]bool{}, listed: map[string]bool{}, replaced: map[string]bool{}}
	a.byName[name] = p
	a.Packages = append(a.Packages, p)
	return p
}

// of returns the package with a name, and records a fault if it is not declared.
func (a assembly) of(name string, at Pos, channel, bundle string) *Package {
	p := a.byName[name]
	if p == nil {
		p = a.newPackage(name, at)
	}
	if !p.Declared {
		a.fault("package-unknown", at, name, channel, bundle, "there is no olm.package %q", name)
	}
	return p
}

func (a assembly) addChannel(it *item) {
	doc := it.channel
	p := a.of(doc.Package, it.Pos, doc.Name, "")
	if doc.Name == "" {
		a.fault("channel-without-name", it.Pos, p.Name, "", "", "the channel has no name")
	}
	if first := p.channels[doc.Name]; first != nil {
		a.fault("channel-duplicate", it.Pos, p.Name, doc.Name, "", "channel %q already exists at %s", doc.Name, first.Pos)
		return
	}
	ch := &Channel{Pos: it.Pos, Package: p, Name: doc.Name, index: map[string]int{}}
	for i, e := range doc.Entries {
		entry := Entry{Entry: e}
		if i < len(it.lines) {
			entry.Line = it.lines[i]
		}
		if _, twice := ch.index[e.Name]; twice {
			a.fault("entry-duplicate", ch.at(&entry), p.Name, ch.Name, e.Name, "entry %q already exists at line %d", e.Name, ch.Entry(e.Name).Line)
			continue
		}
		ch.add(entry)
	}
	p.channels[ch.Name] = ch
	p.Channels = append(p.Channels, ch)
}

// add appends an entry that the channel does not have.
func (ch *Channel) add(e Entry) {
	ch.index[e.Name] = len(ch.Entries)
	ch.Entries = append(ch.Entries, e)
	ch.Package.listed[e.Name], ch.Package.replaced[e.Replaces] = true, true
}

func (a assembly) addBundle(it *item) {
	read := it.bundle
	a.known[it.hash] = read
	b := read.Bundle
	b.Pos, b.Package, b.Name = it.Pos, cmp.Or(b.Package, it.pkgName), cmp.Or(b.Name, it.name)
	for _, f := range read.faults {
		f.File, f.Line = it.File, it.Line+f.Line
		a.faults = append(a.faults, f.in(b.Package, "", b.Name))
	}
	if b.Name == "" {
		a.fault("bundle-without-name", it.Pos, b.Package, "", "", "the bundle has no name")
	}
	if b.Package == "" {
		a.fault("bundle-without-package", it.Pos, "", "", b.Name, "bundle %q has no package", b.Name)
		return
	}
	if read.hasPackage && read.propertyPackage != b.Package {
		a.fault("package-property-mismatch", it.Pos, b.Package, "", b.Name, "the olm.package property names package %q, the bundle %q", read.propertyPackage, b.Package)
	}
	if b.Image == "" && !read.hasObjects {
		a.fault("bundle-without-image", it.Pos, b.Package, "", b.Name, "the bundle has no image")
	}
	p := a.of(b.Package, it.Pos, "", b.Name)
	if first := p.bundles[b.Name]; first != nil {
		a.fault("bundle-duplicate", it.Pos, p.Name, "", b.Name, "bundle %q already exists at %s", b.Name, first.Pos)
		return
	}
	p.bundles[b.Name] = &b
	p.Bundles = append(p.Bundles, &b)
	a.entries = append(a.entries, b.ownEntries()...)
}

func (a assembly) addDeprecation(it *item) {
	doc := it.deprecation
	if doc.Package == "" {
		a.fault("deprecation-without-package", it.Pos, "", "", "", "the deprecations have no package")
		return
	}
	p := a.of(doc.Package, it.Pos, "", "")
	if p.deprecations.Line > 0 {
		a.fault("deprecation-duplicate", it.Pos, p.Name, "", "", "the deprecations of package %q already exist at %s", p.Name, p.deprecations)
	} else {
		p.deprecations = it.Pos
	}
	for i, e := range doc.Entries {
		at := it.Pos
		if i < len(it.lines) {
			at.Line = it.lines[i]
		}
		p.deprecates = append(p.deprecates, deprecation{at, e})
		if e.Reference.Schema == fbc.SchemaBundle {
			p.deprecated[e.Reference.Name] = true
		}
	}
}
