package event

import (
	"cmp"
	"slices"
	"strings"
)

// FormName is the name of a form of events.
type FormName string

// Form is one format of events, and describes how the relay receives it.
type Form struct {
	Name FormName
	// Detect reports whether a body has this form.
	Detect func(n Node) bool
	// Read adds the publications of a body, and records a fault if it is malformed.
	Read func(n Node)
	// GitHub reports whether it is GitHub's event with the form's name.
	GitHub bool

	// Proofs are the ways in which a sender can authenticate to the relay, the usual one first. The relay does
	// not accept forms without proofs.
	Proofs []Proof
	// Sender is the sender's name in a route of the relay; empty: the form's name.
	Sender string
	// Registry is the only registry whose images the form announces; empty: any.
	Registry string
	// Setup describes in Markdown where to configure address and secret in the registry.
	Setup string
	// Time lists the paths of keys that may hold the event's time. The first existing one counts.
	Time [][]string
	// Handshake returns the response that the sender requires before it sends events, or "" if the body is not a
	// handshake. It is nil if the sender requires none.
	Handshake func(body []byte) string
}

// Proof is a way in which a sender authenticates.
type Proof string

// The proofs.
const (
	ByURL       Proof = "url"       // the secret in the path or query, or as the password in the URL
	ByHeader    Proof = "header"    // the secret in Authorization: alone, as Bearer, or as the Basic password
	BySignature Proof = "signature" // GitHub's HMAC of the body
	ByGoogle    Proof = "google"    // a token that Google signed
)

// forms lists all forms in the order of detection. GitHub's and Graft's own come first, because an image may
// occur in any form.
var forms []Form

// An init function avoids a cycle, because some forms read others.
func init() {
	forms = []Form{
		repositoryDispatch, clientPayload, registryPackage, newPackage, workflowDispatch, workflowCall,
		quay, dockerHub, harbor, distribution, azure, google,
	}
}

// Register adds a form before the others until undo is called. Only tests use it.
func Register(f Form) (undo func()) {
	before := forms
	forms = append([]Form{f}, before...)
	return func() { forms = before }
}

// Forms returns all forms.
func Forms() []Form { return slices.Clone(forms) }

// Named returns the form with a name.
func Named(name FormName) (Form, bool) {
	i := slices.IndexFunc(forms, func(f Form) bool { return f.Name == name })
	if i < 0 {
		return Form{}, false
	}
	return forms[i], true
}

// FormsOf returns the forms in which a sender of the relay writes.
func FormsOf(sender string) []Form {
	return slices.DeleteFunc(Forms(), func(f Form) bool { return len(f.Proofs) == 0 || f.SenderName() != sender })
}

// SenderName returns the sender's name in a route of the relay.
func (f Form) SenderName() string { return cmp.Or(f.Sender, string(f.Name)) }

// Senders returns all names of senders in routes of the relay.
func Senders() []string {
	var all []string
	for _, f := range forms {
		if len(f.Proofs) > 0 && !slices.Contains(all, f.SenderName()) {
			all = append(all, f.SenderName())
		}
	}
	return all
}

// detect returns the form of a body. Each form has a property that no other form has.
func detect(n Node) (Form, bool) {
	i := slices.IndexFunc(forms, func(f Form) bool { return f.Detect(n) })
	if i < 0 {
		return Form{}, false
	}
	return forms[i], true
}

// readAs reads the body in the named form.
func (n Node) readAs(name FormName) {
	n.r.form = name
	f, ok := Named(name)
	if !ok {
		n.Fail("no form has this name")
		return
	}
	f.Read(n)
}

// InWords joins the names of proofs.
func InWords(proofs []Proof) string {
	words := make([]string, len(proofs))
	for i, p := range proofs {
		words[i] = string(p)
	}
	return strings.Join(words, ", ")
}
