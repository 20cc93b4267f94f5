package yaml11

// maxNodes bounds the memory that a document of nothing but commas can take.
const maxNodes = 2_000_000

type kind uint8

const (
	scalar kind = iota
	sequence
	mapping
	alias
)

// node is one value of a document. The children of a mapping are its keys and
// values in turn. Indexes are of Tree.nodes; 0 is none.
type node struct {
	val      []byte // the text of a scalar, the name of an alias
	next     int32
	child    int32
	extra    int32 // of Tree.extras
	pos      int32
	kind     kind
	implicit bool // without quotes, its type is found by looking at the text
}

// extra is what few nodes have.
type extra struct {
	tag    string
	target int32 // what an alias stands for
}

const tagPrefix = "tag:yaml.org,2002:"

// parser builds the tree of the first document of a text.
type parser struct {
	scanner
	t       *Tree
	anchors map[string]int32
	tags    map[string]string // handles of %TAG
}

// document parses one document and stops where it ends.
func (p *parser) document() {
	switch p.peek().kind {
	case tokStreamEnd:
		return
	case tokVersion, tokTagDirective, tokDocStart:
		p.directives()
		if t := p.peek(); t.kind != tokDocStart {
			p.fail(t.pos, "directives that no --- follows")
		}
		p.skip()
		switch t := p.peek(); t.kind {
		case tokVersion, tokTagDirective, tokDocStart, tokDocEnd, tokStreamEnd:
			p.t.root = p.empty(t.pos)
		default:
			p.t.root = p.node(true, false)
		}
	default:
		p.t.root = p.node(true, false)
	}
	end := p.peek()
	p.t.end = end.pos
	if end.kind == tokDocEnd {
		p.t.end += len("...")
	}
}

func (p *parser) directives() {
	version := false
	for {
		t := p.peek()
		switch t.kind {
		case tokVersion:
			if version {
				p.fail(t.pos, "a second %%YAML directive")
			}
			if string(t.val) != "1.1" {
				p.fail(t.pos, "a %%YAML directive for another version than 1.1")
			}
			version = true
		case tokTagDirective:
			if _, twice := p.tags[string(t.handle)]; twice {
				p.fail(t.pos, "a second %%TAG directive for one handle")
			}
			if p.tags == nil {
				p.tags = map[string]string{}
			}
			p.tags[string(t.handle)] = string(t.val)
		default:
			return
		}
		p.skip()
	}
}

func (p *parser) add(n node) int32 {
	t := p.t
	if len(t.nodes) > maxNodes {
		p.fail(int(n.pos), "more than %d values in one document", maxNodes)
	}
	t.nodes = append(t.nodes, n)
	return int32(len(t.nodes) - 1)
}

func (p *parser) empty(pos int) int32 {
	return p.add(node{kind: scalar, pos: int32(pos), implicit: true})
}

// link appends child to the children of parent, after last, and gives it back.
func (t *Tree) link(parent, last, child int32) int32 {
	if last == 0 {
		t.nodes[parent].child = child
	} else {
		t.nodes[last].next = child
	}
	return child
}

// node parses any value.
func (p *parser) node(block, indentless bool) int32 {
	t := p.peek()
	start := t.pos
	if t.kind == tokAlias {
		target := p.anchors[string(t.val)]
		if target == 0 {
			p.fail(t.pos, "an alias for an anchor that does not exist, %s", t.val)
		}
		p.t.aliases = true
		p.t.extras = append(p.t.extras, extra{target: target})
		n := p.add(node{kind: alias, pos: int32(t.pos), val: t.val, extra: int32(len(p.t.extras) - 1)})
		p.skip()
		return n
	}
	anchor, tag := p.properties()
	t = p.peek()
	n := node{kind: scalar, pos: int32(start)}
	if tag != "" {
		p.t.extras = append(p.t.extras, extra{tag: tag})
		n.extra = int32(len(p.t.extras) - 1)
	}
	switch {
	case indentless && t.kind == tokBlockEntry:
		return p.collection(n, sequence, anchor, (*parser).indentlessItems)
	case t.kind == tokScalar:
		n.val = t.val
		n.implicit = tag == "" && t.plain || tag == "!"
		p.skip()
		i := p.add(n)
		p.anchor(anchor, i)
		return i
	case t.kind == tokFlowSeqStart:
		return p.collection(n, sequence, anchor, (*parser).flowItems)
	case t.kind == tokFlowMapStart:
		return p.collection(n, mapping, anchor, (*parser).flowPairs)
	case block && t.kind == tokBlockSeqStart:
		return p.collection(n, sequence, anchor, (*parser).blockItems)
	case block && t.kind == tokBlockMapStart:
		return p.collection(n, mapping, anchor, (*parser).blockPairs)
	case anchor != "" || tag != "":
		n.implicit = tag == ""
		i := p.add(n)
		p.anchor(anchor, i)
		return i
	}
	p.fail(t.pos, "a value was expected here")
	return 0
}

// properties parses the anchor and the tag of a node, in any order.
func (p *parser) properties() (anchor, tag string) {
	for range 2 {
		switch t := p.peek(); {
		case t.kind == tokAnchor && anchor == "":
			anchor = string(t.val)
			p.skip()
		case t.kind == tokTag && tag == "":
			tag = p.tag(t)
			p.t.tagged = true
			p.skip()
		default:
			return anchor, tag
		}
	}
	return anchor, tag
}

