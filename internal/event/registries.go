package event

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"
)

// quay reads a repository push. It names every tag that was pushed and no digest. Older
// releases give the tags as the keys of an object, whose values are no digests.
func quay(n node) {
	address := n.get("docker_url")
	host, path, _ := strings.Cut(address.must(), "/")
	repository, err := joinRepository(host, path)
	if err != nil {
		address.fail("%v", err)
		return
	}
	p := Publication{Repository: repository}
	tags := n.get("updated_tags")
	if tags.value == nil {
		n.skip(p, "it is no push to a repository")
		return
	}
	if old, ok := tags.value.(map[string]any); ok {
		list := []any{}
		for _, tag := range slices.Sorted(maps.Keys(old)) {
			list = append(list, tag)
		}
		tags.value = list
	}
	for _, tag := range tags.items() {
		tag.must()
		p.Tag = tag.tag()
		n.found(p)
	}
}

// dockerHub reads a webhook of Docker Hub. The repository is one of Docker Hub, even where
// its account has a dot, and the address to call back is not ours to call.
func dockerHub(n node) {
	name := n.get("repository").get("repo_name")
	repository, err := joinRepository(dockerHubHost, name.must())
	if err != nil {
		name.fail("%v", err)
	}
	tag := n.get("push_data").get("tag")
	tag.must()
	n.found(Publication{Repository: repository, Tag: tag.tag()})
}

const harborEvents = "harbor."

// harbor reads an event of Harbor in its own form, or as a CloudEvent with the same data.
func harbor(n node) {
	kind, data := n.get("type").must(), n.get("event_data")
	pushed := kind == "PUSH_ARTIFACT"
	if n.get("specversion").value != nil {
		data, pushed = n.get("data"), kind == harborEvents+"artifact.pushed"
	}
	if !pushed {
		n.skip(Publication{}, "the event %s is no push", quote(kind))
		return
	}
	resources := data.get("resources")
	if len(resources.items()) == 0 {
		resources.fail("is missing")
	}
	for _, resource := range resources.items() {
		harborResource(resource)
	}
}

// harborResource reads an image. What was pushed without a tag has its digest in the tag's
// place.
func harborResource(n node) {
	p := n.get("resource_url").image()
	tag, digest := n.get("tag"), n.get("digest")
	if strings.Contains(tag.text(), ":") {
		p.Digest = tag.agrees(p.Digest, tag.digest())
	} else {
		p.Tag = tag.agrees(p.Tag, tag.tag())
	}
	p.Digest = digest.agrees(p.Digest, digest.digest())
	n.found(p)
}

// distribution reads the envelope of the distribution project's registry, and of those that
// descend from it. It tells of everything that happens there.
func distribution(n node) {
	for _, e := range n.get("events").items() {
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

// push reads an event of distribution's form, which Azure has as well: one action on one
// target. Pulls, mounts, deletions and blobs are skipped.
func push(n node) {
	action, target := n.get("action").must(), n.get("target")
	if action != "push" {
		n.skip(Publication{}, "the action %s publishes nothing", quote(action))
		return
	}
	media := target.get("mediaType").text()
	if media != "" && !slices.Contains(manifests, media) {
		n.skip(Publication{}, "%s is no image", quote(media))
		return
	}
	p := Publication{
		Repository: pushedTo(n),
		Tag:        target.get("tag").tag(),
		Digest:     target.get("digest").digest(),
	}
	if p.Tag == "" && p.Digest == "" {
		target.fail("names neither a tag nor a digest")
	}
	n.found(p)
}

// pushedTo is the repository by the name under which the client knew the registry. Behind a
// proxy that can be an internal one; then the address of the manifest may know better.
func pushedTo(n node) string {
	path, host := n.get("target").get("repository"), n.get("request").get("host")
	repository, err := joinRepository(host.text(), path.must())
	if err == nil {
		return repository
	}
	address := n.get("target").get("url").text()
	if repository, err := joinRepository(hostOf(address), path.text()); err == nil {
		return repository
	}
	host.fail("%v", err)
	return ""
}

const (
	azureEvents     = "Microsoft.ContainerRegistry."
	eventGridEvents = "Microsoft.EventGrid."
)

// azure reads a webhook, or what Event Grid sends: one event or a list, in its own schema or
// as CloudEvents. The handshake of Event Grid is among what is skipped.
func azure(n node) {
	if _, ok := n.value.([]any); ok {
		for _, e := range n.items() {
			azureEvent(e)
		}
		return
	}
	azureEvent(n)
}

func azureEvent(n node) {
	kind := n.get("eventType").text()
	if kind == "" {
		kind = n.get("type").text()
	}
	switch kind {
	case "":
		push(n)
	case azureEvents + "ImagePushed", "ImagePushed":
		push(n.get("data"))
	default:
		n.skip(Publication{}, "the event %s is no push", quote(kind))
	}
}

const pubsubEvent = "google.cloud.pubsub.topic.v1.messagePublished"

// google reads a notification of Artifact Registry: as Pub/Sub pushes it, the same as a
// CloudEvent, or the bare message. A pushed image is announced by digest first, and again
// for each of its tags.
func google(n node) {
	if n.get("type").text() == pubsubEvent {
		n = n.get("data")
	}
	if message := n.get("message"); message.value != nil {
		n = unwrapped(message.get("data"))
	}
	action, tag, digest := n.get("action").must(), n.get("tag"), n.get("digest")
	if action != "INSERT" {
		n.skip(Publication{}, "the action %s publishes nothing", quote(action))
		return
	}
	var p Publication
	if tag.value != nil {
		if p = tag.image(); p.Tag == "" {
			tag.fail("names no tag")
		}
	}
	if digest.value != nil || tag.value == nil {
		image := digest.image()
		if image.Digest == "" {
			digest.fail("names no digest")
		}
		p.Repository = digest.agrees(p.Repository, image.Repository)
		p.Digest = digest.agrees(p.Digest, image.Digest)
	}
	n.found(p)
}

// unwrapped is the document in the message's data, at the same path.
func unwrapped(data node) node {
	body, err := base64.StdEncoding.DecodeString(data.must())
	if err != nil {
		data.fail("is no base64")
	}
	if data.r.err != nil {
		return node{r: data.r, path: data.path}
	}
	return data.r.tree(data.path, body)
}
