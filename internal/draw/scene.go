package draw

// Layout is a channel with positions for everything, for programs that draw it like SVG does.
type Layout struct {
	Width, Height int
	Count         int // number of the channel's entries
	Cells         []Cell
	Lines         []Line
}

// Cell is a bundle, or several folded bundles.
type Cell struct {
	First, Folded       int // index of the node, or of the first folded node, and the number of folded nodes
	X, Y, Width, BadgeY int
	Class, Label, Badge string
	Deprecated, Removed bool
}

// Line is a path in SVG syntax with the classes that decide its colour.
type Line struct {
	Class, Way string
	Arrow      bool
}

// Layouts returns the layout of each channel of a package, as a picture shows it. With the radius All nothing is
// folded, and each channel has its own columns.
func Layouts(p *Package, o Options) (all []Layout) {
	s := section{pkg: p}
	if o.Radius == All {
		s.ragged(o, anyRoom)
	} else {
		s = newSection(p, o)
	}
	for _, l := range s.lanes {
		all = append(all, l.layout())
	}
	return all
}

func (l *swimlane) layout() Layout {
	d := newDrawing(l, -headerless)
	out := Layout{Width: l.end() + 2*margin, Height: l.height() - headerless, Count: l.count, Lines: d.lines}
	for i, c := range l.cells {
		x, y, w := d.box(i)
		out.Cells = append(out.Cells, Cell{First: c.first, Folded: c.folded, X: x, Y: y, Width: w, BadgeY: d.badgeY(i),
			Class: c.class(), Label: c.shown(), Badge: c.badge(), Deprecated: c.Deprecated, Removed: c.Removed})
	}
	return out
}

// headerless is the part of a lane's header that a layout leaves out, because it has no title.
const headerless = laneHeader - margin
