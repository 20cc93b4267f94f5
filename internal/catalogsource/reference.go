package catalogsource

import (
	"errors"
	"regexp"
	"strings"
)

// The grammar of image references, as container engines take them.
var (
	hostGrammar      = regexp.MustCompile(`^(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\[[0-9a-fA-F:]+\])(?::[0-9]{1,5})?$`)
	componentGrammar = regexp.MustCompile(`^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$`)
	tagGrammar       = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)
	digestGrammar    = regexp.MustCompile(`^(?:sha256:[a-f0-9]{64}|sha512:[a-f0-9]{128})$`)
)

const maxRepository = 255

// checkReference says why an image is no reference; nil if it is one.
func checkReference(image string) error {
	name, digest, hasDigest := strings.Cut(image, "@")
	if hasDigest && !digestGrammar.MatchString(digest) {
		return errors.New("its digest is neither sha256 nor sha512 of the right length")
	}
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		if !tagGrammar.MatchString(name[i+1:]) {
			return errors.New("its tag is not valid")
		}
		name = name[:i]
	}
	host, path, ok := strings.Cut(name, "/")
	if !ok || !strings.ContainsAny(host, ".:") && host != "localhost" {
		host, path = "", name // a repository of the engine's default registry
	}
	if host != "" && !hostGrammar.MatchString(host) {
		return errors.New("its registry is not valid")
	}
	if len(name) > maxRepository {
		return errors.New("its repository is longer than 255 characters")
	}
	for component := range strings.SplitSeq(path, "/") {
		if !componentGrammar.MatchString(component) {
			return errors.New("its repository is not valid")
		}
	}
	return nil
}
