package reference

import (
	"strings"
	"testing"
)

// The conformance module compares many more references with the grammar's own package.
func TestPullSpecs(t *testing.T) {
	hex := strings.Repeat("0a", 32)
	for _, good := range []string{
		"busybox", "busybox:latest", "library/busybox", "quay.io/a/b", "localhost/a", "localhost:5000/a:T-1.x_", "host.example:8443/a/b_c/d--e/f__g/h.i@sha256:" + hex,
		"quay.io/a:v1@sha256:" + hex, "Host.example/a", "a@sha512:" + strings.Repeat("b", 128), "a@sha384:" + strings.Repeat("b", 96), "a:" + strings.Repeat("t", 128), strings.Repeat("x", 236) + "/a", "index.docker.io/x", hex + "a", "a_b.c/d",
	} {
		if why := PullSpecFault(good); why != "" {
			t.Errorf("%s: %s", good, why)
		}
	}
	for _, bad := range []string{
		"", "BAD IMAGE", "UPPER/case:1", "quay.io/UP", "a//b", "/a", "a/", "a:", "a:b:c", "a@sha256:12", "a@md5:" + hex, "a@sha512:" + hex, "a@sha256:" + strings.ToUpper(hex), "a@", "a._b", "a___b", "-a", "a-",
		"a..b", ":tag", "::", hex, "host:port/a", "-host.x/a", "a:" + strings.Repeat("t", 129), "a:.t", strings.Repeat("x", 256), "é", "a\n", "a@sha256:" + hex + "@sha256:" + hex,
	} {
		if why := PullSpecFault(bad); why == "" {
			t.Errorf("%q is accepted as a pull spec", bad)
		}
	}
}
