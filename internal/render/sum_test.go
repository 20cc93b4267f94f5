package render_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/bundle"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/oci"
	"github.com/olmgraft/graft/internal/render"
)

// A catalog.sum can be parsed in any order of its lines. A file that is not a sum, or that contradicts itself
// about an image, is refused at its line.
func TestSumFile(t *testing.T) {
	const a, b = "example.com/a:v1 sha256:1 h1:1\n", "example.com/b:v1 sha256:2 h1:2\n"
	for _, tt := range []struct {
		name, text string
		want       string // of its text, or of the failure
		code       failure.Code
	}{
		{"nothing", "", "", 0},
		{"in order", a + b, a + b, 0},
		{"out of order, with an empty line", b + "\n" + a, a + b, 0},
		{"without last line end", a + strings.TrimSpace(b), a + b, 0},
		{"line ends of another system", strings.ReplaceAll(a+b, "\n", "\r\n"), a + b, 0},
		{"a line twice", a + a, a, 0},
		{"two forms of a bundle", a + "example.com/a:v1 sha256:1 h1:0\n", "example.com/a:v1 sha256:1 h1:0\n" + a, 0},
		{"two digests of an image", a + b + "example.com/a:v1 sha256:3 h1:1\n", "catalog.sum:3:1: ", failure.DigestMismatch},
		{"a field too few", a + "example.com/b:v1 sha256:2\n", "catalog.sum:2:1: ", failure.Config},
		{"a field too many", a + "example.com/b:v1 sha256:2 h1:2 x\n", "catalog.sum:2:1: ", failure.Config},
		{"no digest", "example.com/b:v1 2 h1:2\n", "catalog.sum:1:1: ", failure.Config},
		{"no hash", "example.com/b:v1 sha256:2 2\n", "catalog.sum:1:1: ", failure.Config},
	} {
		sum, err := render.ParseSum("catalog.sum", []byte(tt.text))
		if tt.code != 0 {
			if !failure.Is(err, tt.code) || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("%s: got %v", tt.name, err)
			}
			continue
		}
		if err != nil || string(sum.Text()) != tt.want {
			t.Errorf("%s: got %v\n%s", tt.name, err, sum.Text())
		}
	}
}

