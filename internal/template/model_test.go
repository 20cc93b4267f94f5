package template

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/testkit/effort"
)

// model holds the expected contents of a template, described without any of the code that edits it: channels are
// chains sorted by version, in which each bundle replaces the one below it.
type model struct {
	chains     map[string][]string // lowest first
	skips      map[[2]string][]string
	ranges     map[[2]string]string
	images     map[string]string
	deprecated map[string]string // message, by bundle
	def        string
}

func (m *model) clone() *model {
	c := *m
	c.chains, c.skips, c.ranges = maps.Clone(m.chains), maps.Clone(m.skips), maps.Clone(m.ranges)
	c.images, c.deprecated = maps.Clone(m.images), maps.Clone(m.deprecated)
	return &c
}

func nameOf(v semver.Version) string { return "op.v" + v.String() }

func versionIn(name string) semver.Version {
	return semver.MustParse(strings.TrimPrefix(name, "op.v"))
}

func (m *model) add(channel, name string) {
	chain := append(slices.Clone(m.chains[channel]), name)
	slices.SortFunc(chain, func(a, b string) int { return versionIn(a).Compare(versionIn(b)) })
	m.chains[channel] = chain
}

// remove removes a bundle from a channel, and from the model if no channel lists it any more.
func (m *model) remove(channel, name string) {
	m.chains[channel] = slices.DeleteFunc(slices.Clone(m.chains[channel]), func(n string) bool { return n == name })
	delete(m.skips, [2]string{channel, name})
	delete(m.ranges, [2]string{channel, name})
	if len(m.chains[channel]) == 0 {
		delete(m.chains, channel)
	}
	for _, chain := range m.chains {
		if slices.Contains(chain, name) {
			return
		}
	}
	delete(m.images, name)
	delete(m.deprecated, name)
}

// rename replaces a bundle by another one.
func (m *model) rename(old, name, image string) {
	for channel, chain := range m.chains {
		for i, n := range chain {
			key := [2]string{channel, n}
			if skips := slices.Clone(m.skips[key]); len(skips) > 0 {
				if at := slices.Index(skips, old); at >= 0 {
					skips[at] = name
				}
				m.skips[key] = skips
			}
			if n == old {
				chain = slices.Clone(chain)
				chain[i] = name
				m.chains[channel] = chain
				own := [2]string{channel, name}
				if skips, ok := m.skips[key]; ok {
					delete(m.skips, key)
					m.skips[own] = skips
				}
				if r, ok := m.ranges[key]; ok {
					delete(m.ranges, key)
					m.ranges[own] = strings.Replace(r, "<"+versionIn(old).String(), "<"+versionIn(name).String(), 1)
				}
			}
		}
	}
	if message, ok := m.deprecated[old]; ok {
		delete(m.deprecated, old)
		m.deprecated[name] = message
	}
	delete(m.images, old)
	m.images[name] = image
}

// graph returns the model with a line for each entry, bundle and deprecation.
func (m *model) graph() (lines []string) {
	for channel, chain := range m.chains {
		for i, name := range chain {
			e := fbc.Entry{Name: name, Skips: slices.Sorted(slices.Values(m.skips[[2]string{channel, name}])), SkipRange: m.ranges[[2]string{channel, name}]}
			if i > 0 {
				e.Replaces = chain[i-1]
			}
			lines = append(lines, fmt.Sprintf("%s: %s %s", channel, name, e.InWords()))
		}
	}
	for name, image := range m.images {
		lines = append(lines, "image of "+name+": "+image)
	}
	for name, message := range m.deprecated {
		lines = append(lines, "deprecated "+name+": "+message)
	}
	lines = append(lines, "default: "+m.def)
	slices.Sort(lines)
	return lines
}

// modelled is a template that is edited at random together with its model.
type modelled struct {
	*model
	kind  string
	text  []byte
	built int
	log   []string
}

const emptyRaw = `---
schema: olm.package
name: op
defaultChannel: v1.0
---
schema: olm.channel
package: op
name: v1.0
entries:
- name: op.v1.0.0
`

