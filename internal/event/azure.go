package event

import (
	"encoding/json"
	"strings"
)

// Azure is a webhook of Azure's registry, or an event of Event Grid in either schema.
const Azure FormName = "azure"

var azure = Form{
	Name: Azure, Proofs: []Proof{ByHeader, ByURL},
	Setup: "Registry, Webhooks, Add: Service URI `https://RELAY/azure`, custom header `Authorization: Bearer SECRET`, action *push*. Event Grid instead: `proof: url` and `https://RELAY/azure?token=SECRET`. The relay answers its handshakes in both schemas",
	Time:  [][]string{{"timestamp"}, {"eventTime"}, {"time"}},
	Detect: func(n Node) bool {
		if list, ok := n.value.([]any); ok {
			return len(list) > 0
		}
		return n.Has("eventType") || strings.HasPrefix(n.Says("type"), azureEvents) || strings.HasPrefix(n.Says("type"), eventGridEvents) ||
			n.Has("action", "target", "request") || n.Says("action") == "ping" && n.Has("timestamp")
	},
	Read:      readAzure,
	Handshake: eventGridHandshake,
}

const (
	azureEvents     = "Microsoft.ContainerRegistry."
	eventGridEvents = "Microsoft.EventGrid."
)

// readAzure reads a webhook, or a message of Event Grid: one event or a list, in its own schema or as
// CloudEvents. It skips the handshake of Event Grid.
func readAzure(n Node) {
	if _, ok := n.value.([]any); ok {
		for _, e := range n.Items() {
			azureEvent(e)
		}
		return
	}
	azureEvent(n)
}

func azureEvent(n Node) {
	kind := n.Get("eventType").Text()
	if kind == "" {
		kind = n.Get("type").Text()
	}
	switch kind {
	case "":
		push(n)
	case azureEvents + "ImagePushed", "ImagePushed":
		push(n.Get("data"))
	default:
		n.Skip(Publication{}, "the event %s is not a push", quote(kind))
	}
}

// eventGridHandshake returns the response that Event Grid requires before it sends events.
func eventGridHandshake(body []byte) string {
	var events []struct {
		Type string `json:"eventType"`
		Data struct {
			Code string `json:"validationCode"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &events) != nil || len(events) != 1 || events[0].Type != eventGridEvents+"SubscriptionValidationEvent" {
		return ""
	}
	return events[0].Data.Code
}