// A sum contains each form of the template's bundles. It checks the digests of images when they are pulled and
// when tags are resolved again.
func TestSumOfARendering(t *testing.T) {
	const second = "- schema: olm.bundle\n  image: " + opImage + "1.1.0\n"
	both := shelfTemplate
	one := strings.Replace(both, second, "", 1)
	s := &fakeRegistry{digests: map[string]string{}}
	sum, err := render.ParseSum("catalog.sum", nil)
	if err != nil {
		t.Fatal(err)
	}
	base := render.NewBase(docsOf(t, text(t, open(t, "t.yaml", []byte(both)), render.Options{Registry: s})))
	s.took()
	const moved = "sha256:moved"
	for _, tt := range []struct {
		name, src string
		o         render.Options
		moved     string
		code      failure.Code
		lines     string // lines of the sum: versions with the digest and the number of their forms
		pulled    string
	}{
		{"two bundles are recorded", both, render.Options{}, "", 0, "1.0.0=1.0.0/1 1.1.0=1.1.0/1", "1.0.0 1.1.0"},
		{"in another form as well", both, render.Options{Metadata: bundle.CSVMetadata}, "", 0, "1.0.0=1.0.0/2 1.1.0=1.1.0/2", "1.0.0 1.1.0"},
		{"in another format it is the same", both, render.Options{Format: fbc.JSON}, "", 0, "1.0.0=1.0.0/2 1.1.0=1.1.0/2", "1.0.0 1.1.0"},
		{"a moved tag contradicts the sum", both, render.Options{}, moved, failure.DigestMismatch, "1.0.0=1.0.0/2 1.1.0=1.1.0/2", "1.0.0 1.1.0"},
		{"a base's tags are not resolved", both, render.Options{Base: base}, moved, 0, "1.0.0=1.0.0/2 1.1.0=1.1.0/2", ""},
		{"unless requested", both, render.Options{Base: base, RefreshTags: true}, moved, failure.DigestMismatch, "1.0.0=1.0.0/2 1.1.0=1.1.0/2", ""},
		{"tags that have not moved", both, render.Options{Base: base, RefreshTags: true}, "", 0, "1.0.0=1.0.0/2 1.1.0=1.1.0/2", ""},
		{"the new digest is taken where it is wanted", both, render.Options{Base: base, RefreshTags: true, UpdateSum: true}, moved, 0, "1.0.0=moved/1 1.1.0=1.1.0/2", "1.0.0"},
		{"and holds", both, render.Options{Base: base, RefreshTags: true}, moved, 0, "1.0.0=moved/1 1.1.0=1.1.0/2", ""},
		{"so that the old one is wrong", both, render.Options{Base: base, RefreshTags: true}, "", failure.DigestMismatch, "1.0.0=moved/1 1.1.0=1.1.0/2", ""},
		{"an image gone from the template leaves it", one, render.Options{Base: base}, moved, 0, "1.0.0=moved/1", ""},
		{"and is new when it comes back", both, render.Options{Base: base}, moved, 0, "1.0.0=moved/1 1.1.0=1.1.0/1", "1.1.0"},
	} {
		if s.digests[opImage+"1.0.0"] = ""; tt.moved != "" {
			s.digests[opImage+"1.0.0"] = tt.moved
		}
		tt.o.Registry, tt.o.Sum = s, sum
		_, err := render.Render(context.Background(), open(t, "t.yaml", []byte(tt.src)), tt.o)
		if failure.ExitCode(err) != int(tt.code) {
			t.Errorf("%s: got %v", tt.name, err)
		}
		if got := s.took(); got != tt.pulled {
			t.Errorf("%s: pulled %q, want %q", tt.name, got, tt.pulled)
		}
		forms := map[string]int{}
		for line := range strings.Lines(string(sum.Text())) {
			f := strings.Fields(line)
			forms[strings.TrimPrefix(f[0], opImage)+"="+strings.TrimPrefix(f[1], "sha256:")]++
		}
		var lines []string
		for at, n := range forms {
			lines = append(lines, at+"/"+strconv.Itoa(n))
		}
		slices.Sort(lines)
		if got := strings.Join(lines, " "); got != tt.lines {
			t.Errorf("%s: the sum has %s, want %s", tt.name, got, tt.lines)
		}
	}
}

// The registry is asked for the tags of copied bundles, but not for digests of those named by digest. The tags of
// a repository are listed once.
func TestNothingIsAskedTwice(t *testing.T) {
	s := &fakeRegistry{}
	sum, err := render.ParseSum("catalog.sum", nil)
	if err != nil {
		t.Fatal(err)
	}
	src := strings.Replace(shelfTemplate, "op:v1.1.0", "op:v1.1.0@sha256:1.1.0", 1)
	o := render.Options{Registry: pinnedShelf{s}, Sum: sum}
	o.Base = render.NewBase(docsOf(t, text(t, open(t, "t.yaml", []byte(src)), o)))
	s.asked, o.RefreshTags = nil, true
	if text(t, open(t, "t.yaml", []byte(src)), o); !slices.Equal(s.asked, []string{opImage + "1.0.0"}) {
		t.Errorf("asked for %v", s.asked)
	}
	s.asked = nil
	found := "schema: olm.template.goodstuff\npackage: {name: op}\nbundles: {repo: example.com/op, tagRegex: ^v}\ngraph-description: {name: stable, entries: [op.v1.0.0, op.v1.1.0]}\n"
	if text(t, open(t, "t.yaml", []byte(found)), render.Options{Registry: s}); !slices.Equal(s.asked, []string{"example.com/op"}) {
		t.Errorf("asked for %v", s.asked)
	}
}