// TestModel adds, rebuilds, replaces, deprecates, rewires and removes bundles in random order: the template holds
// the model's graph, and a second run of each edit changes nothing.
func TestModel(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	made := map[string]int{}
	image := "quay.io/example/op@sha256:" + strings.Repeat("0", 64)
	starts := map[string]string{
		"raw":    emptyRaw + renderedBundle("op.v1.0.0", image),
		"basic":  "schema: olm.template.basic\nentries:\n",
		"stream": emptyRaw + "---\nschema: olm.bundle\nimage: " + image + "\n",
	}
	for _, doc := range strings.Split(starts["stream"], "---\n")[1:] {
		starts["basic"] += "- " + strings.ReplaceAll(strings.TrimSpace(doc), "\n", "\n  ") + "\n"
	}
	for kindName, start := range starts {
		for range effort.Of(t, 5, 40, 800) {
			s := &modelled{kind: kindName, text: []byte(start), model: &model{
				chains: map[string][]string{"v1.0": {"op.v1.0.0"}}, skips: map[[2]string][]string{}, ranges: map[[2]string]string{},
				images: map[string]string{"op.v1.0.0": image}, deprecated: map[string]string{}, def: "v1.0",
			}}
			for range 25 {
				made[kindName+" "+s.step(t, rnd)]++
			}
		}
		for _, what := range []string{"add", "begin", "rebuild", "replace", "edges", "deprecate", "remove"} {
			if made[kindName+" "+what] == 0 {
				t.Errorf("of %s there was no %s", kindName, what)
			}
		}
	}
	t.Log(made)
}

func renderedBundle(name, image string) string {
	return fmt.Sprintf("---\nschema: olm.bundle\nname: %s\npackage: op\nimage: %s\nproperties:\n- type: olm.package\n  value:\n    packageName: op\n    version: %s\n", name, image, versionIn(name))
}

// request returns a request for a bundle with a new image.
func (s *modelled) request(name string, channels ...string) kind.Request {
	s.built++
	r := kind.Request{Channels: channels, Names: map[string]string{}, Bundle: kind.Bundle{
		Name: name, Version: versionIn(name), Package: "op", Image: fmt.Sprintf("quay.io/example/op@sha256:%064d", s.built),
	}}
	r.Bundle.Document = func(image string, _ bool) ([]byte, error) { return []byte(renderedBundle(name, image)), nil }
	for n, image := range s.images {
		r.Names[image] = n
	}
	return r
}

// step makes one edit of the template and the model, and compares them.
func (s *modelled) step(t *testing.T, rnd *rand.Rand) string {
	t.Helper()
	pick := func(all []string) string { return all[rnd.IntN(len(all))] }
	channel := pick(slices.Sorted(maps.Keys(s.chains)))
	chain, after := s.chains[channel], s.clone()
	some := pick(chain)
	what := pick([]string{"add", "add", "begin", "rebuild", "replace", "edges", "deprecate", "remove"})
	var edit func(*Template) (*kind.Outcome, error)
	insert := func(r kind.Request) {
		edit = func(tmpl *Template) (*kind.Outcome, error) { return tmpl.Insert(r) }
	}
	s.built++ // so that no version is used twice
	switch what {
	case "add", "begin":
		name := nameOf(semver.Version{Major: 1, Minor: uint64(rnd.IntN(5)), Patch: uint64(s.built)})
		r := s.request(name, channel)
		if what == "begin" {
			r.LikePrevious, r.Channels = true, []string{fmt.Sprintf("v1.%d", 1+rnd.IntN(4))}
			channel = r.Channels[0]
			if _, stands := s.chains[channel]; stands {
				return "nothing"
			}
			after.begin(channel)
			if rnd.IntN(2) == 0 {
				r.DefaultChannel, after.def = channel, channel
			}
		}
		after.add(channel, name)
		after.images[name] = r.Bundle.Image
		insert(r)
	case "rebuild":
		r := s.request(some)
		r.Rebuild = true
		after.images[some] = r.Bundle.Image
		insert(r)
	case "replace":
		v := versionIn(some)
		v.Patch = uint64(s.built)
		if s.overtakes(some, nameOf(v)) {
			return "nothing"
		}
		r := s.request(nameOf(v))
		r.InsteadOf = some
		after.rename(some, nameOf(v), r.Bundle.Image)
		insert(r)
	case "edges":
		var skips []string
		if at := slices.Index(chain, some); at > 0 {
			skips = []string{chain[rnd.IntN(at)]}
		}
		reach := fmt.Sprintf("<%s", versionIn(some))
		e := kind.Edges{Bundle: some, Channels: []string{channel}, Skips: &skips, SkipRange: &reach, AllowStranded: true}
		after.skips[[2]string{channel, some}], after.ranges[[2]string{channel, some}] = skips, reach
		edit = func(tmpl *Template) (*kind.Outcome, error) { return tmpl.SetEdges(e) }
	case "deprecate":
		d := kind.Deprecation{Bundles: []string{some}, Message: fmt.Sprintf("Message %d.", s.built)}
		after.deprecated[some] = d.Message
		edit = func(tmpl *Template) (*kind.Outcome, error) { return tmpl.Deprecate(d) }
	case "remove":
		if len(chain) == 1 && channel == s.def {
			return "nothing"
		}
		removal := kind.Removal{Bundles: []string{some}, Channels: []string{channel}, AllowStranded: true, Names: s.request("op.v9.9.9").Names}
		after.remove(channel, some)
		edit = func(tmpl *Template) (*kind.Outcome, error) { return tmpl.Remove(removal) }
	}
	s.log = append(s.log, strings.Join([]string{what, channel, some}, " "))
	s.make(t, edit)
	s.model = after
	s.check(t)
	once := string(s.text)
	if s.make(t, edit); string(s.text) != once {
		t.Fatalf("%s, %v: once more gives\n%s\ninstead of\n%s", s.kind, s.log, s.text, once)
	}
	return what
}

