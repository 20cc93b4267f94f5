package cli

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/testkit/corpus"
)

// TestPathsOfRealCatalogs asks the questions of docs/path.md. The answers were checked by hand against the
// channels' entries.
func TestPathsOfRealCatalogs(t *testing.T) {
	c := corpus.Large(t)
	const chain = "1.1.0 1.1.1 1.1.2 1.1.3 1.1.4 1.1.5 1.1.6 1.1.7"
	for _, test := range []struct{ from, to, flags, catalogs, want string }{
		{"external-dns-operator.v1.0.0", "1.3.8", "--platform 4.12..4.22", "repositories/external-dns-operator", "1.3.8 4.13 4.14 4.15 4.16 4.17 4.18 4.19 4.20 4.21 4.22"},
		{"external-dns-operator.v1.1.0", "1.2.4", "", "repositories/external-dns-operator", "stable-v1.2 1.2.4"},
		{"trustee-operator.v0.4.1", "1.2.1", "--platform 4.15..4.22", "repositories/trustee-fbc", "4.16 4.17 4.18 4.19 1.2.1 4.20 4.21 4.22"},
		{"mtv-operator.v2.5.7", "2.12.6", "--platform 4.14..4.22", "repositories/mtv-fbc", "4.15 4.17 4.18 4.19 4.20 release-v2.12 2.12.6 4.21 4.22"},
		{"mtv-operator.v2.12.6", "2.11.7", "", "repositories/mtv-fbc", "mtv-operator.v2.11.7 is below mtv-operator.v2.12.6, and no edge leads back"},
		{"rhtpa-operator.v1.0.0", "1.1.7", "--platform 4.18..4.20", "repositories/trusted-profile-analyzer-operator-fbc", "1.0.2 stable-v1.1 " + chain + " 4.19 4.20"},
		{"rhtpa-operator.v1.0.1", "1.1.0", "--platform 4.20", "repositories/trusted-profile-analyzer-operator-fbc", "in channel stable-v1.1 of 4.20, rhtpa-operator.v1.1.0 replaces rhtpa-operator.v1.0.1"},
		{"sailoperator.v1.25.1", "1.28.3", "", "validate/real/v4.20-sailoperator.yaml", "stable-1.28 1.28.3"},
		{"infinispan-operator.v2.4.18", "2.5.7", "", "validate/real/v4.20-infinispan.yaml", "OLM v0 passes over infinispan-operator.v2.5.7 on the way from infinispan-operator.v2.4.18 to infinispan-operator.v2.5.14"},
		{"infinispan-operator.v2.4.18", "2.5.7", "--olm v1", "validate/real/v4.20-infinispan.yaml", "2.5.7"},
		{"kube-green.v0.4.0", "0.7.1", "", "validate/real/v4.20-kube-green.yaml", "0.4.1 0.5.0 0.5.1 0.5.2 0.6.0 0.7.0 0.7.1"},
	} {
		t.Run(test.from+" to "+test.to, func(t *testing.T) {
			t.Parallel()
			name, _, _ := strings.Cut(test.from, ".v")
			args := append([]string{"path", "--from", test.from, "--to", name + ".v" + test.to}, strings.Fields(test.flags)...)
			var out, errs bytes.Buffer
			code := Main(context.Background(), append(args, realCatalogs(t, c, test.catalogs)...), command.IO{In: strings.NewReader(""), Out: &out, Err: &errs, Env: os.LookupEnv})
			if code != 0 {
				if code != 41 || !strings.Contains(errs.String(), test.want) {
					t.Errorf("exit code %d, got %s\nwant %s", code, errs.String(), test.want)
				}
				return
			}
			var steps []string
			for _, m := range pathStep.FindAllStringSubmatch(out.String(), -1) {
				steps = append(steps, m[1])
			}
			if got := strings.Join(steps, " "); got != test.want {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
		})
	}
}

// pathStep matches a line of a path with its platform, channel or version.
var pathStep = regexp.MustCompile(`(?m)^  (?:upgrade the cluster to |follow channel |upgrade to .*?\.v)([^,\n]+)`)

// realCatalogs writes the catalogs of an operator: a published one, or those in its repository for all
// platforms up to 4.22.
func realCatalogs(t *testing.T, c corpus.Corpus, name string) (all []string) {
	dir := t.TempDir()
	write := func(file string, text []byte) {
		at := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, text, 0o644); err != nil {
			t.Fatal(err)
		}
		all = append(all, at)
	}
	if strings.HasSuffix(name, ".yaml") {
		write(filepath.Base(name), c.Read(t, c.Files(t, name)[0]))
		return all
	}
	archive := c.Archive(t, name)
	err := fs.WalkDir(archive, ".", func(file string, _ fs.DirEntry, err error) error {
		platform, ok := plan.PlatformOf(file)
		if err == nil && ok && platform.Compare(plan.Platform{Major: 4, Minor: 22}) <= 0 && regexp.MustCompile(`/catalog\.(json|yaml)$`).MatchString(file) {
			write(file, archive[file].Data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
