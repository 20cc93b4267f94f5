package event

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

var long = strings.Repeat("a", 300)

var malformed = []struct{ name, event, body, fault string }{
	{"empty", "", ``, "$: is not JSON"},
	{"half", "", `{"image":`, "at byte 9"},
	{"more behind", "", `{"image":"x:v1"}{}`, "at byte 17"},
	{"no object", "", `7`, "$: is of no form"},
	{"empty list", "", `[]`, "$: is of no form"},
	{"unknown", "", `{"hello":"world"}`, "$: is of no form"},
	{"key twice", "", `{"image":"quay.io/good/x:v1","image":"quay.io/evil/x:v1"}`, `$: has "image" twice`},
	{"key twice in disguise", "", `{"image":"quay.io/good/x:v1","im\u0061ge":"quay.io/evil/x:v1"}`, `$: has "image" twice`},
	{"key in another case", "", `{"image":"quay.io/good/x:v1","Image":"quay.io/evil/x:v1"}`, `no property "Image"`},
	{"too deep", "", `{"image":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, "deeper than 64"},
	{"far too deep", "", strings.Repeat("[", 200_000), "is not JSON"},
	{"too many", "", "[" + strings.Repeat("0,", maxValues) + "0]", "more than 50000 values"},
	{"too large", "", `{"image":"` + strings.Repeat("a", MaxBody) + `"}`, "more than 1048576"},
	{"another event", "push", `{}`, "announces no image"},
	{"an event with a line break", "push\n::error::x", `{}`, `"push\n::error::x"`},

	{"dispatch without payload", "repository_dispatch", `{"action":"x"}`, "$.client_payload: names no image"},
	{"dispatch in a dispatch", "", `{"client_payload":{"client_payload":{"image":"quay.io/x/y:v1"}}}`, "$.client_payload: names no image"},
	{"dispatch with a text", "", `{"client_payload":"quay.io/x/y:v1"}`, "$.client_payload: names no image"},
	{"fault in a dispatch", "", `{"client_payload":{"docker_url":"quay.io/x/y","updated_tags":["v1","?"]}}`, `$.client_payload.updated_tags[1]: "?" is not a tag`},
	{"no inputs", "", `{"inputs":null}`, "$.inputs.image: is missing"},
	{"empty input", "workflow_call", `{"image":"  "}`, "$.image: is missing"},
	{"input of another kind", "workflow_call", `{"image":"quay.io/x/y:v1","channels":true}`, "$.channels: is not a list"},

	{"payload of the future", "", `{"schemaVersion":2,"image":"quay.io/x/y:v1"}`, "$.schemaVersion: is not 1"},
	{"version as text", "", `{"schemaVersion":"1","image":"quay.io/x/y:v1"}`, "$.schemaVersion: is not 1"},
	{"misspelt", "", `{"image":"quay.io/x/y:v1","channel":"stable"}`, `no property "channel"`},
	{"eleven properties", "", `{"image":"quay.io/x/y:v1","x-1":1,"x-2":1,"x-3":1,"x-4":1,"x-5":1,"x-6":1,"x-7":1,"x-8":1,"x-9":1,"x-0":1}`, "has 11 properties"},
	{"neither tag nor digest", "", `{"image":"quay.io/x/y"}`, "$.image: \"quay.io/x/y\" has neither"},
	{"two digests", "", `{"image":"quay.io/x/y@` + digest1 + `","digest":"` + digest2 + `"}`, "$.digest: says"},
	{"short digest", "", `{"image":"quay.io/x/y:v1","digest":"sha256:6c62fb45fe66bfb1ea9a66abc38f6a0cc974292b"}`, "$.digest:"},
	{"digest of another kind", "", `{"image":"quay.io/x/y:v1","digest":7}`, "$.digest: is not a text"},
	{"line break in a name", "", `{"image":"quay.io/x/y:v1","name":"op\n::set-output"}`, `$.name: "op\n::set-output"`},
	{"version of a tag", "", `{"image":"quay.io/x/y:v1","version":"v1.2.3"}`, "$.version:"},
	{"endless version", "", `{"image":"quay.io/x/y:v1","version":"1.2.3-` + long + `"}`, "$.version: is longer than 253"},
	{"channel with a space", "", `{"image":"quay.io/x/y:v1","channels":["a b"]}`, "$.channels[0]:"},
	{"channel of another kind", "", `{"image":"quay.io/x/y:v1","channels":["a",1]}`, "$.channels[1]: is not a text"},
	{"empty channel", "", `{"image":"quay.io/x/y:v1","channels":[""]}`, "$.channels[0]: is missing"},
	{"too many channels", "", `{"image":"quay.io/x/y:v1","channels":"` + strings.Repeat("a,", 65) + `"}`, "$.channels: names more than 64"},
	{"unknown source", "", `{"image":"quay.io/x/y:v1","source":"ecr"}`, "$.source:"},
	{"ID with a space", "", `{"image":"quay.io/x/y:v1","id":"a b"}`, "$.id:"},

	{"package without action", "package", `{"package":{"package_type":"container"}}`, "$.action: is missing"},
	{"package without package", "registry_package", `{"action":"published","package":{"package_type":"container"}}`, "$.registry_package.package_type: is missing"},
	{"package without name", "", `{"action":"published","package":{"package_type":"container","namespace":"team"}}`, "$.package.name: is missing"},
	{"package with a short digest", "", githubBody("published", "container", "v1", "sha256:12"), "$.package.package_version.version:"},
	{"package with neither", "", githubBody("published", "container", "", "12"), "$.package.package_version: names neither"},
	{"package out of its path", "", strings.Replace(githubBody("published", "container", "v1", digest1), `"op"`, `"../op"`, 1), "$.package.name:"},

	{"Quay under an internal name", "", `{"docker_url":"quay/x/y","updated_tags":["v1"]}`, "$.docker_url: \"quay\" is not the name of a registry"},
	{"Quay with a number for a tag", "", `{"docker_url":"quay.io/x/y","updated_tags":[7]}`, "$.updated_tags[0]: is not a text"},
	{"Quay with a tag in the repository", "", `{"docker_url":"quay.io/x/y:v1","updated_tags":["v2"]}`, "$.docker_url:"},
	{"Quay with a scheme", "", `{"docker_url":"https://quay.io/x/y","updated_tags":["v2"]}`, "$.docker_url:"},
	{"Quay with an empty tag", "", `{"docker_url":"quay.io/x/y","updated_tags":[""]}`, "$.updated_tags[0]: is missing"},
	{"Docker Hub without a tag", "", `{"push_data":{},"repository":{"repo_name":"x/y"}}`, "$.push_data.tag: is missing"},
	{"Docker Hub in capitals", "", `{"push_data":{"tag":"v1"},"repository":{"repo_name":"X/y"}}`, "$.repository.repo_name:"},
	{"Harbor without resources", "", `{"type":"PUSH_ARTIFACT","event_data":{}}`, "$.event_data.resources: is missing"},
	{"Harbor under an internal name", "", harborBody("harbor/x/y:v1", "v1", digest1), "$.event_data.resources[0].resource_url: \"harbor/x/y:v1\" names no registry"},
	{"Harbor with two tags", "", harborBody("r.example.com/x/y:v1", "v2", digest1), "$.event_data.resources[0].tag: says"},
	{"Harbor with two digests", "", harborBody("r.example.com/x/y@"+digest1, digest1, digest2), "$.event_data.resources[0].digest: says"},
	{"Harbor with a malformed digest for a tag", "", harborBody("r.example.com/x/y:v1", "sha256:1", digest1), "$.event_data.resources[0].tag:"},
	{"events of another kind", "", `{"events":[7]}`, "$.events[0]: is not an object"},
	{"event without action", "", `{"events":[{"action":"pull"},{}]}`, "$.events[1].action: is missing"},
	{"host without dot", "", distributionBody("registry", "x/y"), "$.events[0].request.host:"},
	{"no host", "", distributionBody("", "x/y"), "$.events[0].request.host:"},
	{"host with a user", "", distributionBody("quay.io@evil.example", "x/y"), "$.events[0].request.host:"},
	{"host with a path", "", distributionBody("evil.example/quay.io", "x/y"), "$.events[0].request.host:"},
	{"port out of range", "", distributionBody("r.example.com:65536", "x/y"), "$.events[0].request.host:"},
	{"no repository", "", distributionBody("r.example.com", ""), "$.events[0].target.repository: is missing"},
	{"repository out of its path", "", distributionBody("r.example.com", "x/../y"), "x/../y"},
	{"endless repository", "", distributionBody("r.example.com", long), "longer than 255"},
	{"push of nothing", "", `{"events":[{"action":"push","target":{"repository":"x"},"request":{"host":"r.example.com"}}]}`, "$.events[0].target: names neither"},
	{"endless envelope", "", `{"events":[` + strings.TrimSuffix(strings.Repeat(`{"action":"push","target":{"repository":"x","tag":"v1"},"request":{"host":"r.example.com"}},`, 1001), ",") + `]}`, "more than 1000 images"},
	{"Event Grid without data", "", `[{"type":"Microsoft.ContainerRegistry.ImagePushed"}]`, "$[0].data.action: is missing"},
	{"nothing on Event Grid", "", `[null]`, "$[0].action: is missing"},
	{"no base64", "", `{"message":{"data":"{}"}}`, "$.message.data: is not base64"},
	{"no message", "", `{"message":{"attributes":{"action":"INSERT"}}}`, "$.message.data: is missing"},
	{"message of another kind", "", googleBody(`[]`), "$.message.data: is not an object"},
	{"message in a message", "", googleBody(googleBody(`{"action":"INSERT"}`)), "$.message.data.action: is missing"},
	{"fault in a message", "", googleBody(`{"action":"INSERT","tag":"gcr.io/p/i:?"}`), "$.message.data.tag:"},
	{"two images in a message", "", googleBody(`{"action":"INSERT","tag":"gcr.io/p/i:v1","digest":"gcr.io/p/j@` + digest1 + `"}`), "$.message.data.digest: says"},
	{"digest that is a tag", "", googleBody(`{"action":"INSERT","digest":"gcr.io/p/i:v1"}`), "$.message.data.digest: names no digest"},
	{"tag that is a digest", "", googleBody(`{"action":"INSERT","tag":"gcr.io/p/i@` + digest1 + `"}`), "$.message.data.tag: names no tag"},
	{"tag without an image", "", googleBody(`{"action":"INSERT","tag":"i:v1"}`), "$.message.data.tag: \"i:v1\" names no registry"},
	{"insertion of nothing", "", googleBody(`{"action":"INSERT"}`), "$.message.data.digest: is missing"},
}

// A malformed event is one failure with its place; nothing in it is announced.
func TestMalformed(t *testing.T) {
	for _, tt := range malformed {
		got, err := ParseAny(tt.event, []byte(tt.body), nil)
		if err == nil || !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%s: %v, want a failure with %s", tt.name, err, tt.fault)
			continue
		}
		isOneFault(t, err)
		if len(got.Publications)+len(got.Skipped) != 0 {
			t.Errorf("%s: announces %+v", tt.name, got)
		}
	}
	if _, err := Parse("pigeon", []byte(`{}`), nil); err == nil {
		t.Error("a form that there is not is read")
	}
}

// An event of one form is refused as any other form.
func TestFormsDoNotMix(t *testing.T) {
	for _, e := range examples {
		for _, form := range names() {
			got, err := Parse(form, testdata(t, e.file), nil)
			switch {
			case err != nil || form == e.form:
			case form == WorkflowCall && e.form == WorkflowDispatch, form == WorkflowDispatch && e.form == WorkflowCall:
			case (form == WorkflowCall || form == WorkflowDispatch) && e.form == ClientPayload: // both forms have an image
			case len(got.Publications) > 0:
				t.Errorf("%s read as %s announces %+v", e.file, form, got.Publications)
			}
		}
	}
}

func harborBody(address, tag, digest string) string {
	return fmt.Sprintf(`{"type":"PUSH_ARTIFACT","event_data":{"resources":[{"resource_url":%q,"tag":%q,"digest":%q}]}}`, address, tag, digest)
}

func distributionBody(host, repository string) string {
	return fmt.Sprintf(`{"events":[{"action":"push","target":{"repository":%q,"tag":"v1"},"request":{"host":%q}}]}`, repository, host)
}

func googleBody(message string) string {
	return fmt.Sprintf(`{"message":{"data":%q}}`, base64.StdEncoding.EncodeToString([]byte(message)))
}
