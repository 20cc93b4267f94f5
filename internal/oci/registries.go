package oci

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/google/go-containerregistry/pkg/name"

	"github.com/olmgraft/graft/internal/failure"
)

// registriesConf holds the settings of a registries.conf that Graft uses: the locations of images. Graft
// ignores everything else, including short names and their search list, because a template's images have full
// names.
type registriesConf struct {
	Registries []mirrored `toml:"registry"`
}

// mirrored is a prefix of image names with the locations of the images.
type mirrored struct {
	Prefix             string     `toml:"prefix"`
	Location           string     `toml:"location"`
	Insecure           bool       `toml:"insecure"`
	Blocked            bool       `toml:"blocked"`
	MirrorByDigestOnly bool       `toml:"mirror-by-digest-only"`
	Mirrors            []location `toml:"mirror"`
}

type location struct {
	Location       string `toml:"location"`
	Insecure       bool   `toml:"insecure"`
	PullFromMirror string `toml:"pull-from-mirror"`
}

func readRegistriesConf(path string) (*registriesConf, error) {
	const remedy = "Correct the file, or leave out --registries-conf."
	data, err := os.ReadFile(path)
	if err != nil {
		var cause *os.PathError
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return nil, failure.New(failure.Usage, "%s: reading the registries configuration: %w", path, err).Fix(remedy)
	}
	conf, err := parseRegistriesConf(string(data))
	if err != nil {
		f := failure.New(failure.Usage, "reading the registries configuration: %w", err).At(path, 0, 0).Fix(remedy)
		var at toml.ParseError
		if errors.As(err, &at) {
			f.Line, f.Col = at.Position.Line, at.Position.Col
		}
		return nil, f
	}
	return conf, nil
}

func parseRegistriesConf(data string) (*registriesConf, error) {
	conf := &registriesConf{}
	if _, err := toml.Decode(data, conf); err != nil {
		return nil, err
	}
	for i := range conf.Registries {
		if err := conf.Registries[i].check(); err != nil {
			return nil, err
		}
	}
	return conf, nil
}

func (r *mirrored) check() error {
	r.Prefix, r.Location = strings.TrimRight(r.Prefix, "/"), strings.TrimRight(r.Location, "/")
	if r.Prefix == "" {
		r.Prefix = r.Location
	}
	if r.Prefix == "" {
		return errors.New("a [[registry]] has neither prefix nor location")
	}
	wild := strings.HasPrefix(r.Prefix, "*.")
	if r.Location == "" && !wild {
		return fmt.Errorf("the registry with prefix %q has no location", r.Prefix)
	}
	if wild && strings.ContainsAny(r.Prefix, "/@:") {
		return fmt.Errorf("the prefix %q may have no namespace or port after the wildcard", r.Prefix)
	}
	if err := checkLocation(r.Location); r.Location != "" && err != nil {
		return err
	}
	for i := range r.Mirrors {
		m := &r.Mirrors[i]
		m.Location = strings.TrimRight(m.Location, "/")
		if err := checkLocation(m.Location); err != nil {
			return fmt.Errorf("a mirror of %q: %w", r.Prefix, err)
		}
		switch m.PullFromMirror {
		case "", "all", "digest-only", "tag-only":
		default:
			return fmt.Errorf("mirror %q: pull-from-mirror is %q, not all, digest-only or tag-only", m.Location, m.PullFromMirror)
		}
		if r.MirrorByDigestOnly && m.PullFromMirror != "" {
			return fmt.Errorf("mirror %q has pull-from-mirror, and its registry mirror-by-digest-only", m.Location)
		}
	}
	return nil
}

func checkLocation(location string) error {
	if strings.Contains(location, "://") {
		return fmt.Errorf("the location %q has a scheme; write host[:port][/path]", location)
	}
	if _, err := name.NewRepository(location + "/x"); location == "" || err != nil {
		return fmt.Errorf("the location %q is no host[:port][/path]", location)
	}
	return nil
}

// insecureHosts returns the hosts that may be asked without TLS or with any certificate.
func (c *registriesConf) insecureHosts() map[string]bool {
	hosts := map[string]bool{}
	for _, r := range c.Registries {
		if r.Insecure && r.Location != "" {
			hosts[hostOf(r.Location)] = true
		}
		for _, m := range r.Mirrors {
			if m.Insecure {
				hosts[hostOf(m.Location)] = true
			}
		}
	}
	return hosts
}

// names reports whether the file names a host and port as a location of images.
func (c *registriesConf) names(host string) bool {
	return slices.ContainsFunc(c.Registries, func(r mirrored) bool {
		return r.Location != "" && isAt(host, hostOf(r.Location)) ||
			slices.ContainsFunc(r.Mirrors, func(m location) bool { return isAt(host, hostOf(m.Location)) })
	})
}

func hostOf(location string) string {
	host, _, _ := strings.Cut(location, "/")
	if host == "docker.io" {
		return name.DefaultRegistry
	}
	return host
}

// sources returns the locations of a repository in order: the mirrors of the longest matching prefix, then its
// own location. Without an identifier it returns only the latter.
func (c *registriesConf) sources(repo name.Repository, identifier string) ([]name.Repository, error) {
	full := strings.Replace(repo.Name(), name.DefaultRegistry+"/", "docker.io/", 1)
	var best *mirrored
	var rest string
	for i := range c.Registries {
		r := &c.Registries[i]
		after, ok := cutPrefix(full, r.Prefix)
		if ok && (best == nil || len(r.Prefix) > len(best.Prefix)) {
			best, rest = r, after
		}
	}
	if best == nil {
		return []name.Repository{repo}, nil
	}
	if best.Blocked {
		return nil, errBlocked{best.Prefix}
	}
	var sources []name.Repository
	for _, m := range best.Mirrors {
		if identifier != "" && m.serves(identifier, best.MirrorByDigestOnly) {
			at, err := name.NewRepository(m.Location + rest)
			if err != nil {
				return nil, err
			}
			sources = append(sources, at)
		}
	}
	if best.Location != "" {
		var err error
		if repo, err = name.NewRepository(best.Location + rest); err != nil {
			return nil, err
		}
	}
	return append(sources, repo), nil
}

func (m location) serves(identifier string, digestsOnly bool) bool {
	switch {
	case digestsOnly || m.PullFromMirror == "digest-only":
		return isDigest(identifier)
	case m.PullFromMirror == "tag-only":
		return !isDigest(identifier)
	}
	return true
}

// cutPrefix returns the part of a repository's name after the prefix, starting with its slash.
func cutPrefix(repository, prefix string) (rest string, ok bool) {
	if suffix, wild := strings.CutPrefix(prefix, "*"); wild {
		host, _, _ := strings.Cut(repository, "/")
		bare, _, _ := strings.Cut(host, ":")
		return repository[len(host):], strings.HasSuffix(bare, suffix)
	}
	rest, ok = strings.CutPrefix(repository, prefix)
	return rest, ok && (rest == "" || rest[0] == '/')
}

type errBlocked struct{ prefix string }

func (e errBlocked) Error() string { return "the registries configuration blocks " + e.prefix }
