package relay

import (
	"slices"
	"strings"
	"time"
)

// account holds the waiting deliveries that share a rate limit.
type account struct {
	name  string
	lanes map[string]*lane // by repository
	turns []*lane          // possibly not empty, in the order of their turns
	busy  int
	waits int       // how many deliveries wait
	next  time.Time // the earliest time for the next delivery, by pace or limit
	// limited is the end of a rate limit.
	limited time.Time
}

// accountOf returns the account of a repository: its owner's if each owner has its own installation of the App.
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

// ready returns the lane whose turn it is and moves it to the end, or returns how long there is none. It
// removes empty lanes.
func (a *account) ready(now time.Time, group time.Duration) (next *lane, wait time.Duration) {
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
		case l.count() < mostGrouped && now.Before(l.oldest().Add(group)):
			wait = min(wait, l.oldest().Add(group).Sub(now))
		default:
			a.turns = append(slices.Delete(a.turns, i, i+1), l)
			return l, 0
		}
	}
	return nil, wait
}

// lane holds the waiting deliveries of one repository. Each image repository has a row, and the rows take turns.
type lane struct {
	to       string
	rows     map[string]*row // by image repository, none of them empty
	turns    []*row
	underWay []part // empty if the lane is free
	failures int
	next     time.Time
}

// row holds the waiting deliveries of one image repository in their order.
type row struct {
	from    string
	waiting []waiting
}

// part is the part of a row in progress: its first n items.
type part struct {
	*row
	n int
}

func newLane() *lane { return &lane{rows: map[string]*row{}} }

// add appends an item to its row.
func (l *lane) add(item waiting) {
	r := l.rows[item.from]
	if r == nil {
		r = &row{from: item.from}
		l.rows[item.from] = r
		l.turns = append(l.turns, r)
	}
	r.waiting = append(r.waiting, item)
}

// oldest returns the time since when the oldest item waits here.
func (l *lane) oldest() time.Time {
	first := l.turns[0].waiting[0].since
	for _, r := range l.turns {
		if r.waiting[0].since.Before(first) {
			first = r.waiting[0].since
		}
	}
	return first
}

func (l *lane) count() (n int) {
	for _, r := range l.turns {
		n += len(r.waiting)
	}
	return n
}

// begin returns the first item of the row whose turn it is, moves the row to the end, and adds the items that
// may share the event: the first ones of each row. The items stay in their rows until end.
func (l *lane) begin(join func(items []waiting, next waiting) bool) []waiting {
	first := l.turns[0]
	l.turns = append(l.turns[1:], first)
	items := []waiting{first.waiting[0]}
	for _, r := range append([]*row{first}, l.turns[:len(l.turns)-1]...) {
		n := 0
		if r == first {
			n = 1
		}
		for n < len(r.waiting) && join(items, r.waiting[n]) {
			items = append(items, r.waiting[n])
			n++
		}
		if n > 0 {
			l.underWay = append(l.underWay, part{r, n})
		}
	}
	return items
}

// end frees the lane and removes the items that are over. over is in the order of begin.
func (l *lane) end(over []bool) {
	parts := l.underWay
	l.underWay = nil
	for _, p := range parts {
		var kept []waiting
		for i, item := range p.waiting[:p.n] {
			if !over[i] {
				kept = append(kept, item)
			}
		}
		over = over[p.n:]
		if p.waiting = append(kept, p.waiting[p.n:]...); len(p.waiting) == 0 {
			delete(l.rows, p.from)
			l.leave(p.row)
		}
	}
}

// goFirst gives the next turn to the same row again.
func (l *lane) goFirst() {
	first := l.underWay[0].row
	l.leave(first)
	l.turns = slices.Insert(l.turns, 0, first)
}

func (l *lane) leave(r *row) {
	l.turns = slices.DeleteFunc(l.turns, func(other *row) bool { return other == r })
}
