package draw

// Layout is a channel with everything in its place, for a program that draws it by itself as
// SVG does.
type Layout struct {
	Width, Height int
	Count         int // of the channel's entries
	Cells         []Cell
	Lines         []Line
}

// Cell is a bundle, or several that are folded into one.
type Cell struct {
	First, Folded       int // the node, or the first of so many that are folded
	X, Y, Width, BadgeY int
	Class, Label, Badge string
	Deprecated, Removed bool
}

// Line is a way, as the d of an SVG path, and the classes by which it is coloured.
type Line struct {
	Class, Way string
	Arrow      bool
}

// Layouts gives each channel of a package as a picture of it shows it. With a radius of All
// nothing is folded, and each channel has columns of its own.
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

// headerless is what a layout leaves out of the header of its lane, in which it has no title.
const headerless = laneHeader - margin
