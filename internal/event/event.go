// Package event reads what registries and GitHub send into what was published.
//
// An event is data of a stranger until it has passed here: what comes out names images by
// the grammar of the OCI distribution specification, lower case, bounded, and nothing else
// of the event comes out. Whether an image is wanted is decided by Check, whether it is
// what it claims to be by whoever pulls it.
package event

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
)

// Form is how an event is written.
type Form string

// The forms. Each is told from its body by ParseAny.
const (
	RepositoryDispatch Form = "repository_dispatch" // GitHub's, around a ClientPayload or a registry's own body
	WorkflowDispatch   Form = "workflow_dispatch"   // GitHub's, with inputs
	WorkflowCall       Form = "workflow_call"       // the inputs of a reusable workflow
	RegistryPackage    Form = "registry_package"    // GitHub's, of ghcr.io
	Package            Form = "package"             // the same by its newer name
	ClientPayload      Form = "client_payload"      // Graft's own, see Payload
	Quay               Form = "quay"                // a repository push
	DockerHub          Form = "docker-hub"          // a webhook
	Harbor             Form = "harbor"              // PUSH_ARTIFACT, plain or as a CloudEvent
	Distribution       Form = "distribution"        // the envelope of the distribution project's registry
	Azure              Form = "azure"               // a webhook, or Event Grid in either schema
	Google             Form = "google"              // Artifact Registry over Pub/Sub, wrapped or not
)

// Forms are all forms.
var Forms = []Form{
	RepositoryDispatch, WorkflowDispatch, WorkflowCall, RegistryPackage, Package, ClientPayload,
	Quay, DockerHub, Harbor, Distribution, Azure, Google,
}

// Publication is one image that was published.
type Publication struct {
	Repository string // host and path: quay.io/x/y, docker.io/library/z
	Tag        string // may be empty where Digest is not
	Digest     string // empty where the registry does not say it
	Source     Form   // who announced it
	ID         string // the sender's name for this announcement, where it has one
	Said       Said
}

// Said is what a sender says of a bundle beyond where it is. Only Graft's own payload and
// inputs say it. It is a claim, to be held against the bundle itself.
type Said struct {
	Name, Package, Version string
	Channels               []string
}

// Reference is what to pull: by digest where that is known, by tag otherwise.
func (p Publication) Reference() string {
	if p.Digest != "" {
		return p.Repository + "@" + p.Digest
	}
	return p.Repository + ":" + p.Tag
}

// Image is all that is known: repository, tag and digest.
func (p Publication) Image() string {
	image := p.Repository
	if p.Tag != "" {
		image += ":" + p.Tag
	}
	if p.Digest != "" {
		image += "@" + p.Digest
	}
	return image
}

// Skipped is a part of an event that announces no bundle. Of its Publication only as much
// is known as the event says: of a pull or a ping, perhaps nothing.
type Skipped struct {
	Publication Publication
	Reason      string
}

// Announcement is what one event says. GitHub's ping has no form.
type Announcement struct {
	Form         Form
	Publications []Publication
	Skipped      []Skipped
}

// Parse reads an event of a named form. Tags that match one of skipTags are skipped; nil
// stands for DefaultSkipTags. An event that announces nothing, such as a pull, is no
// failure; one that is malformed in any part is one failure and announces nothing.
func Parse(form Form, body []byte, skipTags []string) (Announcement, error) {
	root, err := decode(form, body)
	if err != nil {
		return Announcement{}, err
	}
	return root.announcement(form, skipTags)
}

// ParseAny reads an event of any form: by the name of GitHub's event where one is given,
// by the body otherwise. Else it is Parse. GitHub gives a reusable workflow the event of its
// caller: its inputs are read under the name workflow_call.
func ParseAny(githubEvent string, body []byte, skipTags []string) (Announcement, error) {
	root, err := decode("", body)
	if err != nil {
		return Announcement{}, err
	}
	switch form := Form(githubEvent); form {
	case "":
		form, ok := detect(root)
		if !ok {
			root.fail("is of no form that Graft knows")
			return Announcement{}, root.r.err
		}
		return root.announcement(form, skipTags)
	case RepositoryDispatch, WorkflowDispatch, WorkflowCall, RegistryPackage, Package:
		return root.announcement(form, skipTags)
	case "ping":
		return Announcement{Skipped: []Skipped{{Reason: "a ping announces nothing"}}}, nil
	}
	return Announcement{}, failure.New(failure.Usage, "reading the GitHub event: %s announces no image", quote(githubEvent)).
		Fix("start the workflow on repository_dispatch, workflow_dispatch, registry_package or package, or name the image as an input")
}

