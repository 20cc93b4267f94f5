package publish

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/template/kind"
)

func (w *setup) rolling() {
	w.o.Rolling = true
	w.o.Branch = func(b kind.Bundle) (string, error) { return "graft/" + b.Package + "/rolling", nil }
}

func (w *setup) template(branch string) string {
	return string(w.repo.branches[branch].Files["catalog-templates/v4.20.yaml"].Data)
}

// Bundles that share a pull request do not displace each other, in any order, and leave it one by one as the
// base gets them.
func TestRolling(t *testing.T) {
	w := newSetup(t)
	w.rolling()
	for i, version := range []string{"1.2.0", "1.1.0", "1.3.0"} {
		r := w.publish(t, w.push(t, version))
		if len(r.Subjects) != i+1 || len(w.forge.all) != 1 || len(w.repo.branches[r.Branch].Requests) != i+1 {
			t.Fatalf("after %s: %+v %+v", version, r.Subjects, w.forge.all)
		}
	}
	one := w.forge.all[0]
	if one.Title != "Publish op 1.3.0 and 2 more" || one.Key != "op/*" || strings.Count(one.Body, "Adds bundle") != 3 {
		t.Errorf("%+v", one)
	}
	text := w.template("graft/op/rolling")
	for _, want := range []string{"name: op.v1.1.0\n    replaces: op.v1.0.0", "name: op.v1.2.0\n    replaces: op.v1.1.0", "name: op.v1.3.0\n    replaces: op.v1.2.0"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	// All at once gives the same files.
	other := newSetup(t)
	other.rolling()
	other.Server, other.o.Registry = w.Server, w.o.Registry
	other.repo.files = w.repo.files
	var requests []Request
	for _, version := range []string{"1.3.0", "1.1.0", "1.2.0"} {
		requests = append(requests, Request{Publication: event.Publication{Repository: w.Addr + "/op", Tag: "v" + version}})
	}
	if _, err := Publish(context.Background(), requests, other.o); err != nil {
		t.Fatal(err)
	}
	if got := other.template("graft/op/rolling"); got != text {
		t.Errorf("in another order:\n%s", got)
	}
	w.repo.merge("graft/op/rolling")
	if r := w.publish(t, w.push(t, "1.4.0")); len(r.Subjects) != 1 || r.Subjects[0].Name != "op.v1.4.0" {
		t.Errorf("after the merge: %+v", r.Subjects)
	}
}

// A bundle's parameters apply again when others come to its branch.
func TestRollingKeepsRequests(t *testing.T) {
	w := newSetup(t)
	w.rolling()
	r := Request{Publication: w.push(t, "1.1.0")}
	r.Asked = plan.Asked{Channels: []string{"stable"}, Edges: plan.Edges{Replaces: "op.v1.0.0", SkipRange: ">=1.0.0 <1.1.0"}}
	if _, err := Publish(context.Background(), []Request{r}, w.o); err != nil {
		t.Fatal(err)
	}
	w.publish(t, w.push(t, "1.2.0"))
	if text := w.template("graft/op/rolling"); !strings.Contains(text, `skipRange: '>=1.0.0 <1.1.0'`) && !strings.Contains(text, `skipRange: ">=1.0.0 <1.1.0"`) {
		t.Errorf("the range was lost:\n%s", text)
	}
	if got := w.forge.all[0].Requests; len(got) != 2 || !strings.Contains(got[0], "skip-range=%3E%3D1.0.0+%3C1.1.0") {
		t.Errorf("%q", got)
	}
}

// A newer pull request takes over the bundles of older ones and closes those, except newer ones, those with a
// person's commits, and those with faulty bundles.
func TestSupersede(t *testing.T) {
	w := newSetup(t)
	for _, version := range []string{"1.1.0", "1.2.0", "1.9.0", "1.3.0"} {
		w.publish(t, w.push(t, version))
	}
	w.repo.edited = map[string]bool{"graft/op/1.2.0": true}
	w.o.Supersede = true
	r := w.publish(t, w.push(t, "1.4.0"))
	if !slices.Equal(r.Superseded, []int{1, 4}) || len(w.forge.closed) != 2 || w.forge.closed[1] != "#5 contains this." {
		t.Fatalf("%v %v", r.Superseded, w.forge.closed)
	}
	if _, stands := w.repo.branches["graft/op/1.1.0"]; stands {
		t.Error("the branch of the closed pull request still exists")
	}
	text := w.template("graft/op/1.4.0")
	for _, version := range []string{"1.1.0", "1.3.0", "1.4.0"} {
		if !strings.Contains(text, "name: op.v"+version) {
			t.Errorf("no %s in\n%s", version, text)
		}
	}
	if strings.Contains(text, "op.v1.2.0") || strings.Contains(text, "op.v1.9.0") {
		t.Errorf("the pull request has other bundles too:\n%s", text)
	}
	// Again: the taken bundles are not lost.
	again := w.publish(t, event.Publication{Repository: w.Addr + "/op", Tag: "v1.4.0"})
	if len(again.Subjects) != 3 || w.template("graft/op/1.4.0") != text {
		t.Errorf("the second time: %+v", again.Subjects)
	}
}

// An older bundle that no longer fits does not delay a newer one.
func TestSupersedeLeavesBroken(t *testing.T) {
	w := newSetup(t)
	r := Request{Publication: w.push(t, "1.1.0")}
	r.Asked.Edges.Replaces = "op.v1.0.0"
	if _, err := Publish(context.Background(), []Request{r}, w.o); err != nil {
		t.Fatal(err)
	}
	w.forge.all[0].Requests[0] = strings.Replace(w.forge.all[0].Requests[0], "op.v1.0.0", "op.v0.9.0", 1)
	w.o.Supersede = true
	got := w.publish(t, w.push(t, "1.2.0"))
	if len(got.Superseded) != 0 || len(got.Warnings) == 0 || len(w.forge.closed) != 0 || got.Result != Created {
		t.Errorf("%+v", got)
	}
}

func TestRefresh(t *testing.T) {
	w := newSetup(t)
	for _, version := range []string{"1.1.0", "1.2.0", "1.3.0", "1.4.0"} {
		w.publish(t, w.push(t, version))
	}
	w.repo.edited = map[string]bool{"graft/op/1.4.0": true}
	w.repo.merge("graft/op/1.1.0")
	w.forge.closed = map[int]string{1: "merged"}
	// Someone else added 1.2.0 to the base.
	parallel := w.repo.branches["graft/op/1.2.0"]
	results, err := Refresh(context.Background(), w.o)
	if err != nil || len(results) != 3 {
		t.Fatalf("%v %v", results, err)
	}
	if text := w.template("graft/op/1.3.0"); !strings.Contains(text, "op.v1.1.0") || results[1].Result != Updated {
		t.Errorf("it was not made again: %s\n%s", results[1].Result, text)
	}
	if results[2].Result != Unchanged || len(results[2].Warnings) == 0 {
		t.Errorf("the edited one: %+v", results[2])
	}
	w.repo.merge("graft/op/1.2.0")
	w.repo.branches["graft/op/1.2.0"] = parallel
	results, err = Refresh(context.Background(), w.o)
	if err != nil || results[0].Result != Closed || w.forge.closed[2] == "" {
		t.Errorf("%+v %v %v", results[0], err, w.forge.closed)
	}
	if _, stands := w.repo.branches["graft/op/1.2.0"]; stands {
		t.Error("the branch of the closed pull request still exists")
	}
}

// The content of a pull request's marker is checked like any other request.
func TestRefreshDistrusts(t *testing.T) {
	w := newSetup(t)
	w.publish(t, w.push(t, "1.1.0"))
	for text, want := range map[string]failure.Code{
		"evil.example/op:v1.1.0":                    failure.BundleNotAllowed,
		"not an image":                              failure.Usage,
		w.Addr + "/op:v1.1.0?run=rm":                failure.Usage,
		w.Addr + "/op:v1.1.0?template=../../passwd": failure.EditRefused,
	} {
		w.forge.all[0].Requests = []string{text}
		w.o.Allow = func(p event.Publication) error {
			return event.Check([]string{w.Addr + "/*"}, "--allowed-repositories", p)
		}
		w.Reset()
		if _, err := Refresh(context.Background(), w.o); !failure.Is(err, want) {
			t.Errorf("%s: got %v", text, err)
		}
		if n := w.Count(); want == failure.BundleNotAllowed && n > 0 {
			t.Errorf("%s: %d requests", text, n)
		}
	}
}

// If a marker would be too long, the commits of the branch hold the requests.
func TestRefreshByCommits(t *testing.T) {
	w := newSetup(t)
	w.publish(t, w.push(t, "1.1.0"))
	w.publish(t, w.push(t, "1.2.0"))
	w.repo.merge("graft/op/1.1.0")
	w.forge.closed = map[int]string{1: "merged"}
	w.forge.all[1].Requests = nil
	results, err := Refresh(context.Background(), w.o)
	if err != nil || len(results) != 1 || !strings.Contains(w.template("graft/op/1.2.0"), "replaces: op.v1.1.0") {
		t.Errorf("%+v %v", results, err)
	}
	w.forge.all[1].Requests = nil
	w.repo.branches = nil
	if _, err := Refresh(context.Background(), w.o); !failure.Is(err, failure.Usage) {
		t.Errorf("got %v", err)
	}
}

// A failure of one bundle does not stop the others.
func TestSeveral(t *testing.T) {
	w := newSetup(t)
	good := w.push(t, "1.1.0")
	results, err := Publish(context.Background(), []Request{{Publication: event.Publication{Repository: w.Addr + "/op", Tag: "v9"}}, {Publication: good}}, w.o)
	if !failure.Is(err, failure.BundleNotFound) || results[0].Result != Failed || results[1].Result != Created {
		t.Errorf("%+v %v", results, err)
	}
}

// A catalog that is its own template is verified like a rendered one.
func TestCatalogsAreVerified(t *testing.T) {
	w := newSetup(t)
	catalog := "schema: olm.package\nname: op\ndefaultChannel: stable\n---\nschema: olm.channel\npackage: op\nname: stable\nentries:\n- name: op.v1.0.0\n---\nschema: olm.bundle\npackage: op\nname: op.v1.0.0\nimage: " + w.Addr + "/op:v1.0.0\nproperties:\n- type: olm.package\n  value:\n    packageName: op\n    version: 1.0.0\n"
	w.repo.files = fstest.MapFS{"catalogs/v4.20/op/catalog.yaml": {Data: []byte(catalog)}}
	w.o.Setup = func(Base, kind.Bundle) (*plan.Setup, error) { return &plan.Setup{}, nil }
	if r := w.publish(t, w.push(t, "1.1.0")); !strings.Contains(r.Body, "of 1 catalog was verified: no findings") {
		t.Errorf("%s", r.Body)
	}
	r := Request{Publication: w.push(t, "1.2.0")}
	r.Asked.Edges.SkipRange = "<1.0.0" // a second head
	if _, err := Publish(context.Background(), []Request{r}, w.o); !failure.Is(err, failure.GraphInvalid) {
		t.Errorf("got %v", err)
	}
}

// The sum pins the rendered image: a tag that moves later is detected.
func TestSum(t *testing.T) {
	w := newSetup(t)
	setup := w.o.Setup
	w.o.Setup = func(content Base, b kind.Bundle) (*plan.Setup, error) {
		s, err := setup(content, b)
		s.Sum = "catalog.sum"
		return s, err
	}
	w.publish(t, w.push(t, "1.1.0"))
	w.repo.merge("graft/op/1.1.0")
	sum := string(w.repo.files["catalog.sum"].Data)
	if strings.Count(sum, "\n") != 2 || !strings.Contains(sum, "/op:v1.1.0 sha256:") {
		t.Fatalf("%s", sum)
	}
	moved := bytes.ReplaceAll(w.repo.files["catalogs/v4.20/op/catalog.yaml"].Data, []byte("op.v1.1.0"), []byte("op.v1.1.1"))
	w.repo.files["catalogs/v4.20/op/catalog.yaml"] = &fstest.MapFile{Data: moved}
	w.repo.files["catalog.sum"] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(sum, "sha256:", "sha256:0"))}
	if r := w.try(w.push(t, "1.2.0"), w.o); !failure.Is(r.Err, failure.DigestMismatch) {
		t.Errorf("got %v", r.Err)
	}
}

