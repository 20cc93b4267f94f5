package relay

import (
	"container/list"
	"net"
	"net/http"
	"sync"
	"time"
)

// patience is how long a connection may wait for a request while others wait for its place.
const patience = 500 * time.Millisecond

// connections limits the open connections. One above the limit replaces the connection that has waited longest
// without a request, so that a client that never finishes its header harms only itself.
type connections struct {
	net.Listener
	most   int
	closed chan struct{}
	close  func() error
	freed  chan struct{} // has a value when a place is free

	mu      sync.Mutex
	open    int
	waiting *list.List // of idle, the longest wait first
	place   map[net.Conn]*list.Element
}

// idle is a connection without a request.
type idle struct {
	net.Conn
	since time.Time
}

func listenWithin(l net.Listener, most int) *connections {
	c := &connections{
		Listener: l, most: most, closed: make(chan struct{}), freed: make(chan struct{}, 1), waiting: list.New(), place: map[net.Conn]*list.Element{},
	}
	c.close = sync.OnceValue(func() error {
		close(c.closed)
		return l.Close()
	})
	return c
}

// Accept waits for a free place.
func (c *connections) Accept() (net.Conn, error) {
	for wait := c.room(); wait > 0; wait = c.room() {
		timer := time.NewTimer(wait)
		select {
		case <-c.closed:
			timer.Stop()
			return nil, net.ErrClosed
		case <-c.freed:
		case <-timer.C:
		}
		timer.Stop()
	}
	return c.Listener.Accept()
}

// Close stops Accept.
func (c *connections) Close() error { return c.close() }

// room returns how long there is no free place. It closes a connection that has waited too long.
func (c *connections) room() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	longest := c.waiting.Front()
	switch {
	case c.open < c.most:
		return 0
	case longest == nil:
		return time.Hour // all have requests; freed reports the end of one
	}
	conn, _ := longest.Value.(idle)
	if wait := patience - time.Since(conn.since); wait > 0 {
		return wait
	}
	c.leave(conn.Conn)
	_ = conn.Close() // its server then reports StateClosed
	return 0
}

func (c *connections) leave(conn net.Conn) {
	if at := c.place[conn]; at != nil {
		c.waiting.Remove(at)
		delete(c.place, conn)
	}
}

// state is the server's ConnState. A connection becomes active once the header of a request is read.
func (c *connections) state(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leave(conn)
	switch state {
	case http.StateNew, http.StateIdle:
		c.place[conn] = c.waiting.PushBack(idle{conn, time.Now()})
		if state == http.StateNew {
			c.open++
		}
	case http.StateClosed, http.StateHijacked:
		c.open--
		select {
		case c.freed <- struct{}{}:
		default:
		}
	}
}
