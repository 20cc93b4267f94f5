package event

import "encoding/base64"

// Google is Artifact Registry over Pub/Sub, wrapped or not.
const Google FormName = "google"

var google = Form{
	Name: Google, Proofs: []Proof{ByGoogle, ByURL},
	Setup: "A push subscription to the topic `gcr` with endpoint `https://RELAY/google` and authentication on: its service account is `account`, its audience is `audience`. With `proof: url` the endpoint is `https://RELAY/google?token=SECRET`",
	Time:  [][]string{{"time"}, {"message", "publishTime"}, {"message", "publish_time"}},
	Detect: func(n Node) bool {
		return n.Has("message") || n.Says("type") == pubsubEvent || n.Has("action") && (n.Has("digest") || n.Has("tag"))
	},
	Read: readGoogle,
}

const pubsubEvent = "google.cloud.pubsub.topic.v1.messagePublished"

// readGoogle reads a notification of Artifact Registry: as pushed by Pub/Sub, as a CloudEvent of the same
// content, or the bare message. A push is announced by digest first, and again for each tag.
func readGoogle(n Node) {
	if n.Get("type").Text() == pubsubEvent {
		n = n.Get("data")
	}
	if message := n.Get("message"); message.value != nil {
		n = unwrapped(message.Get("data"))
	}
	action, tag, digest := n.Get("action").Must(), n.Get("tag"), n.Get("digest")
	if action != "INSERT" {
		n.Skip(Publication{}, "the action %s publishes nothing", quote(action))
		return
	}
	var p Publication
	if tag.value != nil {
		if p = tag.Image(); p.Tag == "" {
			tag.Fail("names no tag")
		}
	}
	if digest.value != nil || tag.value == nil {
		image := digest.Image()
		if image.Digest == "" {
			digest.Fail("names no digest")
		}
		p.Repository = digest.Agrees(p.Repository, image.Repository)
		p.Digest = digest.Agrees(p.Digest, image.Digest)
	}
	n.Found(p)
}

// unwrapped returns the document in the message's data, at the same path.
func unwrapped(data Node) Node {
	body, err := base64.StdEncoding.DecodeString(data.Must())
	if err != nil {
		data.Fail("is not base64")
	}
	if data.r.err != nil {
		return Node{r: data.r, path: data.path}
	}
	return data.r.tree(data.path, body)
}
