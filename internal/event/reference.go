package event

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/reference"
)

const maxReference = reference.MaxName + len(":") + 128 + len("@sha512:") + 128

// dockerHubAliases are other host names of Docker Hub.
var dockerHubAliases = map[string]bool{"index.docker.io": true, "registry-1.docker.io": true}

// ParseReference reads an image reference as people write it: a name without a registry belongs to Docker Hub. A
// tag or digest is required; there is no default tag.
func ParseReference(image string) (Publication, error) {
	p, err := parseReference(image)
	if err != nil {
		return Publication{}, failure.New(failure.Usage, "%w", err).
			Fix("Write the image as registry/repository:tag or registry/repository@sha256:digest.")
	}
	return p, nil
}

func parseReference(image string) (Publication, error) {
	p, err := parseName(image)
	if err != nil {
		return Publication{}, fmt.Errorf("%s is not an image reference: %w", quote(image), err)
	}
	if p.Tag == "" && p.Digest == "" {
		return Publication{}, fmt.Errorf("%s has neither a tag nor a digest", quote(image))
	}
	return p, nil
}

// parseName reads a reference with or without tag and digest.
func parseName(image string) (Publication, error) {
	var p Publication
	if len(image) > maxReference {
		return p, fmt.Errorf("it is longer than %d", maxReference)
	}
	r, err := reference.Split(image)
	if err != nil {
		return p, err
	}
	p.Tag, p.Digest = r.Tag, r.Digest
	p.Repository, err = joinRepository(cmp.Or(r.Registry, reference.DockerHub), r.Path)
	return p, err
}

// joinRepository returns the normal form of a repository. It refuses a host that would read as an account of
// Docker Hub in a reference, because another image would be pulled.
func joinRepository(host, path string) (string, error) {
	host = strings.ToLower(host)
	if !reference.NamesRegistry(host) {
		return "", fmt.Errorf("%s is not the name of a registry: it has neither a dot nor a port", quote(host))
	}
	if !reference.IsRegistry(host) {
		return "", fmt.Errorf("%s is not the name of a registry", quote(host))
	}
	if dockerHubAliases[host] {
		host = reference.DockerHub
	}
	if !reference.IsPath(path) {
		return "", fmt.Errorf("%s is not a repository", quote(path))
	}
	if host == reference.DockerHub && !strings.Contains(path, "/") {
		path = "library/" + path
	}
	repository := host + "/" + path
	if len(repository) > reference.MaxName {
		return "", fmt.Errorf("%s is not a repository: longer than %d", quote(repository), reference.MaxName)
	}
	return repository, nil
}

// hostOf returns the host of a URL, or "".
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
