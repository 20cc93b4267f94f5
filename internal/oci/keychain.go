package oci

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"github.com/olmgraft/graft/internal/failure"
)

// credentials for one repository. The zero credentials are anonymous.
type credentials struct {
	config  authn.AuthConfig
	from    string // for messages: a file or a variable, never a secret
	implied bool   // not configured for registries
}

// keychain finds credentials in the places of docker and podman.
type keychain struct {
	auth   string // given in place of a file
	token  string // for GitHub's container registry
	getenv func(string) string
	home   string
	uid    int

	once  sync.Once
	files []*authFile
	err   error
	asked shared[authn.AuthConfig] // credential helpers, each asked once for a registry
}

func systemKeychain(o Options) *keychain {
	home, _ := os.UserHomeDir()
	return &keychain{auth: o.Auth, token: o.GitHubToken, getenv: os.Getenv, home: home, uid: os.Getuid(), asked: shared[authn.AuthConfig]{keep: true}}
}

// resolve checks the given credentials and then the files in order. The first file that knows the repository
// wins. Within a file, a helper for the registry comes first, then the longest prefix of the repository, then
// the store for all registries. The workflow's GITHUB_TOKEN comes last, for its GitHub's container registry.
func (k *keychain) resolve(ctx context.Context, repo name.Repository) (credentials, error) {
	k.once.Do(k.load)
	if k.err != nil {
		return credentials{}, k.err
	}
	for _, file := range k.files {
		found, err := k.find(ctx, file, repo)
		if err != nil || found != (authn.AuthConfig{}) {
			return credentials{config: found, from: file.path}, err
		}
	}
	if token := cmp.Or(k.token, k.getenv("GITHUB_TOKEN")); token != "" && repo.RegistryStr() == containerRegistry(k.getenv("GITHUB_SERVER_URL")) {
		user := cmp.Or(k.getenv("GITHUB_ACTOR"), "github-actions")
		return credentials{authn.AuthConfig{Username: user, Password: token}, "GITHUB_TOKEN", true}, nil
	}
	return credentials{}, nil
}

// containerRegistry returns the container registry of the GitHub at this address, the only one that gets its
// tokens: ghcr.io, or containers.HOST of an Enterprise Server.
func containerRegistry(server string) string {
	u, err := url.Parse(cmp.Or(server, "https://github.com"))
	switch {
	case err != nil || u.Host == "":
		return ""
	case u.Host == "github.com":
		return "ghcr.io"
	}
	return "containers." + u.Host
}

// load reads the existing files. It skips a broken file in a default place, so that public images can still be
// read. It fails for a broken file that a variable names.
func (k *keychain) load() {
	if k.auth != "" {
		file, err := parseAuthFile("the credentials given", []byte(k.auth))
		if err != nil {
			k.err = failure.New(failure.RegistryAuth, "reading the credentials given: %w", err).Fix("Give the credentials as docker login writes them to config.json.")
			return
		}
		k.files = append(k.files, file)
	}
	for _, place := range k.places() {
		var file *authFile
		text, err := os.ReadFile(place.path)
		if err == nil {
			file, err = parseAuthFile(place.path, text)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil && place.variable != "":
			k.err = failure.New(failure.RegistryAuth, "reading %s, which %s names: %w", place.path, place.variable, err).
				Fix("Correct the file, write it again with podman login or docker login, or unset %s.", place.variable)
			return
		case err == nil:
			k.files = append(k.files, file)
		}
	}
}

type authPlace struct{ path, variable string }

func (k *keychain) places() []authPlace {
	var places []authPlace
	if path := k.getenv("REGISTRY_AUTH_FILE"); path != "" {
		places = append(places, authPlace{path, "REGISTRY_AUTH_FILE"})
	}
	docker := k.getenv("DOCKER_CONFIG")
	if docker != "" {
		places = append(places, authPlace{filepath.Join(docker, "config.json"), "DOCKER_CONFIG"})
	}
	runtime := filepath.Join("/run/containers", strconv.Itoa(k.uid))
	if dir := k.getenv("XDG_RUNTIME_DIR"); dir != "" {
		runtime = filepath.Join(dir, "containers")
	}
	config := cmp.Or(k.getenv("XDG_CONFIG_HOME"), filepath.Join(k.home, ".config"))
	places = append(places, authPlace{path: filepath.Join(runtime, "auth.json")}, authPlace{path: filepath.Join(config, "containers", "auth.json")})
	if docker == "" {
		places = append(places, authPlace{path: filepath.Join(k.home, ".docker", "config.json")})
	}
	return places
}

// authFile is podman's auth.json or docker's config.json.
type authFile struct {
	path    string
	auths   map[string]authn.AuthConfig // by normalized key
	helpers map[string]string
	store   string
}

// parseAuthFile returns errors that give the place of a mistake and nothing of the content.
func parseAuthFile(path string, data []byte) (*authFile, error) {
	var content struct {
		Auths       map[string]json.RawMessage `json:"auths"`
		CredHelpers map[string]string          `json:"credHelpers"`
		CredsStore  string                     `json:"credsStore"`
	}
	if err := json.Unmarshal(data, &content); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("not valid JSON at byte %d", syntax.Offset)
		}
		return nil, errors.New("not a file of credentials")
	}
	file := &authFile{path: path, auths: map[string]authn.AuthConfig{}, helpers: map[string]string{}, store: content.CredsStore}
	for key, helper := range content.CredHelpers {
		file.helpers[normalKey(key)] = helper
	}
	for key, a := range content.Auths {
		var config authn.AuthConfig
		if err := json.Unmarshal(a, &config); err != nil {
			return nil, fmt.Errorf("auths, %s: %w", key, err)
		}
		config.Auth, config.Password = "", strings.Trim(config.Password, "\x00")
		// A key that is the registry's name takes precedence over a key that is its address.
		if _, taken := file.auths[normalKey(key)]; !taken || normalKey(key) == key {
			file.auths[normalKey(key)] = config
		}
	}
	return file, nil
}

// normalKey converts the spellings of a registry to one. Keys may name a namespace or a repository; addresses
// name registries only.
func normalKey(key string) string {
	plain := strings.TrimPrefix(strings.TrimPrefix(key, "https://"), "http://")
	if plain != key {
		plain, _, _ = strings.Cut(plain, "/")
	}
	host, rest, nested := strings.Cut(plain, "/")
	if host == "docker.io" || host == "registry-1.docker.io" {
		host = name.DefaultRegistry
	}
	if nested {
		return host + "/" + rest
	}
	return host
}

func (k *keychain) find(ctx context.Context, f *authFile, repo name.Repository) (authn.AuthConfig, error) {
	registry := repo.RegistryStr()
	ask := func(helper string) (authn.AuthConfig, error) {
		return k.asked.do(ctx, helper+" "+registry, func() (authn.AuthConfig, error) { return askHelper(ctx, helper, registry) })
	}
	if helper, ok := f.helpers[registry]; ok {
		return ask(helper)
	}
	for key := repo.Name(); ; {
		if config := f.auths[key]; config != (authn.AuthConfig{}) {
			return config, nil
		}
		cut := strings.LastIndexByte(key, '/')
		if cut < 0 {
			break
		}
		key = key[:cut]
	}
	if f.store != "" {
		return ask(f.store)
	}
	return authn.AuthConfig{}, nil
}