func TestMissing(t *testing.T) {
	w := newSetup(t)
	digest := w.push(t, "1.1.0").Digest
	for _, version := range []string{"1.10.0", "1.2.0", "2.0.0-rc.1"} {
		w.push(t, version)
	}
	for _, tag := range []string{"latest", "v1.3.0-source", "main"} {
		w.tag(t, tag, "1.1.0")
	}
	w.repo.files["other/catalog.yaml"] = &fstest.MapFile{Data: []byte("schema: olm.bundle\nimage: prod.example/op@" + digest + "\n")}
	sweep := Sweep{Repository: w.Addr + "/op", Stages: map[string]string{w.Addr + "/op": "prod.example/op"}}
	missing := func() string {
		found, err := Missing(context.Background(), w.repo.files, w.o.Registry, sweep)
		if err != nil {
			t.Fatal(err)
		}
		var tags []string
		for _, p := range found {
			tags = append(tags, p.Tag)
		}
		return strings.Join(tags, " ")
	}
	if got := missing(); got != "v1.2.0 v1.10.0 v2.0.0-rc.1" {
		t.Errorf("missing %s", got)
	}
	sweep.SkipTags = []string{"*-rc.*", "v1.2.*"}
	if got := missing(); got != "v1.10.0" {
		t.Errorf("with other tags to skip, missing are %s", got)
	}
	sweep.SkipTags = nil
	sweep.Versions = semver.MustParseRange(">=1.5.0 <2.0.0-0")
	if got := missing(); got != "v1.10.0" {
		t.Errorf("missing %s", got)
	}
}

