package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/config"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/graph"
	"github.com/olmgraft/graft/internal/plan"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/template"
	"github.com/olmgraft/graft/internal/template/kind"
	"github.com/olmgraft/graft/internal/testkit/corpus"
	"github.com/olmgraft/graft/internal/testkit/effort"
	"github.com/olmgraft/graft/internal/testkit/gitremote"
	"github.com/olmgraft/graft/internal/testkit/registry"
	"github.com/olmgraft/graft/internal/testkit/servers"
)

// TestRepositories takes unchanged public repositories through the first day with Graft: init writes the
// configuration, publish adds the next version of the newest bundle, and then a rebuild of that bundle. The
// registry has only the new bundles. Each pull request changes only its bundle.
func TestRepositories(t *testing.T) {
	t.Parallel()
	c := corpus.Large(t)
	files := c.Files(t, "repositories/*.tar.xz")
	every := len(files) / effort.Of(t, 5, 5, len(files))
	for i, file := range files {
		if i%every != 0 {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(file), ".tar.xz")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &repository{files: below(t, c.Archive(t, "repositories/"+name))}
			err := r.firstDay(t)
			switch reason := notYet[name]; {
			case err != nil && reason == "":
				t.Error(err)
			case err != nil:
				t.Logf("%s: %v", reason, err)
			case reason != "":
				t.Errorf("the repository works, but is listed as failing: %s", reason)
			}
		})
	}
}

// notYet has the repositories for which the first day fails, and why.
var notYet = map[string]string{
	"konflux-coo-fbc":                       "its template names one image for two bundles; a script puts others in before it renders",
	"trusted-profile-analyzer-operator-fbc": "a script writes its templates, which opm does not render as they are; init refuses them",
}

// repository is a repository of the corpus during the test.
type repository struct {
	files  fstest.MapFS
	config *config.Config
	*servers.Servers
	registries string // redirects every host to the registry
}

// newest is the bundle with the highest version in the templates.
type newest struct {
	pkg, name, repository string
	version               semver.Version
}

func below(t *testing.T, files fstest.MapFS) fstest.MapFS {
	t.Helper()
	roots, err := fs.ReadDir(files, ".")
	if err != nil || len(roots) != 1 {
		t.Fatal("the archive has no folder of its own", err)
	}
	out := fstest.MapFS{}
	for name, file := range files {
		out[strings.TrimPrefix(name, roots[0].Name()+"/")] = file
	}
	return out
}

