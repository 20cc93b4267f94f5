package graph

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/olmgraft/graft/internal/shape"
)

// The rules of OLM v1 are those of operator-controller v1.11 with its default feature gates. It chooses the
// highest version of all channels, or of the requested ones, with deprecated bundles last. If it cannot install
// that bundle, it chooses no other. It installs webhooks since v1.6.

// forV1 holds the facts of a bundle that decide whether OLM v1 installs it.
type forV1 struct {
	judged       bool     // the bundle was read in full; previously published bundles are not judged again
	needs        []string // dependencies, each with its property
	modes        []string // supported install modes
	modesTold    bool
	apiServices  []string
	webhooksTold bool // only the CSV itself contains webhooks
	webhooks     int
	conversion   string // the first conversion webhook
}

// readV1 reads the facts for OLM v1 from a property.
func (b *bundleRead) readV1(typ string, v value) {
	f := &b.v1
	switch typ {
	case "olm.package.required":
		f.needs = append(f.needs, typ+" of "+v.field("packageName").text())
	case "olm.gvk.required":
		f.needs = append(f.needs, typ+" of "+v.field("kind").text()+"."+v.field("version").text()+"."+v.field("group").text())
	case "olm.constraint":
		f.needs = append(f.needs, typ)
	case "olm.csv.metadata":
		f.readSpec(v, v.field("apiServiceDefinitions"))
	case "olm.bundle.object":
		f.readCSV(v.field("data"))
	}
}

func (f *forV1) readSpec(spec, apiServices value) {
	for _, m := range spec.field("installModes").Items() {
		f.modesTold = true
		if string(m.field("supported")) == "true" {
			f.modes = append(f.modes, m.field("type").text())
		}
	}
	for _, s := range apiServices.field("owned").Items() {
		f.apiServices = append(f.apiServices, s.field("name").text())
	}
}

// readCSV reads a manifest if it is a ClusterServiceVersion, in JSON as opm writes it.
func (f *forV1) readCSV(data value) {
	if data.Kind() != shape.String {
		return
	}
	text, err := decodeOctets(data)
	if err != nil || !bytes.Contains(text, []byte(`"ClusterServiceVersion"`)) {
		return
	}
	var compact bytes.Buffer
	if json.Compact(&compact, text) != nil || value(compact.Bytes()).field("kind").text() != "ClusterServiceVersion" {
		return
	}
	spec := value(compact.Bytes()).field("spec")
	f.readSpec(spec, spec.field("apiservicedefinitions"))
	f.webhooksTold = true
	for _, w := range spec.field("webhookdefinitions").Items() {
		f.webhooks++
		if w.field("type").text() == "ConversionWebhook" {
			f.conversion = cmp.Or(f.conversion, w.field("generateName").text())
		}
	}
}

// v1Choices returns the bundles that OLM v1 would choose from a package: first for a ClusterExtension without
// channels, then for each channel.
func (p *Package) v1Choices() []*Bundle {
	best := p.v1Choice(p.Bundles)
	if best == nil {
		return nil
	}
	all, known := []*Bundle{best}, map[*Bundle]bool{nil: true, best: true}
	for _, ch := range p.Channels {
		var in []*Bundle
		for _, e := range ch.Entries {
			if b := p.Bundle(e.Name); b != nil {
				in = append(in, b)
			}
		}
		if b := p.v1Choice(in); !known[b] {
			known[b] = true
			all = append(all, b)
		}
	}
	return all
}

// v1Choice returns the highest version, with deprecated bundles last, and the first of equal ones.
func (p *Package) v1Choice(of []*Bundle) (best *Bundle) {
	deprecated := func(b *Bundle) int {
		if p.Deprecated(b.Name) {
			return 1
		}
		return 0
	}
	for _, b := range of {
		if !b.HasVersion {
			continue
		}
		if best == nil || cmp.Or(deprecated(best)-deprecated(b), b.Version.compareV1(best.Version), cmp.Compare(best.Line, b.Line)) > 0 {
			best = b
		}
	}
	return best
}

// compareV1 does the same as Compare, but ignores the release, which OLM v1 uses only behind a feature gate.
func (v Version) compareV1(o Version) int {
	return Version{Version: v.Version}.Compare(Version{Version: o.Version})
}

