package outbound

import (
	"net/netip"
	"slices"
)

// inside lists networks that the public internet does not route, or not to a host (RFC 6890 and its
// successors), except those that netip knows.
var inside = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"64:ff9b:1::/48", "100::/64", "2001:db8::/32", "3fff::/20", "5f00::/16", "fec0::/10",
)

// embeds lists IPv6 networks whose addresses contain an IPv4 address, at the given byte.
var embeds = []struct {
	network netip.Prefix
	at      int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12}, // NAT64
	{netip.MustParsePrefix("2002::/16"), 2},     // 6to4
	{netip.MustParsePrefix("::/96"), 12},        // IPv4-compatible
}

// metadata lists the addresses at which clouds serve credentials to any client inside, besides the link-local
// ones.
var metadata = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd20:ce::254"), netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("168.63.129.16"),
	netip.MustParseAddr("192.0.0.192"),
}

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// Inside reports whether an address is in a private network, to which a public server must not direct Graft.
func Inside(ip netip.Addr) bool {
	ip = plain(ip)
	return ip.IsPrivate() || ip.IsLoopback() || ip.IsUnspecified() || Metadata(ip) ||
		slices.ContainsFunc(inside, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// Metadata reports whether an address can never be a registry's: a link-local or multicast address, or that of
// a cloud's credentials service.
func Metadata(ip netip.Addr) bool {
	ip = plain(ip)
	return ip.IsLinkLocalUnicast() || ip.IsMulticast() || slices.Contains(metadata, ip)
}

// plain returns the IPv4 address that an IPv6 address leads to, or else the address.
func plain(ip netip.Addr) netip.Addr {
	ip = ip.Unmap().WithZone("")
	for _, e := range embeds {
		if !e.network.Contains(ip) || ip.IsLoopback() || ip.IsUnspecified() {
			continue
		}
		b := ip.As16()
		if v4, ok := netip.AddrFromSlice(b[e.at : e.at+4]); ok {
			return v4
		}
	}
	return ip
}
