package event

import "strings"

// Harbor is the event PUSH_ARTIFACT, plain or as a CloudEvent.
const Harbor FormName = "harbor"

var harbor = Form{
	Name: Harbor, Proofs: []Proof{ByHeader, ByURL},
	Setup: "Project, Webhooks, New Webhook: *http*, either payload format, *Artifact pushed*, endpoint `https://RELAY/harbor`, Auth Header `SECRET`",
	Time:  [][]string{{"time"}, {"occur_at"}},
	Detect: func(n Node) bool {
		return n.Has("event_data") || n.Has("type", "occur_at") || strings.HasPrefix(n.Says("type"), harborEvents)
	},
	Read: readHarbor,
}

const harborEvents = "harbor."

// readHarbor reads an event of Harbor in its own form, or as a CloudEvent with the same data.
func readHarbor(n Node) {
	kind, data := n.Get("type").Must(), n.Get("event_data")
	pushed := kind == "PUSH_ARTIFACT"
	if n.Get("specversion").value != nil {
		data, pushed = n.Get("data"), kind == harborEvents+"artifact.pushed"
	}
	if !pushed {
		n.Skip(Publication{}, "the event %s is not a push", quote(kind))
		return
	}
	resources := data.Get("resources")
	if len(resources.Items()) == 0 {
		resources.Fail("is missing")
	}
	for _, resource := range resources.Items() {
		harborResource(resource)
	}
}

// harborResource reads an image. For a push without a tag, Harbor sends the digest as the tag.
func harborResource(n Node) {
	p := n.Get("resource_url").Image()
	tag, digest := n.Get("tag"), n.Get("digest")
	if strings.Contains(tag.Text(), ":") {
		p.Digest = tag.Agrees(p.Digest, tag.Digest())
	} else {
		p.Tag = tag.Agrees(p.Tag, tag.Tag())
	}
	p.Digest = digest.Agrees(p.Digest, digest.Digest())
	n.Found(p)
}