func (r *repository) firstDay(t *testing.T) error {
	if err := r.init(t); err != nil {
		return err
	}
	w, err := servers.Start(gitremote.Auto)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	r.Servers = w
	texts := map[string]string{}
	for name, file := range r.files {
		texts[name] = string(file.Data)
	}
	if err := w.Create(texts); err != nil {
		t.Fatal(err)
	}
	b, err := r.newest()
	if err != nil {
		return err
	}
	r.registries = filepath.Join(t.TempDir(), "registries.conf")
	host, _, _ := strings.Cut(b.repository, "/")
	conf := fmt.Sprintf("[[registry]]\nprefix = %q\nlocation = %q\ninsecure = true\n", host, w.Registry.Addr+"/"+host)
	if err := os.WriteFile(r.registries, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	before := b.version
	b.version.Patch, b.version.Pre, b.version.Build = before.Patch+1, nil, nil
	b.name = strings.Replace(b.name, before.String(), b.version.String(), 1)
	t.Logf("next: %s", b.name)
	if err := r.published(t, 1, b, registry.Small(b.pkg, b.name, b.version.String())); err != nil {
		return fmt.Errorf("the next version: %w", err)
	}
	if err := w.Merge(1); err != nil {
		t.Fatal(err)
	}
	again := registry.Small(b.pkg, b.name, b.version.String())
	again.Labels["build"] = "second"
	if err := r.published(t, 2, b, again, "--rebuild", "replace"); err != nil {
		return fmt.Errorf("the rebuild: %w", err)
	}
	return nil
}

// init writes the configuration.
func (r *repository) init(t *testing.T) error {
	dir := t.TempDir()
	if err := os.CopyFS(dir, r.files); err != nil {
		t.Fatal(err)
	}
	code, said := r.graft("init", dir)
	text, err := os.ReadFile(filepath.Join(dir, config.File))
	if code != 0 || err != nil {
		return errors.Join(err, fmt.Errorf("init: %d: %s", code, said))
	}
	t.Logf("init:\n%s%s", said, text)
	r.files[config.File] = &fstest.MapFile{Data: text}
	r.config, err = config.Parse(config.File, text)
	return err
}

// graft runs the command line and returns its exit code and its output.
func (r *repository) graft(args ...string) (int, string) {
	var out bytes.Buffer
	code := Main(context.Background(), args, command.IO{In: strings.NewReader(""), Out: &out, Err: &out, Env: func(key string) (string, bool) {
		if r.Servers == nil {
			return "", false
		}
		v, ok := r.Env()[key]
		return v, ok
	}})
	return code, out.String()
}

// newest searches the templates of the configuration.
func (r *repository) newest() (b newest, err error) {
	for _, target := range r.config.Targets {
		paths, err := fs.Glob(r.files, string(target.Template))
		if err != nil || len(paths) == 0 {
			return b, errors.Join(err, fmt.Errorf("no template is %s", target.Template))
		}
		for _, file := range paths {
			t, err := template.Open(r.files, file, file)
			if err != nil {
				return b, err
			}
			d := t.Describe()
			var names, repositories []string
			for _, ch := range d.Channels {
				names = append(names, ch.Entries...)
			}
			for _, image := range d.Bundles {
				repository, _, _ := reference.Cut(image.Image)
				repositories = append(repositories, repository)
			}
			names = append(names, r.inCatalogs(target, file)...)
			for _, name := range names {
				v, ok := graph.VersionOf(name)
				if ok && !strings.Contains(name, "/") && v.GT(b.version) && len(repositories) > 0 {
					b = newest{cmp.Or(target.Package, r.config.Package, d.Package), name, repositories[len(repositories)-1], v}
				}
			}
		}
	}
	if b.name == "" {
		return b, errors.New("no template of the configuration has a bundle")
	}
	return b, nil
}

// inCatalogs returns the names of bundles in a target's catalogs, because a semver template has none.
func (r *repository) inCatalogs(target plan.TargetSetup, file string) (names []string) {
	for _, c := range target.Catalogs {
		pattern := strings.NewReplacer("{folder}", path.Dir(file), "{platform}", "*", "{platformDashed}", "*", "{template}", "*", "{package}", "*").Replace(string(c.Path))
		found, _ := fs.Glob(r.files, pattern) // no match gives no names
		for _, at := range found {
			docs, err := fbc.ReadFS(r.files, at)
			if err != nil {
				docs, _ = fbc.Read(at, r.files[at].Data)
			}
			for _, d := range docs {
				if d.Schema == fbc.SchemaBundle {
					names = append(names, d.Name)
				}
			}
		}
	}
	return names
}

// published publishes a bundle as pull request n, and checks its changes.
func (r *repository) published(t *testing.T, n int, b newest, made registry.Bundle, more ...string) error {
	digest, err := r.Registry.Push(fmt.Sprintf("%s:t%d", b.repository, n), made, registry.Form{})
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"publish", "--repository", servers.Repository, "--image", b.repository + "@" + digest, "--registries-conf", r.registries}, more...)
	code, said := r.graft(args...)
	if code != 0 || !strings.Contains(said, "created") {
		return fmt.Errorf("publish: %d:\n%s", code, said)
	}
	prs := r.PullRequests()
	if len(prs) != n {
		return fmt.Errorf("there are %d pull requests", len(prs))
	}
	before, after := r.change(t, prs[n-1].Head)
	return bundleAlone(before, after, b)
}