// verifyV1 reports bundles that OLM v1 would choose but not install. It ignores others, because they are
// published and cannot be changed. It reports each kind once for a package.
func (v *verifier) verifyV1() {
	choices := v.pkg.v1Choices()
	if len(choices) == 0 {
		return
	}
	v.v1Choice(choices[0])
	for _, r := range v1Refusals {
		v.tellV1(r.id, choices, func(b *Bundle) string {
			if !b.v1.judged {
				return ""
			}
			return r.why(&b.v1)
		})
	}
	v.tellV1("olm-v1-release", v.pkg.Bundles, func(b *Bundle) string {
		if len(b.Version.Release) == 0 {
			return ""
		}
		return fmt.Sprintf("OLM v1 counts its release only behind the feature gate BundleReleaseSupport, and reads %s as %s", b.Version, b.Version.Version)
	})
}

var v1Refusals = []struct {
	id  string
	why func(f *forV1) string
}{
	{"olm-v1-dependency", func(f *forV1) string {
		if len(f.needs) == 0 {
			return ""
		}
		return "OLM v1 does not install it, and no other in its place: it declares a dependency, " + strings.Join(f.needs, ", ")
	}},
	{"olm-v1-install-mode", func(f *forV1) string {
		if !f.modesTold || slices.Contains(f.modes, allNamespaces) {
			return ""
		}
		return "OLM v1 does not install it, and no other in its place: it lacks install mode AllNamespaces, and has " + cmp.Or(strings.Join(f.modes, ", "), "none")
	}},
	{"olm-v1-api-service", func(f *forV1) string {
		if len(f.apiServices) == 0 {
			return ""
		}
		return "OLM v1 does not install it, and no other in its place: it owns API services, " + strings.Join(f.apiServices, ", ")
	}},
	{"olm-v1-conversion-webhook", func(f *forV1) string {
		if f.conversion == "" || slices.Equal(f.modes, []string{allNamespaces}) {
			return ""
		}
		return fmt.Sprintf("OLM v1 does not install it, and no other in its place: webhook %q converts, and the install modes are %s", f.conversion, strings.Join(f.modes, ", "))
	}},
	{"olm-v1-webhook", func(f *forV1) string {
		if f.webhooks == 0 {
			return ""
		}
		return fmt.Sprintf("OLM v1 installs its %d webhooks since operator-controller v1.6, and before behind a feature gate", f.webhooks)
	}},
	{"olm-v1-untold", func(f *forV1) string {
		switch {
		case !f.modesTold:
			return "the catalog does not tell its install modes, API services and webhooks, by which OLM v1 may refuse it"
		case !f.webhooksTold:
			return "the catalog does not tell its webhooks, by which OLM v1 may refuse it"
		}
		return ""
	}},
}

// refusedByV1 returns why OLM v1 does not install a bundle, or "" if it does as far as the catalog shows. Bundles
// that need a feature gate or a newer release are not refused.
func (b *Bundle) refusedByV1() string {
	for _, r := range v1Refusals {
		if rule, _ := RuleOf(r.id); rule.Level == Off {
			continue
		}
		if why := r.why(&b.v1); why != "" {
			return why
		}
	}
	return ""
}

const allNamespaces = "AllNamespaces"

// tellV1 reports the first bundle for which why has an answer, and names the others.
func (v *verifier) tellV1(id string, of []*Bundle, why func(*Bundle) string) {
	var first *Bundle
	var names []string
	for _, b := range of {
		if why(b) != "" {
			names = append(names, b.Name)
			if first == nil {
				first = b
			}
		}
	}
	if first == nil {
		return
	}
	more := ""
	if len(names) > 1 {
		more = fmt.Sprintf("; the same holds of %d more", len(names)-1)
	}
	v.add(id, first.Pos, "", first.Name, "%s: %s%s", first.Name, why(first), more)
	v.found[len(v.found)-1].Bundles = names
}

// v1Choice reports if a new installation gets another bundle from OLM v1 than from v0.
func (v *verifier) v1Choice(chosen *Bundle) {
	head := v.pkg.Head()
	if head == nil || !head.HasVersion || head == chosen || head.Version.compareV1(chosen.Version) == 0 {
		return
	}
	v.add("olm-v1-choice", chosen.Pos, "", chosen.Name, "a ClusterExtension that names no channel gets %s of %s; a Subscription gets %s, the head of the default channel %q",
		chosen.Name, v.pkg.channelsOf(chosen.Name), head.Name, v.pkg.DefaultChannel)
}

// channelsOf lists the channels that contain a bundle.
func (p *Package) channelsOf(bundle string) string {
	var names []string
	for _, ch := range p.Channels {
		if ch.Entry(bundle) != nil {
			names = append(names, strconv.Quote(ch.Name))
		}
	}
	if len(names) == 0 {
		return "no channel"
	}
	return some(names)
}
