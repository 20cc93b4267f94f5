package event

import (
	"maps"
	"slices"
	"strings"
)

// Quay is a repository push of Quay.
const Quay FormName = "quay"

var quay = Form{
	Name: Quay, Proofs: []Proof{ByURL},
	Setup:  "Repository, Settings, Events and Notifications, Create Notification: *Push to Repository*, *Webhook POST*, URL `https://RELAY/quay/SECRET`, or `https://graft:SECRET@RELAY/quay`",
	Detect: func(n Node) bool { return n.Has("docker_url") }, Read: readQuay,
}

// readQuay reads a repository push. It names every pushed tag but no digest. Older releases send the tags as the
// keys of an object, whose values are not digests.
func readQuay(n Node) {
	address := n.Get("docker_url")
	host, path, _ := strings.Cut(address.Must(), "/")
	repository, err := joinRepository(host, path)
	if err != nil {
		address.Fail("%v", err)
		return
	}
	p := Publication{Repository: repository}
	tags := n.Get("updated_tags")
	if tags.value == nil {
		n.Skip(p, "it is not a push to a repository")
		return
	}
	if old, ok := tags.value.(map[string]any); ok {
		list := []any{}
		for _, tag := range slices.Sorted(maps.Keys(old)) {
			list = append(list, tag)
		}
		tags.value = list
	}
	for _, tag := range tags.Items() {
		tag.Must()
		p.Tag = tag.Tag()
		n.Found(p)
	}
}
