package event

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
)

const (
	digest1 = "sha256:93db9dc111b649382b9b8914e26d78c6af16c78e0d0a588bd9198b7533e307a7"
	digest2 = "sha256:b7a08c97408a35b4bcf1e91b33c9e4df52ffc42cf19ffa3b54e1f174814ce341"
)

// example is a file of testdata and its expected publications.
type example struct {
	file    string
	event   string // GitHub's name, if the body alone does not identify the form
	form    FormName
	want    []Publication
	skipped []string // image, space, reason
}

var examples = []example{
	{
		file: "repository_dispatch.json", form: RepositoryDispatch,
		want: []Publication{{
			Repository: "quay.io/example/kiosk-operator-bundle", Tag: "v1.4.0", Digest: digest1, Source: ClientPayload, ID: "build-1187",
			Said: Said{"kiosk-operator.v1.4.0", "kiosk-operator", "1.4.0", []string{"stable", "fast"}},
		}},
	},
	{
		file: "repository_dispatch-quay.json", form: RepositoryDispatch,
		want: []Publication{{Repository: "quay.io/example/kiosk-operator-bundle", Tag: "v1.4.0", Source: Quay}},
	},
	{
		file: "workflow_dispatch.json", form: WorkflowDispatch,
		want: []Publication{{
			Repository: "quay.io/example/kiosk-operator-bundle", Tag: "v1.4.0", Source: WorkflowDispatch,
			Said: Said{Package: "kiosk-operator", Channels: []string{"stable", "fast"}},
		}},
	},
	{
		file: "workflow_call.json", event: "workflow_call", form: WorkflowCall,
		want: []Publication{{
			Repository: "quay.io/example/kiosk-operator-bundle", Digest: digest1, Source: WorkflowCall,
			Said: Said{Version: "1.4.0"},
		}},
	},
	{
		file: "registry_package.json", form: RegistryPackage,
		want: []Publication{{Repository: "ghcr.io/example-org/bundles/kiosk-operator", Tag: "v1.4.0", Digest: digest1, Source: RegistryPackage}},
	},
	{
		file: "package.json", form: Package,
		want: []Publication{{Repository: "ghcr.io/example-org/bundles/kiosk-operator", Tag: "v1.4.0", Digest: digest1, Source: Package}},
	},
	{
		file: "client_payload.json", form: ClientPayload,
		want: []Publication{{Repository: "quay.io/example/kiosk-operator-bundle", Tag: "v1.4.0", Digest: digest1, Source: Quay, ID: "7f3a"}},
	},
	{
		file: "client_payload-minimal.json", form: ClientPayload,
		want: []Publication{{Repository: "docker.io/kiosk/operator-bundle", Tag: "v1.4.0", Source: ClientPayload}},
	},
	{
		file: "quay.json", form: Quay,
		want: []Publication{{Repository: "quay.io/example/kiosk-operator-bundle", Tag: "v1.4.0", Source: Quay}},
		skipped: []string{
			"quay.io/example/kiosk-operator-bundle:latest the tag latest is not a bundle's (pattern latest)",
			"quay.io/example/kiosk-operator-bundle:v1.4.0-source the tag v1.4.0-source is not a bundle's (pattern *-source)",
		},
	},
	{
		file: "docker-hub.json", form: DockerHub,
		want: []Publication{{Repository: "docker.io/kiosk/operator-bundle", Tag: "v1.4.0", Source: DockerHub}},
	},
	{
		file: "harbor.json", form: Harbor,
		want: []Publication{{Repository: "harbor.example.com:8443/operators/kiosk-operator-bundle", Tag: "v1.4.0", Digest: digest1, Source: Harbor}},
	},
	{
		file: "harbor-cloudevent.json", form: Harbor,
		want:    []Publication{{Repository: "harbor.example.com:8443/operators/kiosk-operator-bundle", Tag: "v1.4.0", Digest: digest1, Source: Harbor}},
		skipped: []string{"harbor.example.com:8443/operators/kiosk-operator-bundle@" + digest2 + " it was pushed without a tag"},
	},
	{
		file: "distribution.json", form: Distribution,
		want: []Publication{
			{Repository: "registry.example.com:5000/operators/kiosk-operator-bundle", Tag: "v1.4.0", Digest: digest1, Source: Distribution},
			{Repository: "registry.example.com:5000/operators/till-operator-bundle", Tag: "v0.9.1", Digest: digest2, Source: Distribution},
		},
		skipped: []string{
			` "application/octet-stream" is not an image`,
			` the action "mount" publishes nothing`,
			` the action "pull" publishes nothing`,
		},
	},
	{
		file: "azure.json", form: Azure,
		want: []Publication{{Repository: "kiosk.azurecr.io/operators/kiosk-operator-bundle", Tag: "v1.4.0", Digest: digest1, Source: Azure}},
	},
	{
		file: "azure-event-grid.json", form: Azure,
		want:    []Publication{{Repository: "kiosk.azurecr.io/operators/kiosk-operator-bundle", Tag: "v1.4.0", Digest: digest1, Source: Azure}},
		skipped: []string{` the event "Microsoft.EventGrid.SubscriptionValidationEvent" is not a push`},
	},
	{
		file: "azure-cloudevent.json", form: Azure,
		want: []Publication{{Repository: "kiosk.azurecr.io/operators/kiosk-operator-bundle", Tag: "v1.4.0", Digest: digest1, Source: Azure}},
	},
	{
		file: "google.json", form: Google,
		want: []Publication{{Repository: "europe-docker.pkg.dev/kiosk-prod/operators/kiosk-operator-bundle", Tag: "v1.4.0", Digest: digest1, Source: Google}},
	},
	{
		file: "google-bare.json", form: Google,
		want: []Publication{{Repository: "europe-docker.pkg.dev/kiosk-prod/operators/kiosk-operator-bundle", Tag: "v1.4.0", Digest: digest1, Source: Google}},
	},
	{
		file: "google-cloudevent.json", form: Google,
		want: []Publication{{Repository: "europe-docker.pkg.dev/kiosk-prod/operators/kiosk-operator-bundle", Tag: "v1.4.0", Digest: digest1, Source: Google}},
	},
}

