package event

import "slices"

// Distribution is the envelope of the distribution project's registry.
const Distribution FormName = "distribution"

var distribution = Form{
	Name: Distribution, Proofs: []Proof{ByHeader, ByURL},
	Setup: "`notifications.endpoints` of its configuration: `url: https://RELAY/distribution`, `headers: {Authorization: [Bearer SECRET]}` ([example](../deploy/compose/registry.yaml))",
	Time:  [][]string{{"timestamp"}},
	Detect: func(n Node) bool {
		_, ok := n.object()["events"].([]any)
		return ok
	},
	Read: readDistribution,
}

// readDistribution reads the envelope of the distribution project's registry and of its descendants. The envelope
// reports every action in the registry.
func readDistribution(n Node) {
	for _, e := range n.Get("events").Items() {
		push(e)
	}
}

// manifests are the media types that can be pulled as an image.
var manifests = []string{
	"application/vnd.oci.image.manifest.v1+json",
	"application/vnd.oci.image.index.v1+json",
	"application/vnd.docker.distribution.manifest.v2+json",
	"application/vnd.docker.distribution.manifest.list.v2+json",
}

// push reads an event in distribution's form, which Azure also uses: one action on one target. It skips pulls,
// mounts, deletions and blobs.
func push(n Node) {
	action, target := n.Get("action").Must(), n.Get("target")
	if action != "push" {
		n.Skip(Publication{}, "the action %s publishes nothing", quote(action))
		return
	}
	media := target.Get("mediaType").Text()
	if media != "" && !slices.Contains(manifests, media) {
		n.Skip(Publication{}, "%s is not an image", quote(media))
		return
	}
	p := Publication{
		Repository: pushedTo(n),
		Tag:        target.Get("tag").Tag(),
		Digest:     target.Get("digest").Digest(),
	}
	if p.Tag == "" && p.Digest == "" {
		target.Fail("names neither a tag nor a digest")
	}
	n.Found(p)
}

// pushedTo returns the repository under the host name that the client used. Behind a proxy that name can be
// internal; then the manifest's URL may have a better one.
func pushedTo(n Node) string {
	path, host := n.Get("target").Get("repository"), n.Get("request").Get("host")
	repository, err := joinRepository(host.Text(), path.Must())
	if err == nil {
		return repository
	}
	address := n.Get("target").Get("url").Text()
	if repository, err := joinRepository(hostOf(address), path.Text()); err == nil {
		return repository
	}
	host.Fail("%v", err)
	return ""
}
