// Package reference implements the grammar of image references of the distribution project, which container
// engines and opm use:
//
//	[registry[:port]/]component{/component}[:tag][@algorithm:hex]
//
// It is plain code rather than a regular expression because a catalog has hundreds of thousands of references.
// go-containerregistry's pkg/name serves to query registries; it is not strict enough here, because it accepts
// names that no engine accepts, such as a//b or a..b.
package reference

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
)

// DockerHub is the registry of names without one.
const DockerHub = "docker.io"

// MaxName bounds the length of registry and path together.
const MaxName = 255

// Reference is an image reference in its parts, as written. A missing part is "".
type Reference struct{ Registry, Path, Tag, Digest string }

// Repository returns the reference without tag and digest.
func (r Reference) Repository() string {
	if r.Registry == "" {
		return r.Path
	}
	return r.Registry + "/" + r.Path
}

// Cut splits a reference into its parts without checking them.
func Cut(image string) (repository, tag, digest string) {
	repository, digest, _ = strings.Cut(image, "@")
	if i := tagAt(repository); i >= 0 {
		repository, tag = repository[:i], repository[i+1:]
	}
	return repository, tag, digest
}

// CutRegistry splits a repository into its registry and the rest. It follows Docker's rule: a dot or a port
// distinguishes a registry from an account on Docker Hub. ok is false if the repository names no registry.
func CutRegistry(repository string) (registry, path string, ok bool) {
	registry, path, ok = strings.Cut(repository, "/")
	if !ok || !NamesRegistry(registry) {
		return "", repository, false
	}
	return registry, path, true
}

// NamesRegistry reports whether the first part of a name is a registry.
func NamesRegistry(first string) bool {
	return strings.ContainsAny(first, ".:") || first == "localhost"
}

// Split splits a reference into its parts and refuses a malformed tag or digest.
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

// Parse does the same as Split, and also refuses a malformed name.
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

// tagAt returns the index of the colon before the tag, or -1. A slash follows the colon of a port.
func tagAt(name string) int {
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		return i
	}
	return -1
}

// IsRegistry reports whether s is a host or a bracketed IPv6 address, with or without a port.
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

// isHost reports whether s consists of labels joined by dots. A label has letters, digits and inner hyphens.
func isHost(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || !only(label, func(c byte) bool { return alnum(c) || c == '-' }) ||
			label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	return true
}

// IsPath reports whether s consists of components joined by slashes.
func IsPath(s string) bool {
	for component := range strings.SplitSeq(s, "/") {
		if !isComponent(component) {
			return false
		}
	}
	return true
}

// isComponent reports whether s consists of runs of lower case letters and digits, joined by one dot, one or two
// underscores, or any number of hyphens.
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

// IsTag reports whether s is a valid tag.
func IsTag(s string) bool {
	return s != "" && len(s) <= 128 && s[0] != '.' && s[0] != '-' &&
		only(s, func(c byte) bool { return alnum(c) || c == '_' || c == '.' || c == '-' })
}

// IsDigest reports whether s is a digest under which registries serve images.
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
