package relay

import (
	"slices"
	"strings"
	"time"
)

// account is what waits for all whose rate limit is one.
type account struct {
	name  string
	lanes map[string]*lane // by repository
	turns []*lane          // that may have something, in the order in which they have their turns
	busy  int
	next  time.Time // the earliest time for the next delivery, by pace or limit
	// limited is until when a rate limit holds.
	limited time.Time
}

// accountOf is that of a repository: its owner's where each owner has an installation of the App.
func (g GitHub) accountOf(to string) string {
	if g.App == nil || g.App.Installation != "" {
		return ""
	}
	return strings.ToLower(repositoryOf(to).Owner)
}

func (a *account) lane(to string) *lane {
	if a.lanes[to] == nil {
		l := newLane()
		l.to = to
		a.lanes[to] = l
		a.turns = append(a.turns, l)
	}
	return a.lanes[to]
}

// ready gives the lane that has its turn, which is then the last to have one, or says how long
// there is none. Lanes without anything leave.
func (a *account) ready(now time.Time) (next *lane, wait time.Duration) {
	a.turns = slices.DeleteFunc(a.turns, func(l *lane) bool {
		if len(l.turns) > 0 {
			return false
		}
		delete(a.lanes, l.to)
		return true
	})
	wait = time.Hour
	switch {
	case a.busy == concurrent:
		return nil, wait
	case now.Before(a.next):
		return nil, a.next.Sub(now)
	}
	for i, l := range a.turns {
		switch {
		case l.underWay != nil:
		case now.Before(l.next):
			wait = min(wait, l.next.Sub(now))
		default:
			a.turns = append(slices.Delete(a.turns, i, i+1), l)
			return l, 0
		}
	}
	return nil, wait
}

// lane is what waits for one repository. Each image repository has a row in it, and the rows
// take turns.
type lane struct {
	to       string
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
