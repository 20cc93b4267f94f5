package graph

import (
	"strings"
	"testing"
)

func TestDNSLabels(t *testing.T) {
	for s, good := range map[string]bool{
		"a": true, "a-b-0": true, "0a": true, strings.Repeat("a", 63): true,
		"": false, "A": false, "a.b": false, "a_b": false, "-a": false, "a-": false, strings.Repeat("a", 64): false,
	} {
		if why := dnsLabelFault(s); (why == "") != good {
			t.Errorf("%q: %q", s, why)
		}
	}
}
