package event

import "strings"

// GitHub's events of workflows with inputs: started by a person, or called by another workflow.
const (
	WorkflowDispatch FormName = "workflow_dispatch"
	WorkflowCall     FormName = "workflow_call"
)

var workflowDispatch = Form{Name: WorkflowDispatch, GitHub: true, Read: readInputs, Detect: func(n Node) bool {
	_, ok := n.object()["inputs"]
	return ok
}}

// workflowCall is detected by its name only.
var workflowCall = Form{Name: WorkflowCall, GitHub: true, Read: readInputs, Detect: func(Node) bool { return false }}

// readInputs reads the inputs of a workflow. image, digest, name, package, version and channels mean the same as
// in a Payload; other inputs belong to the workflow. GitHub sends every input as text, and omitted ones as "".
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
