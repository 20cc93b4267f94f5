package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/olmgraft/graft/internal/fbc/canonical"
	"github.com/olmgraft/graft/internal/yamlread"
)

// rounds returns the number of random inputs. GRAFT_ROUNDS sets it.
func rounds(usual int) int {
	if n, err := strconv.Atoi(os.Getenv("GRAFT_ROUNDS")); err == nil {
		return n
	}
	return usual
}

var yamlPieces = []string{
	"a", "b", "key", "a: ", "b: ", "- ", "-", "? ", ": ", ":", ", ", ",", "[", "]", "{", "}", "'", "\"", "\n", "\n", "\n", "\n  ", "\n    ", "\n ", " ", "  ", "\t",
	"|", ">", "|-\n", ">+\n", "|2\n", "#", " # c", "&x ", "*x ", "*x", "!!str ", "!!int ", "! ", "!a!b ", "<<: ", "<<", "\n---\n", "\n...\n", "%YAML 1.1\n", "%TAG !a! tag:\n",
	"1", "0x1f", "1.5", "true", "y", "~", "null", "2001-01-01", ".inf", "''", "\"\"", "\\", "\\n", "\\\n", "\\u00e9", "é", "😀", "\u2028", "\u0085", "\r\n", "\r", "\u00a0", "@", "`", "%", "long text with words in it ",
}

func TestRandomYAML(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, uint64(rounds(1))))
	valid := 0
	n := rounds(30000)
	for range n {
		var b strings.Builder
		for range 1 + rng.IntN(24) {
			b.WriteString(yamlPieces[rng.IntN(len(yamlPieces))])
		}
		src := []byte(b.String())
		start := time.Now()
		if _, err := yamlread.ToJSON(src); err == nil {
			valid++
		}
		if d := time.Since(start); d > time.Second {
			t.Errorf("%q took %v", src, d)
		}
		compareToJSON(t, src)
	}
	t.Logf("%d of %d were valid", valid, n)
}

// Graft refuses documents with aliases of aliases where opm refuses them.
func TestAliases(t *testing.T) {
	refused := 0
	for depth := 1; depth < 12; depth++ {
		for fan := 1; fan < 12; fan++ {
			if math.Pow(float64(fan), float64(depth)) > 1e7 {
				continue // opm takes long to refuse these
			}
			for _, form := range []string{"a%d: &a%d [%s]\n", "a%d: &a%d {k: [%s]}\n", "? a%d\n: &a%d\n  - [%s]\n"} {
				var b strings.Builder
				b.WriteString("a0: &a0 x\n")
				for i := 1; i <= depth; i++ {
					fmt.Fprintf(&b, form, i, i, strings.TrimSuffix(strings.Repeat("*a"+strconv.Itoa(i-1)+", ", fan), ", "))
				}
				src := []byte(b.String())
				want, wantErr := yaml.YAMLToJSON(src)
				got, err := yamlread.ToJSON(src)
				if (err == nil) != (wantErr == nil) || !bytes.Equal(got, want) {
					t.Errorf("depth %d, fan %d: %v, want %v", depth, fan, err, wantErr)
				}
				if err != nil {
					refused++
				}
			}
		}
	}
	t.Logf("%d refused", refused)
}

var awkward = []string{
	"a", "b", "Z", " ", "  ", "\n", "\n\n", "\t", "\r", ":", ": ", " #", "#", "-", "- ", "?", "'", "\"", "\\", "{", "}", "[", "]", ",", "&", "*", "!", "|", ">", "%", "@", "`", "0", "1", "9", "10", "0x", ".", "---", "...", "e", "+", "_", "~", "y", "no", "null", "<<", "=",
	"true", "12:30", "2001-01-01", ".inf", "é", "日本", "😀", "\u0085", "\u2028", "\u00a0", "\ufeff", "\ufffd", "\u0000", "\u001b", "\u007f", "\u0080", "word ", "word ", "some longer text ", "kube/name-", "v1", "alpha",
}

func randomString(rng *rand.Rand) string {
	var b strings.Builder
	n := rng.IntN(6)
	if rng.IntN(6) == 0 {
		n = rng.IntN(60)
	}
	for range n {
		b.WriteString(awkward[rng.IntN(len(awkward))])
	}
	return b.String()
}

func randomValue(rng *rand.Rand, depth int) any {
	switch k := rng.IntN(10); {
	case k < 4 || depth > 4:
		return randomString(rng)
	case k == 4:
		return []any{nil, true, false, 0, -1, 1 << 53, 1e21, 1e-7, 0.5, -2.5e300, math.MaxInt64, uint64(math.MaxUint64), 1e6, 123456789.125}[rng.IntN(14)]
	case k < 7:
		list := make([]any, rng.IntN(4))
		for i := range list {
			list[i] = randomValue(rng, depth+1)
		}
		return list
	default:
		m := map[string]any{}
		for range rng.IntN(5) {
			m[randomString(rng)] = randomValue(rng, depth+1)
		}
		return m
	}
}

func TestRandomJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, uint64(rounds(1))))
	valid := 0
	n := rounds(30000)
	for range n {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(rng.IntN(2) == 0)
		if err := enc.Encode(randomValue(rng, 0)); err != nil {
			t.Fatal(err)
		}
		src := b.Bytes()
		if bytes.Contains(src, []byte("\ufeff")) {
			continue // see incomparable
		}
		want, wantErr := yaml.JSONToYAML(src)
		got, err := canonical.FromJSON(src)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%s\n error %v\n  want %v", src, err, wantErr)
		}
		if err != nil {
			continue
		}
		valid++
		if !bytes.Equal(got, want) && steady(yaml.JSONToYAML, src) {
			t.Fatalf("%s\n got %q\nwant %q", src, got, want)
		}
		compareToJSON(t, got)
		compareToJSON(t, src)
	}
	t.Logf("%d of %d were valid", valid, n)
}
