package template

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template/kind"
)

// change picks an edit of existing contents; do is nil if the template has nothing to edit.
func (g *generated) change(rnd *rand.Rand) (what string, after *generated, do func(*Template) (*kind.Outcome, error)) {
	next := *g
	next.model = *g.clone()
	names := g.names()
	some := names[rnd.IntN(len(names))]
	r := g.request(rnd)
	r.Channels, r.Bundle.Image = nil, fmt.Sprintf("quay.io/example/op@sha256:%064d", rnd.IntN(1000))
	what = []string{"rebuild", "instead-of", "remove", "deprecate"}[rnd.IntN(4)]
	switch rendered := g.kind == "substitutes"; {
	case what == "rebuild" && !rendered:
		r.Bundle.Name, r.Bundle.Version, r.Rebuild = some, versionIn(some), true
		next.images[some] = r.Bundle.Image
	case what == "instead-of" && !rendered:
		v := versionIn(some)
		v.Patch, v.Pre = v.Patch+1, nil
		if g.images[nameOf(v)] != "" || (&modelled{model: &g.model}).overtakes(some, nameOf(v)) {
			return "", nil, nil
		}
		r.Bundle.Name, r.Bundle.Version, r.InsteadOf = nameOf(v), v, some
		next.rename(some, nameOf(v), r.Bundle.Image)
	case what == "remove":
		for _, chain := range g.chains {
			if len(chain) == 1 && slices.Contains(chain, some) || g.subs[some] != "" {
				return "", nil, nil
			}
		}
		for _, channel := range g.order {
			next.remove(channel, some)
		}
		removal := kind.Removal{Bundles: []string{some}, AllowStranded: true, Names: r.Names}
		return what, &next, func(t *Template) (*kind.Outcome, error) { return t.Remove(removal) }
	case what == "deprecate" && g.hasEdges():
		d := kind.Deprecation{Bundles: []string{some}, Message: "Use another: # not this."}
		next.deprecated[some] = d.Message
		return what, &next, func(t *Template) (*kind.Outcome, error) { return t.Deprecate(d) }
	default:
		return "", nil, nil
	}
	r.Bundle.Document = func(image string, _ bool) ([]byte, error) { return []byte(renderedBundle(r.Bundle.Name, image)), nil }
	r.Names[r.Bundle.Image] = r.Bundle.Name
	return what, &next, inserting(r)
}

// tryChange makes an edit twice.
func (g *generated) tryChange(rnd *rand.Rand) (what string, refused *failure.Error, err error) {
	what, after, do := g.change(rnd)
	if do == nil {
		return "nothing", nil, nil
	}
	got, _, err := g.edit(g.src, do)
	if f := (*failure.Error)(nil); errors.As(err, &f) {
		return what, f, nil
	}
	if err == nil {
		err = after.holds(what, got, g.style.json != "")
	}
	if err != nil {
		return what, nil, err
	}
	if again, _, err := g.edit(got, do); err != nil || !bytes.Equal(again, got) {
		return what, nil, fmt.Errorf("%s once more: %w\n%s", what, err, again)
	}
	return what, nil, nil
}

// TestGeneratedEdits rebuilds, replaces, removes and deprecates bundles in templates of all kinds and styles: a
// bundle has one image, every edge has a target, and everything else keeps its meaning.
func TestGeneratedEdits(t *testing.T) {
	of, refusals := map[string]int{}, map[string]int{}
	eachGenerated(t, 350, 1400, 200_000, func(g *generated, rnd *rand.Rand) (string, *failure.Error, error) {
		return g.tryChange(rnd)
	}, of, refusals)
	for _, what := range []string{"rebuild", "instead-of", "remove", "deprecate"} {
		if refusals[what]*3 > of[what] || of[what] == 0 {
			t.Errorf("%s: %d of %d are refused", what, refusals[what], of[what])
		}
	}
}
