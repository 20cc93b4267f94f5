package outbound

import (
	"net/netip"
	"testing"
)

func TestAddresses(t *testing.T) {
	for text, want := range map[string][2]bool{ // inside, metadata
		"8.8.8.8": {}, "140.82.112.3": {}, "2606:4700::1": {}, "2002:0808:0808::1": {}, "64:ff9b::8.8.8.8": {}, "::ffff:8.8.8.8": {},
		"10.0.0.1": {true, false}, "172.16.0.1": {true, false}, "192.168.1.1": {true, false}, "127.0.0.1": {true, false}, "::1": {true, false},
		"0.0.0.0": {true, false}, "::": {true, false}, "100.64.0.1": {true, false}, "fd12::1": {true, false}, "::ffff:10.0.0.1": {true, false},
		"::ffff:127.0.0.1": {true, false}, "64:ff9b::10.0.0.1": {true, false}, "2002:0a00:0001::1": {true, false}, "::127.0.0.1": {true, false},
		"64:ff9b:1::1": {true, false}, "fec0::1": {true, false}, "198.18.0.1": {true, false}, "240.0.0.1": {true, false}, "255.255.255.255": {true, false},
		"169.254.169.254": {true, true}, "fe80::1%eth0": {true, true}, "64:ff9b::169.254.169.254": {true, true}, "::ffff:169.254.169.254": {true, true},
		"fd00:ec2::254": {true, true}, "100.100.100.200": {true, true}, "168.63.129.16": {true, true}, "224.0.0.1": {true, true}, "ff02::1": {true, true},
		"2002:a9fe:a9fe::1": {true, true},
	} {
		ip := netip.MustParseAddr(text)
		if got := [2]bool{Inside(ip), Metadata(ip)}; got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