func (n node) announcement(form Form, skipTags []string) (Announcement, error) {
	n.r.form = form
	n.read(form)
	if n.r.err != nil {
		return Announcement{}, n.r.err
	}
	a := Announcement{Form: form, Skipped: n.r.skipped}
	for _, p := range n.r.merged() {
		if reason := SkipReason(p.Tag, skipTags); reason != "" && (p.Tag != "" || !n.r.named) {
			a.Skipped = append(a.Skipped, Skipped{p, reason})
			continue
		}
		a.Publications = append(a.Publications, p)
	}
	a.Skipped = slices.Concat(a.Skipped, n.r.moved)
	return a, nil
}

func (n node) read(form Form) {
	switch form {
	case RepositoryDispatch:
		repositoryDispatch(n)
	case WorkflowDispatch, WorkflowCall:
		inputs(n)
	case RegistryPackage:
		githubPackage(n, n.get("registry_package"))
	case Package:
		githubPackage(n, n.get("package"))
	case ClientPayload:
		clientPayload(n)
	case Quay:
		quay(n)
	case DockerHub:
		dockerHub(n)
	case Harbor:
		harbor(n)
	case Distribution:
		distribution(n)
	case Azure:
		azure(n)
	case Google:
		google(n)
	default:
		n.fail("there is no form of this name")
	}
}

// found takes a publication. Its source is the form being read, unless it says another.
func (n node) found(p Publication) {
	if n.r.err != nil {
		return
	}
	if len(n.r.published) == maxPublications {
		n.fail("announces more than %d images", maxPublications)
		return
	}
	if p.Source == "" {
		p.Source = n.r.form
	}
	n.r.published = append(n.r.published, p)
}

// skip takes a part of the event that announces no bundle. Equal ones are told once.
func (n node) skip(p Publication, format string, args ...any) {
	p.Source = n.r.form
	s := Skipped{p, fmt.Sprintf(format, args...)}
	if key := p.Image() + " " + s.Reason; !n.r.told[key] {
		n.r.told[key] = true
		n.r.skipped = append(n.r.skipped, s)
	}
}

// merged are the publications without doubles.
//
//  1. Mentions of one tag are one; the digest is the one that any of them says.
//  2. Where they say different digests the tag was moved, and the last has it.
//  3. A digest without a tag is the mention of the same digest with a tag.
func (r *reader) merged() []Publication {
	var out []Publication
	at := map[string]int{}
	tagged := map[string]bool{}
	for _, p := range r.published {
		key := p.Repository + ":" + p.Tag
		if p.Tag == "" {
			key = p.Reference()
		}
		i, ok := at[key]
		if !ok {
			at[key] = len(out)
			out = append(out, p)
			continue
		}
		if known := out[i]; p.Digest != "" && known.Digest != p.Digest {
			if known.Digest != "" {
				r.moved = append(r.moved, Skipped{known, "its tag went on to " + p.Digest + " in the same event"})
			}
			out[i].Digest = p.Digest
		}
	}
	for _, p := range out {
		if p.Tag != "" && p.Digest != "" {
			tagged[p.Reference()] = true
		}
	}
	return slices.DeleteFunc(out, func(p Publication) bool { return p.Tag == "" && tagged[p.Reference()] })
}

// detect tells the form from the body. Each form has a property that no other has; ours
// comes first, for an image may stand beside anything.
func detect(n node) (Form, bool) {
	if list, ok := n.value.([]any); ok {
		return Azure, len(list) > 0
	}
	body, ok := n.value.(map[string]any)
	if !ok {
		return "", false
	}
	has := func(keys ...string) bool {
		return !slices.ContainsFunc(keys, func(k string) bool { return body[k] == nil })
	}
	text := func(key string) string { s, _ := body[key].(string); return s }
	_, aboutPackage := body["package"].(map[string]any)
	_, listed := body["events"].([]any)
	_, hasInputs := body["inputs"]
	switch {
	case has("client_payload"):
		return RepositoryDispatch, true
	case has("image") || has("schemaVersion"):
		return ClientPayload, true
	case has("registry_package"):
		return RegistryPackage, true
	case aboutPackage:
		return Package, true
	case hasInputs:
		return WorkflowDispatch, true
	case has("docker_url"):
		return Quay, true
	case has("push_data"):
		return DockerHub, true
	case has("event_data"), has("type", "occur_at"), strings.HasPrefix(text("type"), harborEvents):
		return Harbor, true
	case listed:
		return Distribution, true
	case has("eventType"), strings.HasPrefix(text("type"), azureEvents), strings.HasPrefix(text("type"), eventGridEvents),
		has("action", "target", "request"), text("action") == "ping" && has("timestamp"):
		return Azure, true
	case has("message"), text("type") == pubsubEvent, has("action") && (has("digest") || has("tag")):
		return Google, true
	}
	return "", false
}