// pinnedShelf also has a bundle by digest.
type pinnedShelf struct{ *fakeRegistry }

func (p pinnedShelf) Pull(ctx context.Context, ref string) (*oci.Pulled, error) {
	tagged, _, _ := strings.Cut(ref, "@")
	return p.fakeRegistry.Pull(ctx, tagged)
}

// A copy of a sum can be used and discarded; another sum's rows can be added.
func TestSumsOfSeveralCatalogs(t *testing.T) {
	sum, err := render.ParseSum("catalog.sum", []byte("a sha256:1 h1:1\nb sha256:2 h1:2\n"))
	if err != nil {
		t.Fatal(err)
	}
	copied := sum.Clone()
	other, err := render.ParseSum("catalog.sum", []byte("b sha256:2 h1:3\nc sha256:4 h1:4\n"))
	if err != nil {
		t.Fatal(err)
	}
	if copied.Add(other); string(sum.Text()) != "a sha256:1 h1:1\nb sha256:2 h1:2\n" {
		t.Errorf("the copy changed it:\n%s", sum.Text())
	}
	if got := string(copied.Text()); got != "a sha256:1 h1:1\nb sha256:2 h1:2\nb sha256:2 h1:3\nc sha256:4 h1:4\n" {
		t.Errorf("got\n%s", got)
	}
}

// broken is a registry that fails for some versions.
type broken struct {
	*fakeRegistry
	fail map[string]failure.Code
}

func (b broken) Pull(ctx context.Context, ref string) (*oci.Pulled, error) {
	p, err := b.fakeRegistry.Pull(ctx, ref)
	if code := b.fail[strings.TrimPrefix(ref, opImage)]; code != 0 {
		return nil, failure.New(code, "pulling %s", ref)
	}
	return p, err
}

// Every failing bundle is reported, and the others are rendered. An unavailable registry is not asked again.
func TestEveryBundleIsToldOf(t *testing.T) {
	src := "schema: olm.semver\nstable:\n  bundles:\n"
	for _, v := range []string{"1.0.0", "1.0.1", "1.0.2", "1.0.3"} {
		src += "  - image: " + opImage + v + "\n"
	}
	for _, tt := range []struct {
		name   string
		fail   map[string]failure.Code
		told   int
		pulled string
		steps  string
	}{
		{"none", nil, 0, "1.0.0 1.0.1 1.0.2 1.0.3", "1/4 2/4 3/4 4/4"},
		{"two that are not there", map[string]failure.Code{"1.0.0": failure.BundleNotFound, "1.0.2": failure.BundleNotFound}, 2, "1.0.0 1.0.1 1.0.2 1.0.3", "2/4 4/4"},
		{"no registry", map[string]failure.Code{"1.0.1": failure.RegistryUnavailable}, 1, "1.0.0 1.0.1", "1/4"},
		{"no credentials", map[string]failure.Code{"1.0.1": failure.RegistryAuth, "1.0.2": failure.RegistryAuth}, 1, "1.0.0 1.0.1", "1/4"},
	} {
		s := &fakeRegistry{}
		var steps []string
		_, err := render.Render(context.Background(), open(t, "t.yaml", []byte(src)), render.Options{
			Registry: broken{s, tt.fail}, Jobs: 1,
			Progress: func(done, total int, _ string) { steps = append(steps, strconv.Itoa(done)+"/"+strconv.Itoa(total)) },
		})
		if got := len(failure.All(err)); got != tt.told {
			t.Errorf("%s: %d failures, want %d: %v", tt.name, got, tt.told, err)
		}
		if got := s.took(); got != tt.pulled || strings.Join(steps, " ") != tt.steps {
			t.Errorf("%s: pulled %q, reported %q", tt.name, got, steps)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := render.Render(ctx, open(t, "t.yaml", []byte(src)), render.Options{Registry: &fakeRegistry{}}); !failure.Is(err, failure.Interrupted) {
		t.Errorf("a run that is over: got %v", err)
	}
}
