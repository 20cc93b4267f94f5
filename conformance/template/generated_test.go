package template_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
	opmtemplate "github.com/operator-framework/operator-registry/alpha/template"

	"github.com/olmgraft/graft/internal/testkit/effort"
)

// pair is a template before and after Graft inserted a bundle, from the generator of internal/template.
type pair struct {
	Seed          int
	Kind          string
	Before, After []byte
	Name          string
	Channels      []string
	Images        map[string]string
}

// pairs has the tests of internal/template print templates.
func pairs(t *testing.T, n int) (all []pair) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "template.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", program, "./internal/template")
	build.Dir, build.Env = "../..", append(os.Environ(), "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.CommandContext(t.Context(), program)
	run.Env, run.Stderr = append(os.Environ(), "GRAFT_TEST_PAIRS="+strconv.Itoa(n)), os.Stderr
	out, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	for next := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pair
		if err := next.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// expanded has opm read a template or catalog.
func (p *pair) expanded(s bundles, src []byte) (*declcfg.DeclarativeConfig, error) {
	if p.Kind == "raw" {
		return declcfg.LoadReader(bytes.NewReader(src))
	}
	tmpl, reader, err := opmtemplate.NewRegistry().CreateTemplateBySchema(bytes.NewReader(src), s.opm)
	if err != nil {
		return nil, err
	}
	return tmpl.Render(context.Background(), reader)
}

// opm accepts each generated template after an insert that it accepted before, and its expansion has the new
// bundle and nothing else that is new. Graft renders both to opm's bytes.
func TestGeneratedTemplates(t *testing.T) {
	accepted, refused, stranded := map[string]int{}, map[string]int{}, 0
	for _, p := range pairs(t, effort.Of(t, 300, 1000, 20_000)) {
		if p.Kind == "goodstuff" || p.Kind == "stream" {
			continue // opm has no such template
		}
		s := bundles{}
		for image, name := range p.Images {
			s.add(image, name, strings.TrimPrefix(name, "op.v"), "")
		}
		if p.Kind != "raw" {
			compare(t, s, string(p.Before))
			compare(t, s, string(p.After))
		}
		was, err := p.expanded(s, p.Before)
		if err != nil {
			refused[p.Kind]++
			continue
		}
		accepted[p.Kind]++
		is, err := p.expanded(s, p.After)
		if err != nil && strings.HasSuffix(strings.TrimSpace(err.Error()), "stranded bundles: "+p.Name) {
			stranded++ // it comes below an entry that another one skips; graft verify reports entry-stranded
			continue
		}
		if err == nil {
			err = p.differs(was, is)
		}
		if err != nil {
			t.Errorf("template %d, %s, with %s in %v: %v\n%s\n--- was\n%s", p.Seed, p.Kind, p.Name, p.Channels, err, p.After, p.Before)
		}
	}
	t.Logf("opm accepts %v, and refuses %v already before the insert; %d bundles are stranded", accepted, refused, stranded)
	for _, kind := range []string{"basic", "composite", "raw", "semver"} {
		if refused[kind] > accepted[kind]/4 || accepted[kind] == 0 {
			t.Errorf("%s: opm refuses %d templates and accepts %d", kind, refused[kind], accepted[kind])
		}
	}
}

// differs returns a difference of two expansions that is not the new bundle.
func (p *pair) differs(was, is *declcfg.DeclarativeConfig) error {
	old, now := contents(was), contents(is)
	var errs []error
	for what, meaning := range now {
		if before, known := old[what]; !known && !strings.HasSuffix(what, " "+p.Name) && p.Kind != "semver" || known && !p.follows(what, before, meaning) {
			errs = append(errs, fmt.Errorf("%s is %q; it was %q", what, meaning, before))
		}
	}
	for what := range old {
		if _, known := now[what]; !known {
			errs = append(errs, fmt.Errorf("%s is gone", what))
		}
	}
	want := []string{"bundle " + p.Name}
	if p.Kind != "semver" { // the channels of semver templates follow from the versions
		for _, channel := range p.Channels {
			want = append(want, "entry "+channel+" "+p.Name)
		}
	}
	for _, what := range want {
		if _, known := now[what]; !known {
			errs = append(errs, fmt.Errorf("%s is missing", what))
		}
	}
	return errors.Join(errs...)
}

// follows reports whether a part of a catalog is as before, or follows from the new bundle: an entry may now replace
// it. All edges of semver templates follow from the versions, as does their default channel.
func (p *pair) follows(what, before, now string) bool {
	if before == now || p.Kind == "semver" && !strings.HasPrefix(what, "bundle ") {
		return true
	}
	_, skips, _ := strings.Cut(before, ",")
	return strings.HasPrefix(what, "entry ") && now == "replaces "+p.Name+","+skips
}

// contents maps the parts of a catalog to their content.
func contents(cfg *declcfg.DeclarativeConfig) map[string]string {
	all := map[string]string{}
	for _, p := range cfg.Packages {
		all["package "+p.Name] = fmt.Sprintf("%s %q %s", p.DefaultChannel, p.Description, p.Properties)
	}
	for _, ch := range cfg.Channels {
		all["channel "+ch.Name] = fmt.Sprintf("%s %s", ch.Package, ch.Properties)
		for _, e := range ch.Entries {
			all["entry "+ch.Name+" "+e.Name] = fmt.Sprintf("replaces %s, skips %s %s", e.Replaces, e.Skips, e.SkipRange)
		}
	}
	for _, b := range cfg.Bundles {
		all["bundle "+b.Name] = fmt.Sprintf("%s %s %s", b.Image, b.Properties, b.RelatedImages)
	}
	for _, d := range cfg.Deprecations {
		all["deprecations "+d.Package] = fmt.Sprint(d.Entries)
	}
	return all
}