func (p *parser) tag(t *token) string {
	suffix := string(t.val)
	if len(t.handle) == 0 {
		return suffix
	}
	prefix, ok := p.tags[string(t.handle)]
	if !ok {
		switch string(t.handle) {
		case "!":
			prefix = "!"
		case "!!":
			prefix = tagPrefix
		default:
			p.fail(t.pos, "a tag whose handle is not defined")
		}
	}
	return prefix + suffix
}

func (p *parser) anchor(name string, n int32) {
	if name == "" {
		return
	}
	if p.anchors == nil {
		p.anchors = map[string]int32{}
	}
	p.anchors[name] = n
}

// collection adds the node before its children, so that they may refer to it.
func (p *parser) collection(n node, k kind, anchor string, children func(*parser, int32)) int32 {
	n.kind = k
	i := p.add(n)
	p.anchor(anchor, i)
	children(p, i)
	return i
}

func (p *parser) blockItems(parent int32) {
	open := p.peek().pos
	p.skip()
	for last := int32(0); ; {
		switch t := p.peek(); t.kind {
		case tokBlockEntry:
			pos := t.pos + 1
			p.skip()
			var item int32
			if k := p.peek().kind; k == tokBlockEntry || k == tokBlockEnd {
				item = p.empty(pos)
			} else {
				item = p.node(true, false)
			}
			last = p.t.link(parent, last, item)
		case tokBlockEnd:
			p.skip()
			return
		default:
			p.fail(t.pos, "an item of the list at line %d was expected here; check the indentation", p.lineOf(open))
		}
	}
}

func (p *parser) indentlessItems(parent int32) {
	for last := int32(0); ; {
		t := p.peek()
		if t.kind != tokBlockEntry {
			return
		}
		pos := t.pos + 1
		p.skip()
		var item int32
		switch p.peek().kind {
		case tokBlockEntry, tokKey, tokValue, tokBlockEnd:
			item = p.empty(pos)
		default:
			item = p.node(true, false)
		}
		last = p.t.link(parent, last, item)
	}
}

func (p *parser) blockPairs(parent int32) {
	open := p.peek().pos
	p.skip()
	part := func(pos int) int32 {
		switch p.peek().kind {
		case tokKey, tokValue, tokBlockEnd:
			return p.empty(pos)
		}
		return p.node(true, true)
	}
	for last := int32(0); ; {
		switch t := p.peek(); t.kind {
		case tokKey:
			pos := t.pos
			p.skip()
			last = p.t.link(parent, last, part(pos))
			if t = p.peek(); t.kind == tokValue {
				pos = t.pos + 1
				p.skip()
				last = p.t.link(parent, last, part(pos))
			} else {
				last = p.t.link(parent, last, p.empty(t.pos))
			}
		case tokBlockEnd:
			p.skip()
			return
		default:
			p.fail(t.pos, "a key of the mapping at line %d was expected here; check the indentation and quotes", p.lineOf(open))
		}
	}
}

// separator passes the comma before any but the first part of a flow
// collection, and tells whether another part follows.
func (p *parser) separator(first bool, end tokenKind) bool {
	t := p.peek()
	if t.kind != end && !first {
		if t.kind != tokFlowEntry {
			p.fail(t.pos, "a comma or the end of the brackets was expected here")
		}
		p.skip()
		t = p.peek()
	}
	if t.kind == end {
		p.skip()
		return false
	}
	return true
}

func (p *parser) flowItems(parent int32) {
	p.skip()
	for last, first := int32(0), true; p.separator(first, tokFlowSeqEnd); first = false {
		t := p.peek()
		if t.kind != tokKey {
			last = p.t.link(parent, last, p.node(false, false))
			continue
		}
		pair := p.add(node{kind: mapping, pos: int32(t.pos)})
		last = p.t.link(parent, last, pair)
		p.skip()
		var key int32
		switch t = p.peek(); t.kind {
		case tokValue, tokFlowEntry, tokFlowSeqEnd:
			// The parser that opm uses loses this token.
			key = p.empty(t.pos)
			p.skip()
		default:
			key = p.node(false, false)
		}
		p.t.link(pair, 0, key)
		p.t.link(pair, key, p.flowValue(tokFlowSeqEnd))
		p.peek()
	}
}

func (p *parser) flowPairs(parent int32) {
	p.skip()
	for last, first := int32(0), true; p.separator(first, tokFlowMapEnd); first = false {
		if p.peek().kind != tokKey {
			last = p.t.link(parent, last, p.node(false, false))
			last = p.t.link(parent, last, p.empty(p.peek().pos))
			continue
		}
		p.skip()
		var key int32
		switch t := p.peek(); t.kind {
		case tokValue, tokFlowEntry, tokFlowMapEnd:
			key = p.empty(t.pos)
		default:
			key = p.node(false, false)
		}
		last = p.t.link(parent, last, key)
		last = p.t.link(parent, last, p.flowValue(tokFlowMapEnd))
	}
}

// flowValue parses the colon and the value of a pair, either of which may be
// missing.
func (p *parser) flowValue(end tokenKind) int32 {
	t := p.peek()
	if t.kind == tokValue {
		p.skip()
		if t = p.peek(); t.kind != tokFlowEntry && t.kind != end {
			return p.node(false, false)
		}
	}
	return p.empty(t.pos)
}
