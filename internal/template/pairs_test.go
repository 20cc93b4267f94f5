package template

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
)

// pairsOf is the environment variable with the number of generated templates to print, for a second reader.
const pairsOf = "GRAFT_TEST_PAIRS"

func TestMain(m *testing.M) {
	if n, err := strconv.ParseUint(os.Getenv(pairsOf), 10, 32); err == nil {
		if err := printPairs(n); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// pair is a template before and after an insert.
type pair struct {
	Seed          uint64
	Kind          string
	Before, After []byte
	Name          string   // of the new bundle
	Channels      []string // that get it
	Images        map[string]string
}

// printPairs prints the first n generated templates into which a bundle can be inserted, one JSON object a line.
// Images maps the images of all bundles to their names.
func printPairs(n uint64) error {
	out := json.NewEncoder(os.Stdout)
	for seed := range n {
		g := generate(seed)
		r := g.request(rand.New(rand.NewPCG(seed, 20)))
		after, _, err := g.edit(g.src, inserting(r))
		if errors.As(err, new(*failure.Error)) {
			continue // an anchor shares a text
		}
		if err != nil {
			return err
		}
		p := pair{seed, g.kind, g.src, after, r.Bundle.Name, slices.Clone(r.Channels), map[string]string{r.Bundle.Image: r.Bundle.Name}}
		for name, image := range g.images {
			p.Images[image] = name
		}
		if err := out.Encode(p); err != nil {
			return err
		}
	}
	return nil
}