// change returns the files that a commit changes, before and after.
func (r *repository) change(t *testing.T, branch string) (before, after map[string]string) {
	t.Helper()
	commits, err := r.Repo.Log(branch)
	if err != nil {
		t.Fatal(err)
	}
	names, err := r.Repo.Changed(commits[0].SHA)
	if err != nil {
		t.Fatal(err)
	}
	before, after = map[string]string{}, map[string]string{}
	for _, name := range names {
		for at, into := range map[string]map[string]string{commits[0].Parents[0]: before, commits[0].SHA: after} {
			text, err := r.Repo.Read(at, name)
			if err == nil {
				into[name] = text
			} else if !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
	}
	return before, after
}

// bundleAlone checks that a difference belongs to one bundle. In a catalog, only documents and entries of its
// name are added or changed. In other files, only lines with its repository are removed.
func bundleAlone(before, after map[string]string, b newest) error {
	var errs []error
	for _, file := range slices.Sorted(maps.Keys(after)) {
		var wrong []error
		lost := noSuchChannel(file, before[file])
		if was, now := units(file, before[file]), units(file, after[file]); now != nil {
			wrong = foreign(was, now, b.name, lost)
		} else {
			wrong = goneLines(before[file], after[file], b.repository, lost)
		}
		for _, err := range wrong {
			errs = append(errs, fmt.Errorf("%s: %w", file, err))
		}
	}
	for file := range before {
		if _, ok := after[file]; !ok {
			errs = append(errs, fmt.Errorf("%s is gone", file))
		}
	}
	if len(after) == 0 {
		errs = append(errs, errors.New("no file changed"))
	}
	return errors.Join(errs...)
}

// units returns the documents and entries of a catalog by name, or nil for any other file.
func units(file, text string) map[string]string {
	docs, err := fbc.Read(file, []byte(text))
	if err != nil || len(docs) == 0 || slices.ContainsFunc(docs, isTemplate) {
		return nil
	}
	out := map[string]string{}
	for _, d := range docs {
		text, err := d.JSON()
		if err != nil {
			return nil
		}
		key := d.Schema + " " + d.Package + " " + d.Name
		if ch, err := d.Channel(); d.Schema == fbc.SchemaChannel && err == nil {
			for _, e := range ch.Entries {
				out[key+" entry "+e.Name] = e.InWords()
			}
			continue
		}
		out[key] = string(text)
	}
	return out
}

// noSuchChannel returns the default channel of a template or catalog if it has no such channel, which the edit
// repairs.
func noSuchChannel(file, text string) string {
	t, err := template.Open(fstest.MapFS{file: {Data: []byte(text)}}, file, file)
	if err != nil {
		return "\x00"
	}
	d := t.Describe()
	if slices.ContainsFunc(d.Channels, func(c kind.Channel) bool { return c.Name == d.DefaultChannel }) {
		return "\x00"
	}
	return d.DefaultChannel
}

// handed reports whether an entry passed its skips to a new head, as in semver templates.
func handed(unit, was, is string, now map[string]string, head string) bool {
	channel, _, isEntry := strings.Cut(unit, " entry ")
	return isEntry && is == (fbc.Entry{}).InWords() && strings.Contains(now[channel+" entry "+head], was)
}

func foreign(was, now map[string]string, name, lost string) (errs []error) {
	own := func(unit string) bool { return strings.HasSuffix(unit, " "+name) }
	for _, unit := range slices.Sorted(maps.Keys(was)) {
		if text, ok := now[unit]; !ok && !own(unit) {
			errs = append(errs, fmt.Errorf("%s went", unit))
		} else if text != was[unit] && !own(unit) && !handed(unit, was[unit], text, now, name) && !strings.Contains(was[unit], `"defaultChannel":"`+lost+`"`) {
			errs = append(errs, fmt.Errorf("%s changed: %s", unit, firstDifference(was[unit], text)))
		}
	}
	for _, unit := range slices.Sorted(maps.Keys(now)) {
		if _, ok := was[unit]; !ok && !own(unit) {
			errs = append(errs, fmt.Errorf("%s came", unit))
		}
	}
	return errs
}

func goneLines(before, after, repository, lost string) (errs []error) {
	stands := map[string]bool{}
	for line := range strings.Lines(after) {
		stands[strings.TrimRight(strings.TrimSpace(line), ",")] = true
	}
	for line := range strings.Lines(before) {
		if text := strings.TrimRight(strings.TrimSpace(line), ","); !stands[text] && !strings.Contains(text, repository) && !strings.Contains(text, lost) {
			errs = append(errs, fmt.Errorf("the line %q is gone", text))
		}
	}
	return errs
}

func firstDifference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	from := max(0, i-60)
	return a[from:min(len(a), i+120)] + " becomes " + b[min(from, len(b)):min(len(b), i+120)]
}

func isTemplate(d fbc.Doc) bool {
	return strings.HasPrefix(d.Schema, "olm.template.") || d.Schema == "olm.semver"
}
