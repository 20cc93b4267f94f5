package event

import "strings"

// repositoryDispatch reads what stands in client_payload: Graft's own form, or a registry's
// body as it came.
func repositoryDispatch(n node) {
	payload := n.get("client_payload")
	form, ok := detect(payload)
	if !ok || form == RepositoryDispatch || form == WorkflowDispatch {
		payload.fail("names no image, and is of no registry that Graft knows")
		return
	}
	payload.r.form = form
	payload.read(form)
}

// inputs reads what a workflow was started with. image, digest, name, package, version and
// channels are those of a Payload; other inputs are the workflow's own, and are left to it.
// GitHub sends all of them as text, and those left out as empty.
func inputs(n node) {
	in := n
	if body, ok := n.value.(map[string]any); ok {
		if _, ok := body["inputs"]; ok {
			in = n.get("inputs")
		}
	}
	n.r.named = true
	n.found(claimed(func(key string) node {
		input := in.get(key)
		if s, ok := input.value.(string); ok {
			input.value = strings.TrimSpace(s) // a person typed it
		}
		return input
	}))
}

// githubPackage reads an event of GitHub's package registry. It comes once for each
// manifest, so that an image for two platforms is announced three times, and names at most
// one tag. Of an image pushed under several tags at once it can name any of them. Examples
// of GitHub's give an image the type of another kind; its metadata tells.
func githubPackage(n, pkg node) {
	action, kind := n.get("action").must(), pkg.get("package_type").must()
	version := pkg.get("package_version")
	metadata := version.get("container_metadata")
	if !strings.EqualFold(kind, "container") && metadata.value == nil {
		n.skip(Publication{}, "a package of type %s is no image", quote(kind))
		return
	}
	p := Publication{
		Repository: githubRepository(pkg),
		Tag:        metadata.get("tag").get("name").tag(),
		Digest:     githubDigest(version),
	}
	if p.Tag == "" && p.Digest == "" {
		version.fail("names neither a tag nor a digest")
	}
	switch action {
	case "published", "updated":
		n.found(p)
	default:
		n.skip(p, "the action %s publishes nothing", quote(action))
	}
}

// githubRepository is in lower case, which GitHub makes of any owner. The registry of an
// enterprise server is known by the URL of the package only.
func githubRepository(pkg node) string {
	owner, _, _ := strings.Cut(pkg.get("namespace").text(), "/")
	if login := pkg.get("owner").get("login").text(); login != "" {
		owner = login
	}
	name := pkg.get("name")
	path := strings.ToLower(owner + "/" + name.must())
	host, _, ok := cutRegistry(pkg.get("package_version").get("package_url").text())
	if !ok {
		host = "ghcr.io"
	}
	repository, err := joinRepository(host, path)
	if err != nil {
		name.fail("%v", err)
	}
	return repository
}

// githubDigest is the version of a package, which for an image is its digest; the metadata
// repeats it.
func githubDigest(version node) string {
	for _, key := range []string{"version", "name"} {
		if n := version.get(key); strings.Contains(n.text(), ":") {
			return n.digest()
		}
	}
	metadata := version.get("container_metadata")
	if digest := metadata.get("tag").get("digest").digest(); digest != "" {
		return digest
	}
	return metadata.get("manifest").get("digest").digest()
}