// Each example is read by its form's name, and by its body alone.
func TestExamples(t *testing.T) {
	for _, tt := range examples {
		t.Run(tt.file, func(t *testing.T) {
			body := testdata(t, tt.file)
			byName, err := Parse(tt.form, body, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(byName.Publications, tt.want) || byName.Form != tt.form {
				t.Errorf("%s announces %+v, want %+v", byName.Form, byName.Publications, tt.want)
			}
			if got := told(byName.Skipped); !slices.Equal(got, tt.skipped) {
				t.Errorf("skipped %q, want %q", got, tt.skipped)
			}
			byBody, err := ParseAny(tt.event, body, nil)
			if err != nil || !reflect.DeepEqual(byBody, byName) {
				t.Errorf("by body: %+v, %v; by name: %+v", byBody, err, byName)
			}
		})
	}
}

// Every example file is listed, and every form has a file.
func TestExamplesAreComplete(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, file := range files {
		if !slices.ContainsFunc(examples, func(e example) bool { return e.file == filepath.Base(file) }) {
			t.Errorf("%s is read by no test", file)
		}
	}
	for _, form := range names() {
		if !slices.ContainsFunc(examples, func(e example) bool { return e.form == form }) {
			t.Errorf("%s has no example", form)
		}
	}
}

// imageless are events of GitHub that announce no image, from testdata/github and from GitHub's own examples,
// selected by number.
var imageless = []struct {
	event, file string
	number      int
	skipped     string
	fault       string
}{
	{event: "package", file: "package-npm", number: 0, skipped: `a package of type "npm" is not an image`},
	{event: "package", file: "package-untagged", number: 1, skipped: "it was pushed without a tag"},
	{event: "repository_dispatch", file: "repository_dispatch", fault: "$.client_payload"},
	{event: "workflow_dispatch", file: "workflow_dispatch", fault: "$.inputs.image"},
	{event: "push", file: "push", fault: "announces no image"},
}

func TestImageless(t *testing.T) {
	for _, tt := range imageless {
		announcesNone(t, tt.event, testdata(t, "github/"+tt.file+".json"), tt.skipped, tt.fault)
	}
}

// GitHub's own examples of its events.
func TestGitHubExamples(t *testing.T) {
	dir := "../../../shared/github"
	if _, err := os.Stat(dir); err != nil {
		t.Skip("../shared is absent")
	}
	for _, tt := range imageless {
		file, err := os.ReadFile(filepath.Join(dir, "event-"+tt.event+".json"))
		if err != nil {
			t.Fatal(err)
		}
		announcesNone(t, tt.event, listItem(t, file, tt.number), tt.skipped, tt.fault)
	}
}

// announcesNone expects a single reason for skipping an event, or a failure.
func announcesNone(t *testing.T, event string, body []byte, skipped, fault string) {
	t.Helper()
	got, err := ParseAny(event, body, nil)
	if fault != "" {
		if err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: %v, want a failure at %s", event, err, fault)
		}
		return
	}
	if err != nil || len(got.Publications) != 0 || len(got.Skipped) != 1 || got.Skipped[0].Reason != skipped {
		t.Errorf("%s: %+v, %v, want it skipped: %s", event, got, err, skipped)
	}
}

