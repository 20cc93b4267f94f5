package event

import (
	_ "embed"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
)

// ClientPayload is Graft's own form; see Payload.
const ClientPayload FormName = "client_payload"

var clientPayload = Form{
	Name: ClientPayload, Proofs: []Proof{ByHeader, ByURL},
	Setup:  "Any CI: POST a client_payload, with `Authorization: Bearer SECRET`",
	Detect: func(n Node) bool { return n.Has("image") || n.Has("schemaVersion") }, Read: readClientPayload,
}

// PayloadVersion is the version of the payload that this package writes.
const PayloadVersion = 1

// GitHub's limits for a client_payload.
const (
	maxPayload    = 65_535
	maxProperties = 10
)

// PayloadSchema is the JSON Schema of Payload.
//
//go:embed client-payload.schema.json
var PayloadSchema []byte

// Payload is the client_payload of a repository_dispatch that announces one bundle. Only Image is required:
//
//	{"schemaVersion": 1, "image": "quay.io/example/op-bundle:v1.2.3", "digest": "sha256:..."}
//
// The properties follow these rules:
//
//  1. Image has a tag, a digest, or both. Digest may repeat the digest; the two must be equal.
//  2. Name, Package, Version and Channels are claims that Graft checks against the bundle.
//     Channels is a list, or a text with commas, which is easier to write in a workflow.
//  3. Source is the form in which a registry announced the bundle. ID is the sender's id for this
//     announcement; a repeated delivery has the same ID.
//  4. An empty text or null has the same meaning as a missing property.
//  5. Images are further published images, each with a tag or digest, so that one event can
//     announce many. The claims concern only Image.
//  6. Any other property is refused, so that a misspelt channels is not ignored. Names that begin
//     with x- are free for the sender.
type Payload struct {
	SchemaVersion int      `json:"schemaVersion"`
	Image         string   `json:"image"`
	Digest        string   `json:"digest,omitempty"`
	Name          string   `json:"name,omitempty"`
	Package       string   `json:"package,omitempty"`
	Version       string   `json:"version,omitempty"`
	Channels      []string `json:"channels,omitempty"`
	Source        FormName `json:"source,omitempty"`
	ID            string   `json:"id,omitempty"`
	Images        []string `json:"images,omitempty"`
}

var payloadProperties = []string{"schemaVersion", "image", "digest", "name", "package", "version", "channels", "source", "id", "images"}

const ownProperties = "x-"

var (
	nameGrammar    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,252}$`)
	versionGrammar = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$`)
	channelGrammar = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$`)
	idGrammar      = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$`)
)

const (
	maxVersion  = 253
	maxChannels = 64
	// MaxImages is the largest number of further images in a payload.
	MaxImages = 255
)

// Payload returns the publication as a client_payload. Parsing it returns the same publication.
func (p Publication) Payload() Payload {
	image := Publication{Repository: p.Repository, Tag: p.Tag}
	if p.Tag == "" {
		image.Digest = p.Digest
	}
	return Payload{
		SchemaVersion: PayloadVersion,
		Image:         image.Image(),
		Digest:        p.Digest,
		Name:          p.Said.Name,
		Package:       p.Said.Package,
		Version:       p.Said.Version,
		Channels:      p.Said.Channels,
		Source:        p.Source,
		ID:            p.ID,
	}
}

// Marshal writes the payload in this version. It refuses a payload that Parse would refuse.
func (p Payload) Marshal() ([]byte, error) {
	p.SchemaVersion = PayloadVersion
	body, err := json.Marshal(p)
	if err != nil {
		return nil, failure.New(failure.Internal, "writing the client_payload for %s: %w", quote(p.Image), err)
	}
	if len(body) > maxPayload {
		return nil, failure.New(failure.Usage, "writing the client_payload for %s: it has %d bytes, and GitHub takes %d", quote(p.Image), len(body), maxPayload).
			Fix("Announce the bundle with fewer channels, or fewer images at a time.")
	}
	if _, err := Parse(ClientPayload, body, []string{}); err != nil {
		return nil, err
	}
	return body, nil
}

func readClientPayload(n Node) {
	body, ok := n.value.(map[string]any)
	if !ok {
		n.Fail("is not an object")
		return
	}
	if len(body) > maxProperties {
		n.Fail("has %d properties, and GitHub takes %d", len(body), maxProperties)
	}
	for _, key := range slices.Sorted(maps.Keys(body)) {
		if !slices.Contains(payloadProperties, key) && !strings.HasPrefix(key, ownProperties) {
			n.Fail("there is no property %s; there are %s, and names of your own that begin with %s",
				quote(key), strings.Join(payloadProperties, ", "), ownProperties)
		}
	}
	if v := n.Get("schemaVersion"); v.value != nil {
		number, _ := v.value.(json.Number)
		if version, err := number.Float64(); err != nil || version != PayloadVersion {
			v.Fail("is not %d, the one that this Graft reads", PayloadVersion)
		}
	}
	p := claimed(n.Get)
	p.ID = n.Get("id").word(idGrammar, "an ID")
	p.Source = FormName(n.Get("source").Text())
	if _, ok := Named(p.Source); p.Source != "" && !ok {
		n.Get("source").Fail("%s is not a known form", quote(string(p.Source)))
	}
	n.r.named = true
	n.Found(p)
	further := n.Get("images").Items()
	if len(further) > MaxImages {
		n.Get("images").Fail("names more than %d images", MaxImages)
		return
	}
	for _, image := range further {
		one := image.withDigest(Node{r: n.r})
		one.Source, one.ID = p.Source, p.ID
		n.Found(one)
	}
}

// claimed reads the properties that a payload and the inputs of a workflow share.
func claimed(get func(string) Node) Publication {
	p := get("image").withDigest(get("digest"))
	p.Said = Said{
		Name:     get("name").word(nameGrammar, "a name"),
		Package:  get("package").word(nameGrammar, "a name"),
		Version:  get("version").version(),
		Channels: get("channels").channels(),
	}
	return p
}

// withDigest reads an image whose digest may be a separate property.
func (n Node) withDigest(digest Node) Publication {
	p, err := parseName(n.Must())
	if err != nil {
		n.Fail("%s is not an image reference: %v", quote(n.Text()), err)
	}
	p.Digest = digest.Agrees(p.Digest, digest.Digest())
	if p.Tag == "" && p.Digest == "" {
		n.Fail("%s has neither a tag nor a digest", quote(n.Text()))
	}
	return p
}

// word returns a text that matches a grammar, or "".
func (n Node) word(grammar *regexp.Regexp, what string) string {
	s := n.Text()
	if s != "" && !grammar.MatchString(s) {
		n.Fail("%s is not %s", quote(s), what)
	}
	return s
}

func (n Node) version() string {
	s := n.word(versionGrammar, "a semantic version")
	if len(s) > maxVersion {
		n.Fail("is longer than %d", maxVersion)
	}
	return s
}

// channels returns the named channels in order, without repetitions.
func (n Node) channels() []string {
	if s, ok := n.value.(string); ok {
		list := []any{}
		for _, name := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) }) {
			list = append(list, name)
		}
		n.value = list
	}
	names := n.Items()
	if len(names) > maxChannels {
		n.Fail("names more than %d channels", maxChannels)
		return nil
	}
	var out []string
	for _, name := range names {
		name.Must()
		if s := name.word(channelGrammar, "a channel"); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
