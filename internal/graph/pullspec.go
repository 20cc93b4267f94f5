package graph

import "strings"

// pullSpecFault tells what is wrong with an image reference, by the grammar of
// the distribution project, as opm applies it to bundles; "" if nothing is:
//
//	[domain[:port]/]component{/component}[:tag][@algorithm:hex]
//
// It is written out rather than a regular expression because a catalog has
// hundreds of thousands of them.
func pullSpecFault(ref string) string {
	if len(ref) == 64 && only(ref, lowerHex) {
		return "64 hexadecimal digits are an image's id, not a reference"
	}
	domain, rest := splitDomain(ref)
	repo, _, _ := strings.Cut(rest, ":")
	if strings.ToLower(repo) != repo {
		return "the repository must be lower case"
	}
	name, digest, hasDigest := strings.Cut(domain+"/"+rest, "@")
	slash := strings.LastIndexByte(name, '/')
	last, tag, hasTag := strings.Cut(name[slash+1:], ":")
	name = name[:slash+1] + last
	switch {
	case hasDigest && !digestOK(digest):
		return "the digest is malformed"
	case hasTag && !tagOK(tag):
		return "the tag is malformed"
	case len(name) > 255:
		return "the name is longer than 255 characters"
	}
	for i, part := range strings.Split(name, "/") {
		if componentOK(part) || i == 0 && domainOK(part) {
			continue
		}
		return "the name is malformed"
	}
	return ""
}

// splitDomain adds what a short name leaves out.
func splitDomain(ref string) (domain, rest string) {
	domain, rest, found := strings.Cut(ref, "/")
	if !found || !strings.ContainsAny(domain, ".:") && domain != "localhost" {
		domain, rest = "docker.io", ref
	}
	if domain == "index.docker.io" {
		domain = "docker.io"
	}
	if domain == "docker.io" && !strings.Contains(rest, "/") {
		rest = "library/" + rest
	}
	return domain, rest
}

// domainOK tells whether s is labels of letters, digits and inner hyphens,
// joined by dots, and perhaps a port.
func domainOK(s string) bool {
	host, port, hasPort := strings.Cut(s, ":")
	if hasPort && (port == "" || !only(port, digit)) {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || !only(label, func(c byte) bool { return alnum(c) || c == '-' }) ||
			label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	return true
}

// componentOK tells whether s is runs of lower case letters and digits, joined
// by one dot, one or two underscores, or any number of hyphens.
func componentOK(s string) bool {
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

func tagOK(s string) bool {
	return s != "" && len(s) <= 128 && s[0] != '.' && s[0] != '-' &&
		only(s, func(c byte) bool { return alnum(c) || c == '_' || c == '.' || c == '-' })
}

func digestOK(s string) bool {
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

// dnsLabelFault tells what is wrong with a DNS label (RFC 1123); "" if nothing is.
func dnsLabelFault(s string) string {
	switch {
	case len(s) > 63:
		return "is longer than 63 characters"
	case s == "" || !only(s, func(c byte) bool { return lowerAlnum(c) || c == '-' }):
		return "has other characters than lower case letters, digits and hyphens"
	case s[0] == '-' || s[len(s)-1] == '-':
		return "begins or ends with a hyphen"
	}
	return ""
}