// An event that announces nothing is not an error and states the reason.
func TestAnnouncesNothing(t *testing.T) {
	for _, tt := range []struct {
		name, event, body string
		form              FormName
		reason            string
	}{
		{"hook of GitHub", "ping", `{"zen":"Keep it logically awesome.","hook_id":1}`, "", "ping"},
		{"another action of GitHub", "", githubBody("deleted", "CONTAINER", "v1", digest1), Package, `the action "deleted"`},
		{"another package of GitHub", "", `{"action":"published","package":{"package_type":"npm","package_version":{"version":"1.0.0"}}}`, Package, "npm"},
		{"a platform's image on GitHub", "", githubBody("published", "CONTAINER", "", digest1), Package, "without a tag"},
		{"build on Quay", "", `{"docker_url":"quay.io/x/y","build_id":"1","docker_tags":["v1"]}`, Quay, "not a push"},
		{"pull from Harbor", "", `{"type":"PULL_ARTIFACT","occur_at":1,"event_data":{}}`, Harbor, "PULL_ARTIFACT"},
		{"deletion in Harbor", "", `{"specversion":"1.0","type":"harbor.artifact.deleted","data":{}}`, Harbor, "harbor.artifact.deleted"},
		{"deletion in distribution", "", `{"events":[{"action":"delete","target":{"repository":"x/y","digest":"` + digest1 + `"}}]}`, Distribution, `"delete"`},
		{"ping of Azure", "", `{"id":"1","timestamp":"2025-11-20T14:46:40Z","action":"ping"}`, Azure, `"ping"`},
		{"chart in Azure", "", `{"action":"chart_push","target":{"repository":"x"},"request":{}}`, Azure, "chart_push"},
		{"deletion on Event Grid", "", `[{"type":"Microsoft.ContainerRegistry.ImageDeleted","data":{}}]`, Azure, "ImageDeleted"},
		{"deletion in Google", "", `{"action":"DELETE","tag":"europe-docker.pkg.dev/p/r/i:v1"}`, Google, "DELETE"},
		{"digest in Google", "", `{"action":"INSERT","digest":"europe-docker.pkg.dev/p/r/i@` + digest1 + `"}`, Google, "without a tag"},
	} {
		got, err := ParseAny(tt.event, []byte(tt.body), nil)
		if err != nil || got.Form != tt.form || len(got.Publications) != 0 || len(got.Skipped) != 1 || !strings.Contains(got.Skipped[0].Reason, tt.reason) {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		}
	}
}

