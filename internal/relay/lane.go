package relay

import (
	"slices"
	"time"
)

// lane is what waits for one repository. Each image repository has a row in it, and the rows
// take turns.
type lane struct {
	rows     map[string]*row // by image repository, none of them empty
	turns    []*row
	underWay *row // whose first item is under way, or nil
	failures int
	next     time.Time
}

// row is what waits of one image repository, in the order in which it was put.
type row struct {
	from    string
	waiting []waiting
}

func newLane() *lane { return &lane{rows: map[string]*row{}} }

// add takes an item to the end of its row.
func (l *lane) add(item waiting) {
	r := l.rows[item.from]
	if r == nil {
		r = &row{from: item.from}
		l.rows[item.from] = r
		l.turns = append(l.turns, r)
	}
	r.waiting = append(r.waiting, item)
}

// begin gives the first item of the row that has its turn, which is then the last to have one.
// The item stays in its place until end.
func (l *lane) begin() waiting {
	l.underWay = l.turns[0]
	l.turns = append(l.turns[1:], l.underWay)
	return l.underWay.waiting[0]
}

// end frees the lane. An item that is over leaves its row.
func (l *lane) end(over bool) {
	r := l.underWay
	l.underWay = nil
	if !over {
		return
	}
	r.waiting[0] = waiting{}
	if r.waiting = r.waiting[1:]; len(r.waiting) == 0 {
		delete(l.rows, r.from)
		l.leave(r)
	}
}

// goFirst gives the row that has an item under way the next turn, too.
func (l *lane) goFirst() {
	l.leave(l.underWay)
	l.turns = slices.Insert(l.turns, 0, l.underWay)
}

func (l *lane) leave(r *row) {
	l.turns = slices.DeleteFunc(l.turns, func(other *row) bool { return other == r })
}
