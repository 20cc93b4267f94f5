package relay

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// slotWait is how long a request waits for a slot before it is refused.
const slotWait = time.Second

// slots limits the concurrent requests whose bodies are read and stored, in all and for each address.
type slots struct {
	all  *semaphore.Weighted
	each int64

	mu     sync.Mutex
	shares map[netip.Addr]*share
}

// share is the share of one address in the slots.
type share struct {
	free  *semaphore.Weighted
	users int // that hold a slot or wait for one
}

func newSlots(all, each int) *slots {
	return &slots{all: semaphore.NewWeighted(int64(all)), each: int64(each), shares: map[netip.Addr]*share{}}
}

// take takes a slot for an address until release is called.
func (s *slots) take(ctx context.Context, from netip.Addr) (release func(), ok bool) {
	ctx, cancel := context.WithTimeout(ctx, slotWait)
	defer cancel()
	own := s.join(from)
	if own.free.Acquire(ctx, 1) != nil {
		s.leave(from, own)
		return nil, false
	}
	free := func() {
		own.free.Release(1)
		s.leave(from, own)
	}
	if s.all.Acquire(ctx, 1) != nil {
		free()
		return nil, false
	}
	return func() {
		s.all.Release(1)
		free()
	}, true
}

func (s *slots) join(from netip.Addr) *share {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.shares[from]
	if own == nil {
		own = &share{free: semaphore.NewWeighted(s.each)}
		s.shares[from] = own
	}
	own.users++
	return own
}

func (s *slots) leave(from netip.Addr, own *share) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own.users--; own.users == 0 {
		delete(s.shares, from)
	}
}

// sender returns the address that a request comes from: that of the connection, or behind trusted proxies the
// last one of X-Forwarded-For that is not theirs. An unreadable one counts as the proxy's.
func sender(req *http.Request, trusted []netip.Prefix) netip.Addr {
	host, _, _ := net.SplitHostPort(req.RemoteAddr) // the server wrote it
	at, _ := netip.ParseAddr(host)
	at = block(at)
	hops := strings.Split(strings.Join(req.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(at) }) {
			break
		}
		next, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		at = block(next)
	}
	return at
}

// block returns the address, or for IPv6 the 64-bit network that one sender has.
func block(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		if net, err := a.Prefix(64); err == nil {
			return net.Addr()
		}
	}
	return a
}