// The command of a request does the same locally, whatever the request contains. An edited request is refused.
func TestCommand(t *testing.T) {
	const image = "quay.io/x/op:v1.2.3@sha256:" + "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	for query, want := range map[string]string{
		"": "",
		"?channels=stable%2Cfast&default-channel=fast":        " --channels stable,fast --default-channel fast",
		"?replaces=op.v1.2.2&skips=a%2Cb&skip-range=%3C1.2.3": " --replaces op.v1.2.2 --skips a,b --skip-range '<1.2.3'",
		"?template=a+b%27c.yaml&catalog=v4.20&create=basic":   ` --template 'a b'\''c.yaml' --catalog v4.20 --create basic`,
		"?substitutes-for=op.v1.2.3":                          " --substitutes-for op.v1.2.3",
	} {
		r, err := ParseRequest(image + query)
		if err != nil || r.Command() != "graft publish --dry-run --image "+image+want {
			t.Errorf("%s: %v, %s", query, err, r.Command())
		}
	}
	r, err := ParseRequest("edit?remove=op.v1%2Cop.v2&channels=stable&package=op&allow-stranded=true")
	if err != nil || r.Command() != "graft publish --dry-run --channels stable --remove op.v1,op.v2 --package op --allow-stranded" {
		t.Errorf("%v, %s", err, r.Command())
	}
	for _, text := range []string{"", "op", "edit", "edit?package=op", "edit:v1?remove=x", "quay.io/x/op:v1?remove=op.v1", "quay.io/x/op", "quay.io/x/op:v1?run=x", "quay.io/x/op:v1?channels=%zz", "quay.io/x/op:v1@sha256:1"} {
		if _, err := ParseRequest(text); !failure.Is(err, failure.Usage) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

// A request survives being stored in a commit or a pull request.
func FuzzRequest(f *testing.F) {
	f.Add("quay.io/x/op:v1.2.3?channels=stable%2Cfast&skip-range=%3E%3D1.0.0+%3C1.2.0")
	f.Add("quay.io/x/op@sha256:" + strings.Repeat("a", 64))
	f.Add("quay.io/x/op:v1?replaces=a'b&template=x")
	f.Add("edit?deprecate=op.v1&deprecation=Do+not%0Ause+%2F+it&package=op")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRequest(text)
		if err != nil {
			return
		}
		again, err := ParseRequest(r.String())
		if err != nil || again.String() != r.String() {
			t.Errorf("%q became %q, then %q (%v)", text, r.String(), again.String(), err)
		}
		if strings.ContainsAny(r.String(), " \n\r") {
			t.Errorf("%q is not one word", r.String())
		}
	})
}

// Two runs share a rolling branch. The text of the first to push arrives last, and still describes both bundles.
func TestRollingTellsOfAll(t *testing.T) {
	w := newSetup(t)
	w.rolling()
	first, second := w.push(t, "1.1.0"), w.push(t, "1.2.0")
	w.forge.before = func() { w.publish(t, second) }
	w.publish(t, first)
	if len(w.forge.all) != 1 {
		t.Fatalf("%d pull requests", len(w.forge.all))
	}
	for _, version := range []string{"1.1.0", "1.2.0"} {
		if one := w.forge.all[0]; !strings.Contains(one.Body, "op.v"+version) || !strings.Contains(strings.Join(one.Requests, " "), ":v"+version) {
			t.Errorf("the pull request lacks %s: %s, %v", version, one.Title, one.Requests)
		}
	}
}
