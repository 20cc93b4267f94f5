package event

import (
	"cmp"
	"slices"
	"strings"
)

// FormName names how an event is written.
type FormName string

// Form is one way in which events are written, and how the relay takes what a registry sends so.
type Form struct {
	Name FormName
	// Detect tells the form from the body.
	Detect func(n Node) bool
	// Read announces what stands in the body, and fails where it is malformed.
	Read func(n Node)
	// GitHub: it is an event of GitHub's, with the name of the form.
	GitHub bool

	// Proofs are how a sender can prove itself to the relay, the usual one first. A form
	// without proofs is none that the relay takes.
	Proofs []Proof
	// Sender is what a route of the relay calls the sender; empty: as the form.
	Sender string
	// Registry is the only one of which it announces images; empty: it may be any.
	Registry string
	// Setup says, in Markdown, where the registry takes address and secret.
	Setup string
	// Time are the keys to where an event says when it was made, the first that is there.
	Time [][]string
	// Handshake is what the sender wants back for the body before it sends events, empty
	// where the body is no handshake; nil: it asks for none.
	Handshake func(body []byte) string
}

// Proof is how a sender shows that it may send.
type Proof string

// The proofs.
const (
	ByURL       Proof = "url"       // the secret in the path or in the query, or as password in the address
	ByHeader    Proof = "header"    // the secret in Authorization: by itself, as Bearer, or as Basic password
	BySignature Proof = "signature" // GitHub's HMAC of the body
	ByGoogle    Proof = "google"    // a token that Google signed
)

// forms are all forms, in the order in which Detect is asked: GitHub's and ours come first,
// for an image may stand beside anything.
var forms []Form

// Some forms are read by means of others.
func init() {
	forms = []Form{
		repositoryDispatch, clientPayload, registryPackage, newPackage, workflowDispatch, workflowCall,
		quay, dockerHub, harbor, distribution, azure, google,
	}
}

// Register adds a form before the others, until undo is called. It is for tests of what a
// form needs.
func Register(f Form) (undo func()) {
	before := forms
	forms = append([]Form{f}, before...)
	return func() { forms = before }
}

// Forms are all forms.
func Forms() []Form { return slices.Clone(forms) }

// Named is the form of a name.
func Named(name FormName) (Form, bool) {
	i := slices.IndexFunc(forms, func(f Form) bool { return f.Name == name })
	if i < 0 {
		return Form{}, false
	}
	return forms[i], true
}

// FormsOf are the forms in which a sender of the relay's writes.
func FormsOf(sender string) []Form {
	return slices.DeleteFunc(Forms(), func(f Form) bool { return len(f.Proofs) == 0 || f.SenderName() != sender })
}

// SenderName is what a route of the relay calls the sender.
func (f Form) SenderName() string { return cmp.Or(f.Sender, string(f.Name)) }

// Senders are what routes of the relay can call a sender.
func Senders() []string {
	var all []string
	for _, f := range forms {
		if len(f.Proofs) > 0 && !slices.Contains(all, f.SenderName()) {
			all = append(all, f.SenderName())
		}
	}
	return all
}

// detect tells the form from the body. Each form has a property that no other has.
func detect(n Node) (Form, bool) {
	i := slices.IndexFunc(forms, func(f Form) bool { return f.Detect(n) })
	if i < 0 {
		return Form{}, false
	}
	return forms[i], true
}

// readAs reads the body in a form.
func (n Node) readAs(name FormName) {
	n.r.form = name
	f, ok := Named(name)
	if !ok {
		n.Fail("there is no form of this name")
		return
	}
	f.Read(n)
}

// InWords lists proofs.
func InWords(proofs []Proof) string {
	words := make([]string, len(proofs))
	for i, p := range proofs {
		words[i] = string(p)
	}
	return strings.Join(words, ", ")
}
