package cli

import (
	"net"
	"net/http"
	"testing"
)

// A server on a loopback address refuses requests that name another host, which the page of a foreign site would
// send. Elsewhere it has any name.
func TestGraphServerOfOneMachine(t *testing.T) {
	s := servedBy(t, servedCatalog)
	for _, at := range []struct {
		given   string
		listens net.IP
		host    string
		want    int
	}{
		{"127.0.0.1:8080", net.IPv4(127, 0, 0, 1), "127.0.0.1:8080", http.StatusOK},
		{"127.0.0.1:8080", net.IPv4(127, 0, 0, 1), "localhost:8080", http.StatusOK},
		{"127.0.0.1:8080", net.IPv4(127, 0, 0, 1), "LOCALHOST.:9090", http.StatusOK},
		{"127.0.0.1:80", net.IPv4(127, 0, 0, 1), "localhost", http.StatusOK},
		{"127.0.0.1:8080", net.IPv4(127, 0, 0, 1), "graft.localhost:8080", http.StatusOK},
		{"[::1]:8080", net.IPv6loopback, "[::1]:8080", http.StatusOK},
		{"[::1]:80", net.IPv6loopback, "[::1]", http.StatusOK},
		{"mine:8080", net.IPv4(127, 0, 1, 1), "Mine:8080", http.StatusOK},
		{"127.0.0.1:8080", net.IPv4(127, 0, 0, 1), "evil.example:8080", http.StatusMisdirectedRequest},
		{"127.0.0.1:8080", net.IPv4(127, 0, 0, 1), "127.0.0.1.evil.example", http.StatusMisdirectedRequest},
		{"127.0.0.1:8080", net.IPv4(127, 0, 0, 1), "localhost.evil.example", http.StatusMisdirectedRequest},
		{":8080", net.IPv6zero, "catalogs.example:8080", http.StatusOK},
	} {
		s.hosts = namesOf(at.given, &net.TCPAddr{IP: at.listens})
		for _, path := range []string{"/", graphPath + "?channel=stable"} {
			if got := askGraph(s, http.MethodGet, "http://"+at.host+path); got.Code != at.want {
				t.Errorf("%s at %s: %s answers %d, want %d", at.host, at.given, path, got.Code, at.want)
			}
		}
	}
}
