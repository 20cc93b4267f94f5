package event

import "strings"

// GitHub's events of a workflow with inputs: one that a person starts, and a reusable one.
const (
	WorkflowDispatch FormName = "workflow_dispatch"
	WorkflowCall     FormName = "workflow_call"
)

var workflowDispatch = Form{Name: WorkflowDispatch, GitHub: true, Read: readInputs, Detect: func(n Node) bool {
	_, ok := n.object()["inputs"]
	return ok
}}

// workflowCall is known by its name only.
var workflowCall = Form{Name: WorkflowCall, GitHub: true, Read: readInputs, Detect: func(Node) bool { return false }}

// readInputs reads what a workflow was started with. image, digest, name, package, version and
// channels are those of a Payload; other inputs are the workflow's own, and are left to it.
// GitHub sends all of them as text, and those left out as empty.
func readInputs(n Node) {
	in := n
	if body, ok := n.value.(map[string]any); ok {
		if _, ok := body["inputs"]; ok {
			in = n.Get("inputs")
		}
	}
	n.r.named = true
	n.Found(claimed(func(key string) Node {
		input := in.Get(key)
		if s, ok := input.value.(string); ok {
			input.value = strings.TrimSpace(s) // a person typed it
		}
		return input
	}))
}
