package yaml11

// checker walks a document in the order in which opm decodes it, aliases
// included, and stops where opm would: at aliases that are most of the
// document, at an anchor inside itself, at keys that are collections.
type checker struct {
	t       *Tree
	decoded int
	aliased int
	within  int // aliases
	depth   int
	open    map[int32]bool // aliases being followed
}

// check refuses what the grammar allows but opm's decoder does not.
func (t *Tree) check() (err error) {
	if t.root == 0 || !t.aliases && !t.tagged && !t.hasOddKey() {
		return nil
	}
	defer catch(&err)
	c := checker{t: t, decoded: 1, open: map[int32]bool{}}
	c.value(t.root)
	return nil
}

// hasOddKey tells whether a key of some mapping is not a plain scalar, or is a
// merge key.
func (t *Tree) hasOddKey() bool {
	for i := range t.nodes {
		if t.nodes[i].kind != mapping {
			continue
		}
		for k := t.nodes[i].child; k != 0; k = t.nodes[t.nodes[k].next].next {
			if t.nodes[k].kind != scalar || t.isMerge(k) {
				return true
			}
		}
	}
	return false
}

func (t *Tree) isMerge(i int32) bool {
	n := &t.nodes[i]
	return n.kind == scalar && len(n.val) == 2 && string(n.val) == "<<" &&
		(n.implicit || t.extras[n.extra].tag == tagPrefix+"merge")
}

func (c *checker) fail(i int32, format string, args ...any) {
	panic(fault(c.t.src, int(c.t.nodes[i].pos), format, args...))
}

func (c *checker) value(i int32) {
	c.decoded++
	if c.within > 0 {
		c.aliased++
	}
	if c.aliased > 100 && c.decoded > 1000 && float64(c.aliased)/float64(c.decoded) > allowedAliases(c.decoded) {
		c.fail(i, "most of the document comes from aliases")
	}
	if c.depth++; c.depth > 2*maxDepth {
		c.fail(i, "more than %d collections inside each other", maxDepth)
	}
	n := &c.t.nodes[i]
	switch n.kind {
	case scalar:
		if n.extra != 0 {
			if _, _, err := c.t.scalarValue(n); err != nil {
				panic(err)
			}
		}
	case alias:
		if c.open[i] {
			c.fail(i, "the anchor %s contains itself", n.val)
		}
		c.open[i] = true
		c.within++
		c.value(c.t.extras[n.extra].target)
		c.within--
		delete(c.open, i)
	case sequence:
		for k := n.child; k != 0; k = c.t.nodes[k].next {
			c.value(k)
		}
	case mapping:
		c.pairs(n)
	}
	c.depth--
}

func (c *checker) pairs(n *node) {
	for k := n.child; k != 0; {
		v := c.t.nodes[k].next
		if c.t.isMerge(k) {
			c.merge(v)
		} else {
			c.value(k)
			if c.t.nodes[c.t.target(k)].kind != scalar {
				c.fail(k, "a list or mapping cannot be a key")
			}
			c.value(v)
		}
		k = c.t.nodes[v].next
	}
}

func (c *checker) merge(v int32) {
	const want = "<< takes a mapping or a list of mappings"
	t := c.t
	switch n := &t.nodes[v]; {
	case n.kind == mapping:
		c.value(v)
	case n.kind == alias && t.nodes[t.extras[n.extra].target].kind == mapping:
		c.value(v)
	case n.kind == sequence:
		for k := n.child; k != 0; k = t.nodes[k].next {
			if t.nodes[t.target(k)].kind != mapping {
				c.fail(k, want)
			}
			c.value(k)
		}
	default:
		c.fail(v, want)
	}
}

// target follows an alias. The target of one is never an alias itself.
func (t *Tree) target(i int32) int32 {
	if n := &t.nodes[i]; n.kind == alias {
		return t.extras[n.extra].target
	}
	return i
}

// allowedAliases is the share of values that may come from aliases: nearly all
// in a small document, a tenth in a large one.
func allowedAliases(decoded int) float64 {
	const low, high = 400_000, 4_000_000
	switch {
	case decoded <= low:
		return 0.99
	case decoded >= high:
		return 0.10
	}
	return 0.99 - 0.89*(float64(decoded-low)/float64(high-low))
}
