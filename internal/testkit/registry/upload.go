package registry

import (
	"net/http"
	"slices"
)

// uploads returns the index of the part after the repository's name in the path of an upload, or 0 for other
// paths.
func uploads(parts []string) int {
	for i := 2; i+1 < len(parts); i++ {
		if parts[i] == "blobs" && parts[i+1] == "uploads" {
			return i
		}
	}
	return 0
}

// opens reports whether the token's scope covers the request. Writing needs more than reading.
func (g *grant) opens(req Request) bool {
	push := "repository:" + req.Repository + ":push,pull"
	if slices.Contains(g.scopes, push) {
		return true
	}
	read := req.Method == http.MethodGet || req.Method == http.MethodHead
	return read && slices.Contains(g.scopes, pullScope(req.Repository))
}