// Details of forms that the examples do not cover.
func TestDetails(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       Publication
	}{
		{"Quay once gave tags as keys", `{"docker_url":"quay.example.com:8443/x/y","updated_tags":{"v1":"b750fe79"}}`,
			Publication{Repository: "quay.example.com:8443/x/y", Tag: "v1", Source: Quay}},
		{"official image", `{"push_data":{"tag":"v1"},"repository":{"repo_name":"busybox"}}`,
			Publication{Repository: "docker.io/library/busybox", Tag: "v1", Source: DockerHub}},
		{"a dot in an account is no registry", `{"push_data":{"tag":"v1"},"repository":{"repo_name":"evil.example/op"}}`,
			Publication{Repository: "docker.io/evil.example/op", Tag: "v1", Source: DockerHub}},
		{"GitHub enterprise", `{"action":"published","package":{"name":"op","namespace":"Team/op","package_type":"container",
			"package_version":{"package_url":"containers.github.example.com/team/op:v1","container_metadata":{"tag":{"name":"v1"},"manifest":{"digest":"` + digest1 + `"}}}}}`,
			Publication{Repository: "containers.github.example.com/team/op", Tag: "v1", Digest: digest1, Source: Package}},
		{"GitHub's package without version", `{"action":"published","package":{"name":"op","namespace":"team","package_type":"container",
			"package_version":{"container_metadata":{"tag":{"name":"v1","digest":"` + digest1 + `"}}}}}`,
			Publication{Repository: "ghcr.io/team/op", Tag: "v1", Digest: digest1, Source: Package}},
		{"proxied registry", `{"events":[{"action":"push","target":{"mediaType":"application/vnd.oci.image.index.v1+json","repository":"x/y","tag":"v1","url":"https://registry.example.com/v2/x/y/manifests/v1"},"request":{"host":"registry"}}]}`,
			Publication{Repository: "registry.example.com/x/y", Tag: "v1", Source: Distribution}},
		{"host before address", `{"events":[{"action":"push","target":{"repository":"x","tag":"v1","url":"http://other.example.com/v2/x/manifests/v1"},"request":{"host":"Registry.Example.com"}}]}`,
			Publication{Repository: "registry.example.com/x", Tag: "v1", Source: Distribution}},
		{"older schema of Event Grid", `[{"eventType":"ImagePushed","data":{"action":"push","target":{"repository":"x","tag":"v1"},"request":{"host":"x.azurecr.io"}}}]`,
			Publication{Repository: "x.azurecr.io/x", Tag: "v1", Source: Azure}},
		{"tag alone in Google", `{"action":"INSERT","tag":"gcr.io/p/i:v1"}`,
			Publication{Repository: "gcr.io/p/i", Tag: "v1", Source: Google}},
		{"digest named by a sender", `{"image":"quay.io/x/y","digest":"` + digest1 + `"}`,
			Publication{Repository: "quay.io/x/y", Digest: digest1, Source: ClientPayload}},
		{"nothing said", `{"image":"quay.io/x/y:v1","digest":"","name":null,"package":"","channels":"","source":null,"schemaVersion":null}`,
			Publication{Repository: "quay.io/x/y", Tag: "v1", Source: ClientPayload}},
		{"channels twice", `{"image":"quay.io/x/y:v1","channels":"fast,stable\nfast"}`,
			Publication{Repository: "quay.io/x/y", Tag: "v1", Source: ClientPayload, Said: Said{Channels: []string{"fast", "stable"}}}},
	} {
		got, err := ParseAny("", []byte(tt.body), nil)
		if err != nil || len(got.Publications) != 1 || !reflect.DeepEqual(got.Publications[0], tt.want) {
			t.Errorf("%s: %+v, %v, want %+v", tt.name, got, err, tt.want)
		}
	}
}

