package oci

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"syscall"
	"time"

	"github.com/olmgraft/graft/internal/outbound"
)

// guard stops a registry from directing Graft to addresses inside its own network: by a redirect, by the realm
// of its tokens, by the location of a layer, or by a name that resolves to such an address.
//
// 1. The host of the reference and the hosts in a registries.conf may be inside, because the user named them.
// They may not be addresses where clouds serve credentials. 2. A registry that is inside may direct Graft to
// other hosts inside, such as its storage. 3. A host that was outside once stays outside: its owner cannot move
// the name inside later. 4. A proxy resolves names itself. Behind a proxy, guard checks only addresses.
type guard struct {
	configured func(host string) bool // by name and port

	resolved sync.Map // address to dial -> netip.Addr
	proxies  sync.Map // addresses of proxies
}

type originKey struct{}

// withOrigin returns a context that names the registry of its requests.
func withOrigin(ctx context.Context, registry string) context.Context {
	return context.WithValue(ctx, originKey{}, registry)
}

// allow decides whether a request of the context may go to an address.
func (g *guard) allow(ctx context.Context, host string, ip netip.Addr) error {
	origin, _ := ctx.Value(originKey{}).(string)
	if !outbound.Inside(ip) || g.configured(host) {
		return nil
	}
	known, is := g.isInside(origin)
	if !outbound.Metadata(ip) && (is || isAt(host, origin) && !known) {
		return nil
	}
	return errRedirect{host, ip}
}

// isAt reports whether a host and port belong to a registry, whose name may have no port.
func isAt(host, registry string) bool {
	return registry != "" && (host == registry || host == registry+":443" || host == registry+":80")
}

// isInside reports whether a registry is inside, and whether that is known.
func (g *guard) isInside(registry string) (known, inside bool) {
	u := url.URL{Host: registry}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
		return true, outbound.Inside(ip)
	}
	for _, host := range []string{registry, registry + ":443", registry + ":80"} {
		if at, ok := g.resolved.Load(host); ok {
			if known, inside = true, outbound.Inside(at.(netip.Addr)); !inside {
				return true, false
			}
		}
	}
	return known, inside
}

// note records the address that a host resolved to. Outside addresses take precedence over inside ones.
func (g *guard) note(address string, ip netip.Addr) {
	if known, ok := g.resolved.LoadOrStore(address, ip); ok && outbound.Inside(known.(netip.Addr)) && !outbound.Inside(ip) {
		g.resolved.Store(address, ip)
	}
}

// check checks the known address of a request's host before the request is sent, including on an open connection.
func (g *guard) check(req *http.Request) error {
	host := hostAndPort(req.URL)
	ip, err := netip.ParseAddr(req.URL.Hostname())
	if known, ok := g.resolved.Load(host); err != nil && ok {
		ip, err = known.(netip.Addr), nil
	}
	if err != nil {
		return nil //nolint:nilerr // a name: the dialer checks its addresses
	}
	return g.allow(req.Context(), host, ip)
}

// dialer checks each address before it connects.
func (g *guard) dialer() func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		d := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
		if _, ok := g.proxies.Load(address); !ok {
			d.ControlContext = func(ctx context.Context, _, resolved string, _ syscall.RawConn) error {
				at, err := netip.ParseAddrPort(resolved)
				if err != nil {
					return err
				}
				if err := g.allow(ctx, address, at.Addr()); err != nil {
					return err
				}
				g.note(address, at.Addr())
				return nil
			}
		}
		return d.DialContext(ctx, network, address)
	}
}

// proxy returns the system's proxy and records its address, which belongs to no registry.
func (g *guard) proxy(req *http.Request) (*url.URL, error) {
	at, err := http.ProxyFromEnvironment(req)
	if at != nil {
		g.proxies.Store(hostAndPort(at), true)
	}
	return at, err
}

// hostAndPort returns the address that transports dial.
func hostAndPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// errRedirect reports a redirect to an address inside.
type errRedirect struct {
	host string
	ip   netip.Addr
}

func (e errRedirect) Error() string {
	if host, _, err := net.SplitHostPort(e.host); err == nil && host != e.ip.String() {
		return "led to " + host + ", which is the private address " + e.ip.String()
	}
	return "led to the private address " + e.ip.String()
}

// followRedirect limits the number of redirects. The guard checks their targets.
func followRedirect(_ *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("more than 10 redirects")
	}
	return nil
}
