package event

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
)

// The grammar of names in registries, and their lengths.
const (
	maxRepository = 255
	maxReference  = maxRepository + len(":") + 128 + len("@sha512:") + 128
)

var (
	hostGrammar      = regexp.MustCompile(`^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:]+\])(?::[1-9][0-9]{0,4})?$`)
	componentGrammar = regexp.MustCompile(`^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$`)
	tagGrammar       = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)
	digestGrammar    = regexp.MustCompile(`^(?:sha256:[a-f0-9]{64}|sha512:[a-f0-9]{128})$`)
)

const dockerHubHost = "docker.io"

// dockerHubAliases are other names of the same registry.
var dockerHubAliases = map[string]bool{"index.docker.io": true, "registry-1.docker.io": true}

// ParseReference reads an image reference as people write them: a name without a registry
// is one of Docker Hub. A tag or a digest must be there; there is no default tag.
func ParseReference(image string) (Publication, error) {
	p, err := parseReference(image)
	if err != nil {
		return Publication{}, failure.New(failure.Usage, "%w", err).
			Fix("write the image as registry/repository:tag or registry/repository@sha256:digest")
	}
	return p, nil
}

func parseReference(image string) (Publication, error) {
	p, err := parseName(image)
	if err != nil {
		return Publication{}, fmt.Errorf("%s is no image reference: %w", quote(image), err)
	}
	if p.Tag == "" && p.Digest == "" {
		return Publication{}, fmt.Errorf("%s has neither a tag nor a digest", quote(image))
	}
	return p, nil
}

// parseName reads a reference that may lack tag and digest.
func parseName(image string) (Publication, error) {
	var p Publication
	if len(image) > maxReference {
		return p, fmt.Errorf("it is longer than %d", maxReference)
	}
	name, digest, hasDigest := strings.Cut(image, "@")
	if hasDigest && !digestGrammar.MatchString(digest) {
		return p, errors.New("its digest is neither sha256 nor sha512 of the right length")
	}
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		p.Tag, name = name[i+1:], name[:i]
		if !tagGrammar.MatchString(p.Tag) {
			return p, errors.New("its tag is malformed")
		}
	}
	p.Digest = digest
	host, path, ok := cutRegistry(name)
	if !ok {
		host, path = dockerHubHost, name
	}
	var err error
	p.Repository, err = joinRepository(host, path)
	return p, err
}

// isRegistry reports whether the first part of a name is a registry: by Docker's rule, which
// has a dot or a port tell one from an account on Docker Hub.
func isRegistry(host string) bool {
	return strings.ContainsAny(host, ".:") || host == "localhost"
}

// cutRegistry cuts a name into its registry, where it says one, and the rest.
func cutRegistry(name string) (host, path string, ok bool) {
	host, path, ok = strings.Cut(name, "/")
	return host, path, ok && isRegistry(host)
}

// joinRepository makes the normal form of a repository. A host that reads as an account of
// Docker Hub once it stands in a reference is refused: another image would be pulled.
func joinRepository(host, path string) (string, error) {
	host = strings.ToLower(host)
	if !isRegistry(host) {
		return "", fmt.Errorf("%s is no name of a registry: it has neither a dot nor a port", quote(host))
	}
	if !hostGrammar.MatchString(host) || !portFits(host) {
		return "", fmt.Errorf("%s is no name of a registry", quote(host))
	}
	if dockerHubAliases[host] {
		host = dockerHubHost
	}
	for component := range strings.SplitSeq(path, "/") {
		if !componentGrammar.MatchString(component) {
			return "", fmt.Errorf("%s is no repository", quote(path))
		}
	}
	if host == dockerHubHost && !strings.Contains(path, "/") {
		path = "library/" + path
	}
	repository := host + "/" + path
	if len(repository) > maxRepository {
		return "", fmt.Errorf("%s is no repository: longer than %d", quote(repository), maxRepository)
	}
	return repository, nil
}

func portFits(host string) bool {
	i := strings.LastIndexByte(host, ':')
	if i < 0 || strings.HasSuffix(host, "]") {
		return true
	}
	port, err := strconv.Atoi(host[i+1:])
	return err == nil && port < 1<<16
}

// hostOf is the host of a URL, or empty.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
