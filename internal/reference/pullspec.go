package reference

import "strings"

// PullSpecFault returns what is wrong with an image reference according to the grammar that opm applies to
// bundles, or "". Unlike Parse, opm accepts sha384 and any port, and refuses IPv6. It also accepts a first part
// that is a component but not a host, such as a_b.c.
func PullSpecFault(image string) string {
	if len(image) == 64 && only(image, lowerHex) {
		return "64 hexadecimal digits are an image's id, not a reference"
	}
	registry, rest, ok := CutRegistry(image)
	if !ok || registry == "index.docker.io" {
		registry = DockerHub
	}
	if registry == DockerHub && !strings.Contains(rest, "/") {
		rest = "library/" + rest
	}
	repository, _, _ := strings.Cut(rest, ":")
	if strings.ToLower(repository) != repository {
		return "the repository must be lower case"
	}
	name, digest, hasDigest := strings.Cut(registry+"/"+rest, "@")
	slash := strings.LastIndexByte(name, '/')
	last, tag, hasTag := strings.Cut(name[slash+1:], ":")
	name = name[:slash+1] + last
	switch {
	case hasDigest && !isDigest(digest):
		return "the digest is malformed"
	case hasTag && !IsTag(tag):
		return "the tag is malformed"
	case len(name) > MaxName:
		return "the name is longer than 255 characters"
	}
	first, path, _ := strings.Cut(name, "/")
	host, port, hasPort := strings.Cut(first, ":")
	isDomain := isHost(host) && (!hasPort || port != "" && only(port, digit))
	if !isDomain && !isComponent(first) || !IsPath(path) {
		return "the name is malformed"
	}
	return ""
}
