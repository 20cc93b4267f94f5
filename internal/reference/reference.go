// Package reference is the grammar of image references, that of the distribution project,
// to which container engines and opm hold them:
//
//	[registry[:port]/]component{/component}[:tag][@algorithm:hex]
//
// It is written out rather than a regular expression because a catalog has hundreds of
// thousands of them. go-containerregistry's pkg/name is what a registry is asked with; alone
// it would let names pass that no engine takes, such as a//b or a..b.
package reference

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
)

// DockerHub is the registry of names that have none.
const DockerHub = "docker.io"

// MaxName bounds registry and path together.
const MaxName = 255

// Reference is an image reference in its parts, as they are written. What is not there is "".
type Reference struct{ Registry, Path, Tag, Digest string }

// Repository is the reference without tag and digest.
func (r Reference) Repository() string {
	if r.Registry == "" {
		return r.Path
	}
	return r.Registry + "/" + r.Path
}

// Cut takes a reference into its parts, whatever they are.
func Cut(image string) (repository, tag, digest string) {
	repository, digest, _ = strings.Cut(image, "@")
	if i := tagAt(repository); i >= 0 {
		repository, tag = repository[:i], repository[i+1:]
	}
	return repository, tag, digest
}

// CutRegistry cuts a repository into its registry, where it says one, and the rest: by
// Docker's rule, which has a dot or a port tell a registry from an account on Docker Hub.
func CutRegistry(repository string) (registry, path string, ok bool) {
	registry, path, ok = strings.Cut(repository, "/")
	if !ok || !NamesRegistry(registry) {
		return "", repository, false
	}
	return registry, path, true
}

// NamesRegistry reports whether the first part of a name stands for a registry.
func NamesRegistry(first string) bool {
	return strings.ContainsAny(first, ".:") || first == "localhost"
}

// Split takes a reference apart and holds its tag and digest to the grammar, where there
// are any.
func Split(image string) (Reference, error) {
	var r Reference
	name, digest, hasDigest := strings.Cut(image, "@")
	if hasDigest && !IsDigest(digest) {
		return r, errors.New("its digest is neither sha256 nor sha512 of the right length")
	}
	r.Digest = digest
	if i := tagAt(name); i >= 0 {
		name, r.Tag = name[:i], name[i+1:]
		if !IsTag(r.Tag) {
			return r, errors.New("its tag is not valid")
		}
	}
	r.Registry, r.Path, _ = CutRegistry(name)
	return r, nil
}

// Parse is Split, and holds the name to the grammar as well.
func Parse(image string) (Reference, error) {
	r, err := Split(image)
	switch {
	case err != nil:
		return r, err
	case r.Registry != "" && !IsRegistry(r.Registry):
		return r, errors.New("its registry is not valid")
	case len(r.Repository()) > MaxName:
		return r, errors.New("its repository is longer than 255 characters")
	case !IsPath(r.Path):
		return r, errors.New("its repository is not valid")
	}
	return r, nil
}

// tagAt is where the colon before the tag stands, below 0 where there is none: that of a
// port is followed by a slash.
func tagAt(name string) int {
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		return i
	}
	return -1
}

// IsRegistry reports whether s is a host, or an IPv6 address in brackets, and perhaps a port.
func IsRegistry(s string) bool {
	host := s
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.HasSuffix(s, "]") {
		var port string
		host, port = s[:i], s[i+1:]
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 || port[0] == '0' {
			return false
		}
	}
	if address, ok := strings.CutPrefix(host, "["); ok {
		address, ok = strings.CutSuffix(address, "]")
		ip, err := netip.ParseAddr(address)
		return ok && err == nil && ip.Is6() && ip.Zone() == ""
	}
	return isHost(host)
}

// isHost tells whether s is labels of letters, digits and inner hyphens, joined by dots.
func isHost(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || !only(label, func(c byte) bool { return alnum(c) || c == '-' }) ||
			label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	return true
}

// IsPath reports whether s is components, joined by slashes.
func IsPath(s string) bool {
	for component := range strings.SplitSeq(s, "/") {
		if !isComponent(component) {
			return false
		}
	}
	return true
}

// isComponent tells whether s is runs of lower case letters and digits, joined
// by one dot, one or two underscores, or any number of hyphens.
func isComponent(s string) bool {
	for i := 0; ; {
		start := i
		for i < len(s) && lowerAlnum(s[i]) {
			i++
		}
		if i == start {
			return false
		}
		if i == len(s) {
			return true
		}
		switch {
		case s[i] == '.':
			i++
		case strings.HasPrefix(s[i:], "__"):
			i += 2
		case s[i] == '_':
			i++
		case s[i] == '-':
			for i < len(s) && s[i] == '-' {
				i++
			}
		default:
			return false
		}
	}
}

// IsTag reports whether s is a tag.
func IsTag(s string) bool {
	return s != "" && len(s) <= 128 && s[0] != '.' && s[0] != '-' &&
		only(s, func(c byte) bool { return alnum(c) || c == '_' || c == '.' || c == '-' })
}

// IsDigest reports whether s is a digest by which registries serve images.
func IsDigest(s string) bool { return isDigest(s) && !strings.HasPrefix(s, "sha384:") }

func isDigest(s string) bool {
	algorithm, hex, _ := strings.Cut(s, ":")
	length := map[string]int{"sha256": 64, "sha384": 96, "sha512": 128}[algorithm]
	return length > 0 && len(hex) == length && only(hex, lowerHex)
}

func only(s string, in func(byte) bool) bool {
	for i := range len(s) {
		if !in(s[i]) {
			return false
		}
	}
	return true
}

func digit(c byte) bool      { return c >= '0' && c <= '9' }
func lowerAlnum(c byte) bool { return digit(c) || c >= 'a' && c <= 'z' }
func alnum(c byte) bool      { return lowerAlnum(c) || c >= 'A' && c <= 'Z' }
func lowerHex(c byte) bool   { return digit(c) || c >= 'a' && c <= 'f' }
