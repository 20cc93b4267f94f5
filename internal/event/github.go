package event

import (
	"strings"

	"github.com/olmgraft/graft/internal/reference"
)

// GitHub's events of ghcr.io, by the older and the newer name.
const (
	RegistryPackage FormName = "registry_package"
	Package         FormName = "package"
)

var registryPackage = Form{
	Name: RegistryPackage, GitHub: true, Sender: "github", Proofs: []Proof{BySignature}, Setup: githubSetup,
	Detect: func(n Node) bool { return n.Has(string(RegistryPackage)) },
	Read:   func(n Node) { githubPackage(n, n.Get(string(RegistryPackage))) },
}

var newPackage = Form{
	Name: Package, GitHub: true, Sender: "github", Proofs: []Proof{BySignature}, Setup: githubSetup,
	Detect: func(n Node) bool {
		_, ok := n.object()[string(Package)].(map[string]any)
		return ok
	},
	Read: func(n Node) { githubPackage(n, n.Get(string(Package))) },
}

const githubSetup = "Organization or repository, Settings, Webhooks: `https://RELAY/github`, content type `application/json`, Secret `SECRET`, events *Packages* or *Registry packages*"

// githubPackage reads an event of GitHub's package registry. GitHub sends one event for each manifest, so that it
// announces an image for two platforms three times. An event names at most one tag, which can be any of several
// pushed together. Some of GitHub's examples give an image the type of another kind; its metadata identifies it.
func githubPackage(n, pkg Node) {
	action, kind := n.Get("action").Must(), pkg.Get("package_type").Must()
	version := pkg.Get("package_version")
	metadata := version.Get("container_metadata")
	if !strings.EqualFold(kind, "container") && metadata.value == nil {
		n.Skip(Publication{}, "a package of type %s is not an image", quote(kind))
		return
	}
	p := Publication{
		Repository: githubRepository(pkg),
		Tag:        metadata.Get("tag").Get("name").Tag(),
		Digest:     githubDigest(version),
	}
	if p.Tag == "" && p.Digest == "" {
		version.Fail("names neither a tag nor a digest")
	}
	switch action {
	case "published", "updated":
		n.Found(p)
	default:
		n.Skip(p, "the action %s publishes nothing", quote(action))
	}
}

// githubRepository returns the repository in lower case, as GitHub writes every owner. Only the package's URL
// names the registry of an enterprise server.
func githubRepository(pkg Node) string {
	owner, _, _ := strings.Cut(pkg.Get("namespace").Text(), "/")
	if login := pkg.Get("owner").Get("login").Text(); login != "" {
		owner = login
	}
	name := pkg.Get("name")
	path := strings.ToLower(owner + "/" + name.Must())
	host, _, ok := reference.CutRegistry(pkg.Get("package_version").Get("package_url").Text())
	if !ok {
		host = "ghcr.io"
	}
	repository, err := joinRepository(host, path)
	if err != nil {
		name.Fail("%v", err)
	}
	return repository
}

// githubDigest returns the digest of an image. It is the version of the package; the metadata repeats it.
func githubDigest(version Node) string {
	for _, key := range []string{"version", "name"} {
		if n := version.Get(key); strings.Contains(n.Text(), ":") {
			return n.Digest()
		}
	}
	metadata := version.Get("container_metadata")
	if digest := metadata.Get("tag").Get("digest").Digest(); digest != "" {
		return digest
	}
	return metadata.Get("manifest").Get("digest").Digest()
}