func TestMerge(t *testing.T) {
	manifest := func(tag, digest string) string {
		return fmt.Sprintf(`{"action":"push","target":{"repository":"x","tag":%q,"digest":%q},"request":{"host":"r.example.com"}}`, tag, digest)
	}
	for _, tt := range []struct {
		name    string
		events  []string
		want    []string
		skipped []string
	}{
		{"the same twice", []string{manifest("v1", digest1), manifest("v1", digest1)}, []string{"v1 " + digest1}, nil},
		{"digest later", []string{manifest("v1", ""), manifest("v1", digest1)}, []string{"v1 " + digest1}, nil},
		{"digest first", []string{manifest("v1", digest1), manifest("v1", "")}, []string{"v1 " + digest1}, nil},
		{"digest without its tag", []string{manifest("", digest1), manifest("v1", digest1), manifest("", digest1)}, []string{"v1 " + digest1}, nil},
		{"two tags of one digest", []string{manifest("v1", digest1), manifest("v1.0", digest1)}, []string{"v1 " + digest1, "v1.0 " + digest1}, nil},
		{"moved tag", []string{manifest("v1", digest1), manifest("v2", ""), manifest("v1", digest2)}, []string{"v1 " + digest2, "v2 "},
			[]string{"r.example.com/x:v1@" + digest1 + " its tag went on to " + digest2 + " in the same event"}},
	} {
		got, err := Parse(Distribution, []byte(`{"events":[`+strings.Join(tt.events, ",")+`]}`), nil)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		var images []string
		for _, p := range got.Publications {
			images = append(images, p.Tag+" "+p.Digest)
		}
		if !slices.Equal(images, tt.want) || !slices.Equal(told(got.Skipped), tt.skipped) {
			t.Errorf("%s: %q, skipped %q", tt.name, images, told(got.Skipped))
		}
	}
}

func TestSkipTags(t *testing.T) {
	hex := strings.TrimPrefix(digest1, "sha256:")
	bundles := []string{"v1.2.3", "1.2.3", "v1.2.3-rc.1", "nightly", "latest-v1", "source", "resource", "cached", "v1_cache", "sha256"}
	others := []string{"latest", "v1-source", "sha256-" + hex, "sha256-" + hex + ".sig", "sha256-" + hex + ".att", "sha256-" + hex + ".sbom", "v1.sig", "cache", "v1-cache", "buildcache", "main-buildcache"}
	body := []byte(`{"docker_url":"quay.io/x/y","updated_tags":["` + strings.Join(slices.Concat(bundles, others), `","`) + `"]}`)
	count := func(patterns []string, published, skipped int) {
		t.Helper()
		got, err := Parse(Quay, body, patterns)
		if err != nil || len(got.Publications) != published || len(got.Skipped) != skipped {
			t.Errorf("with %q: %+v, %v", patterns, got, err)
		}
	}
	count(nil, len(bundles), len(others))
	count([]string{}, len(bundles)+len(others), 0)
	count([]string{"*"}, 0, len(bundles)+len(others))
	count([]string{"v1.2.3", "1.2.3"}, len(bundles)+len(others)-2, 2)
}

func told(skipped []Skipped) []string {
	var out []string
	for _, s := range skipped {
		image := ""
		if s.Publication.Repository != "" {
			image = s.Publication.Image()
		}
		out = append(out, image+" "+s.Reason)
	}
	return out
}

func githubBody(action, kind, tag, digest string) string {
	return fmt.Sprintf(`{"action":%q,"package":{"name":"op","namespace":"team","package_type":%q,"package_version":{"version":%q,"container_metadata":{"tag":{"name":%q}}}}}`,
		action, kind, digest, tag)
}

func testdata(t testing.TB, file string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// listItem returns one value of a JSON list.
func listItem(t testing.TB, list []byte, number int) []byte {
	t.Helper()
	var items []json.RawMessage
	if err := json.Unmarshal(list, &items); err != nil || number >= len(items) {
		t.Fatalf("%d items, %v", len(items), err)
	}
	return items[number]
}

func isOneFault(t testing.TB, err error) {
	t.Helper()
	all := failure.All(err)
	if len(all) != 1 || all[0].Code != failure.Usage || all[0].Remedy == "" {
		t.Errorf("%v is %d failures, want one of usage with a remedy", err, len(all))
	}
	if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r == 0x7f }) {
		t.Errorf("%q has control characters", err)
	}
	if len(err.Error()) > 1000 {
		t.Errorf("a message of %d bytes", len(err.Error()))
	}
}

// names returns the names of all forms.
func names() []FormName {
	var all []FormName
	for _, f := range Forms() {
		all = append(all, f.Name)
	}
	return all
}