// begin starts a channel with the entries of the one before it.
func (m *model) begin(channel string) {
	previous := ""
	for name := range m.chains {
		if name < channel && name > previous {
			previous = name
		}
	}
	for _, name := range m.chains[previous] {
		m.add(channel, name)
		if skips, ok := m.skips[[2]string{previous, name}]; ok {
			m.skips[[2]string{channel, name}] = skips
		}
		if r, ok := m.ranges[[2]string{previous, name}]; ok {
			m.ranges[[2]string{channel, name}] = r
		}
	}
}

// overtakes reports whether a bundle would be out of order in the place of another one.
func (m *model) overtakes(old, name string) bool {
	for _, chain := range m.chains {
		if i := slices.Index(chain, old); i >= 0 && i+1 < len(chain) && versionIn(chain[i+1]).LTE(versionIn(name)) {
			return true
		}
	}
	return false
}

func (s *modelled) make(t *testing.T, edit func(*Template) (*kind.Outcome, error)) {
	t.Helper()
	tmpl, err := Parse("t.yaml", s.text)
	if err != nil {
		t.Fatalf("%s, %v: %v\n%s", s.kind, s.log, err, s.text)
	}
	o, err := edit(tmpl)
	if err != nil {
		t.Fatalf("%s, %v: %v\n%s", s.kind, s.log, err, s.text)
	}
	for _, f := range o.Files {
		s.text = f.After
	}
}

// check compares the template with the model, and looks for contents that are never valid.
func (s *modelled) check(t *testing.T) {
	t.Helper()
	tmpl, err := Parse("t.yaml", s.text)
	if err != nil {
		t.Fatalf("%s, %v: %v\n%s", s.kind, s.log, err, s.text)
	}
	d := tmpl.Describe()
	docs, err := tmpl.Kind.(kind.HasEdges).Documents(&tmpl.Source)
	if err != nil || len(d.Problems)+len(d.Warnings) > 0 {
		t.Fatalf("%s, %v: %v %v %v\n%s", s.kind, s.log, err, d.Problems, d.Warnings, s.text)
	}
	names := map[string]string{}
	for name, image := range s.images {
		names[image] = name
	}
	lines := []string{"default: " + d.DefaultChannel}
	for _, b := range d.Bundles {
		lines = append(lines, "image of "+names[b.Image]+": "+b.Image)
	}
	for i := range docs {
		switch docs[i].Schema {
		case fbc.SchemaChannel:
			c, err := docs[i].Channel()
			if err != nil {
				t.Fatal(err)
			}
			if heads := graph.HeadNames(c.Entries); len(heads) != 1 {
				t.Fatalf("%s, %v: channel %s has the heads %v\n%s", s.kind, s.log, c.Name, heads, s.text)
			}
			for _, e := range c.Entries {
				slices.Sort(e.Skips)
				lines = append(lines, fmt.Sprintf("%s: %s %s", c.Name, e.Name, e.InWords()))
			}
		case fbc.SchemaDeprecation:
			x, err := docs[i].Deprecation()
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range x.Entries {
				lines = append(lines, "deprecated "+e.Reference.Name+": "+e.Message)
			}
		}
	}
	slices.Sort(lines)
	if want := s.graph(); !slices.Equal(lines, want) {
		t.Fatalf("%s, %v: got\n%s\nwant\n%s\n%s", s.kind, s.log, strings.Join(lines, "\n"), strings.Join(want, "\n"), s.text)
	}
}
