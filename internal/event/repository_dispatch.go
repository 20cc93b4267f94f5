package event

// RepositoryDispatch is GitHub's event with a ClientPayload, or with a registry's own body.
const RepositoryDispatch FormName = "repository_dispatch"

var repositoryDispatch = Form{
	Name: RepositoryDispatch, GitHub: true, Detect: func(n Node) bool { return n.Has("client_payload") }, Read: readRepositoryDispatch,
}

// readRepositoryDispatch reads the content of client_payload: Graft's own form, or a registry's unchanged body.
func readRepositoryDispatch(n Node) {
	payload := n.Get("client_payload")
	form, ok := detect(payload)
	if !ok || form.Name == RepositoryDispatch || form.Name == WorkflowDispatch {
		payload.Fail("names no image, and is of no registry that Graft knows")
		return
	}
	payload.readAs(form.Name)
}
