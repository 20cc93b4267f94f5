package conformance

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	layers "github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/operator-framework/operator-registry/pkg/api"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/olmgraft/graft/internal/cli"
	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if opmDir != "" {
		_ = os.RemoveAll(opmDir) // the system also cleans up
	}
	os.Exit(code)
}

var opmDir string

// opmBinary builds opm once, with the tags of its release.
var opmBinary = sync.OnceValues(func() (string, error) {
	tags, err := os.ReadFile("tags")
	if err != nil {
		return "", err
	}
	if opmDir, err = os.MkdirTemp("", "opm"); err != nil {
		return "", err
	}
	opm := filepath.Join(opmDir, "opm")
	out, err := exec.Command("go", "build", "-mod=mod", "-tags", strings.TrimSpace(string(tags)), "-ldflags=-s -w", "-o", opm, "github.com/operator-framework/operator-registry/cmd/opm").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building opm: %w\n%s", err, out)
	}
	return opm, nil
})

func opm(t *testing.T, args ...string) string {
	t.Helper()
	binary, err := opmBinary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, args...)
	cmd.Dir = t.TempDir()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("opm %v: %v\n%s", args, err, stderr.String())
	}
	return string(out)
}

func graft(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, stderr bytes.Buffer
	code := cli.Main(context.Background(), args, command.IO{In: strings.NewReader(""), Out: &out, Err: &stderr, Env: func(string) (string, bool) { return "", false }})
	if code != 0 {
		t.Fatalf("graft %v: exit code %d\n%s", args, code, stderr.String())
	}
	return out.Bytes()
}

// catalogDir has two packages. The second has edges of every kind.
func catalogDir(t *testing.T) string {
	t.Helper()
	bundle := func(pkg, version string) string {
		return fmt.Sprintf("---\nschema: olm.bundle\npackage: %[1]s\nname: %[1]s.v%[2]s\nimage: quay.io/example/%[1]s:v%[2]s\nproperties:\n- type: olm.package\n  value: {packageName: %[1]s, version: %[2]s}\n- type: olm.csv.metadata\n  value: {displayName: %[1]s}\n", pkg, version)
	}
	dir := filepath.Join(t.TempDir(), "v4.20")
	for file, text := range map[string]string{
		"one/catalog.yaml": "---\nschema: olm.package\nname: one\ndefaultChannel: stable\n---\nschema: olm.channel\npackage: one\nname: stable\nentries:\n- name: one.v1.0.0\n" + bundle("one", "1.0.0"),
		"two/catalog.yaml": "---\nschema: olm.package\nname: two\ndefaultChannel: fast\n" +
			"---\nschema: olm.channel\npackage: two\nname: fast\nentries:\n- name: two.v1.0.0\n- name: two.v1.1.0\n  replaces: two.v1.0.0\n- name: two.v1.2.0\n  replaces: two.v1.0.0\n  skips: [two.v1.1.0]\n  skipRange: <1.2.0\n" +
			"---\nschema: olm.channel\npackage: two\nname: slow\nentries:\n- name: two.v1.0.0\n- name: two.v1.1.0\n  replaces: two.v1.0.0\n" +
			bundle("two", "1.0.0") + bundle("two", "1.1.0") + bundle("two", "1.2.0"),
		"two/notes.txt": "opm would not read this as a catalog\n", ".indexignore": "*.txt\n",
	} {
		path := filepath.Join(dir, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// opmBase returns a base for catalogs of OLM v0: opm and, as in the base of another catalog, that catalog with
// its cache.
func opmBase(t *testing.T, s *registry.Server) string {
	t.Helper()
	binary, err := opmBinary()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := registry.Tar(
		registry.Entry{Name: "bin/opm", Data: text}, registry.Entry{Name: "configs/old/catalog.yaml", Data: []byte("schema: olm.package\nname: old\n")},
		registry.Entry{Name: "tmp/cache/pogreb.v1/digest", Data: []byte("0123456789abcdef")},
	)
	if err != nil {
		t.Fatal(err)
	}
	layer, err := registry.Pack(archive, registry.Zstd, true)
	if err != nil {
		t.Fatal(err)
	}
	image, err := registry.ImageConfig(archive)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.PushImage("acme/opm:v1", registry.Image{OCI: true, Layers: []registry.Layer{layer}, Config: image}); err != nil {
		t.Fatal(err)
	}
	return s.Addr + "/acme/opm:v1"
}

// opm renders and validates an image that Graft pushed like its directory, and serves it with the image's command.
func TestImagesAreTakenByOpm(t *testing.T) {
	s, err := registry.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := catalogDir(t)
	want := opm(t, "render", dir)
	if !strings.Contains(want, "two.v1.2.0") {
		t.Fatalf("opm renders the directory to %s", want)
	}
	for name, base := range map[string]string{"scratch": "scratch", "opm": opmBase(t, s)} {
		t.Run(name, func(t *testing.T) {
			ref := s.Addr + "/acme/" + name + ":v4.20"
			graft(t, "image", "push", "--to", s.Addr+"/acme/"+name, "--tag", "v{platform_version}", "--base", base, dir)
			if got := opm(t, "render", ref, "--use-http"); got != want {
				t.Errorf("opm renders the image to\n%s\nand the directory to\n%s", got, want)
			}
			if got := graft(t, "diff", "--json", dir, ref); bytes.Contains(got, []byte("two.v")) {
				t.Errorf("graft finds changes: %s", got)
			}
			root, command := unpackImage(t, ref)
			opm(t, "validate", filepath.Join(root, "configs"))
			if name == "scratch" {
				if len(command) > 0 {
					t.Errorf("an image without a base has a command: %v", command)
				}
				return
			}
			serves(t, root, command, graft(t, "graph", "-o", "json", dir))
		})
	}
}

// unpackImage writes the files of an image and returns its command.
func unpackImage(t *testing.T, ref string) (root string, command []string) {
	t.Helper()
	parsed, err := name.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	image, err := remote.Image(parsed)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	flat := layers.Extract(image)
	defer flat.Close()
	root = t.TempDir()
	for r := tar.NewReader(flat); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return root, slices.Concat(config.Config.Entrypoint, config.Config.Cmd)
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(r)
		path := filepath.Join(root, h.Name)
		if err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
}

// serves starts the image's command with the image's own opm and with paths below root, and compares the
// answers over grpc with graft graph.
func serves(t *testing.T, root string, command []string, graph []byte) {
	t.Helper()
	var args []string
	for _, arg := range command {
		flag, path, ok := strings.Cut(arg, "=")
		switch {
		case strings.HasPrefix(arg, "/"):
			arg = filepath.Join(root, arg)
		case ok && strings.HasPrefix(path, "/"):
			arg = flag + "=" + filepath.Join(root, path)
		}
		args = append(args, arg)
	}
	port := freePort(t)
	cmd := exec.Command(args[0], append(args[1:], "--port", port, "--pprof-addr=", "--termination-log", filepath.Join(t.TempDir(), "log"))...)
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
		if t.Failed() {
			t.Logf("%v\n%s", args, log.String())
		}
	}()
	conn, err := grpc.NewClient("127.0.0.1:"+port, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	compareServed(ctx, t, api.NewRegistryClient(conn), graph)
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func compareServed(ctx context.Context, t *testing.T, client api.RegistryClient, graph []byte) {
	t.Helper()
	var want struct {
		Packages []struct {
			Name     string
			Channels []struct {
				Name    string
				Default bool
				Nodes   []struct {
					Name string
					Head bool
				}
			}
		}
	}
	if err := json.Unmarshal(graph, &want); err != nil {
		t.Fatal(err)
	}
	var names, served []string
	stream, err := client.ListPackages(ctx, &api.ListPackageRequest{}, grpc.WaitForReady(true))
	for err == nil {
		var p *api.PackageName
		if p, err = stream.Recv(); err == nil {
			served = append(served, p.Name)
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	slices.Sort(served)
	for _, p := range want.Packages {
		names = append(names, p.Name)
		got, err := client.GetPackage(ctx, &api.GetPackageRequest{Name: p.Name})
		if err != nil {
			t.Fatal(err)
		}
		heads, channels := map[string]string{}, map[string]string{}
		for _, ch := range got.Channels {
			channels[ch.Name] = ch.CsvName
		}
		for _, ch := range p.Channels {
			for _, n := range ch.Nodes {
				if n.Head {
					heads[ch.Name] = n.Name
				}
			}
			if ch.Default != (got.DefaultChannelName == ch.Name) {
				t.Errorf("the default channel of %s is %s", p.Name, got.DefaultChannelName)
			}
		}
		if fmt.Sprint(heads) != fmt.Sprint(channels) || len(heads) == 0 {
			t.Errorf("%s: opm serves %v, the graph has %v", p.Name, channels, heads)
		}
	}
	if !slices.Equal(names, served) || len(names) != 2 {
		t.Errorf("opm serves the packages %v, the graph has %v", served, names)
	}
}

// The reason for not using --cache-dir: with it, opm ends if the cache does not match the catalog.
func TestOpmEndsOnStaleCache(t *testing.T) {
	binary, err := opmBinary()
	if err != nil {
		t.Fatal(err)
	}
	dir, cache := catalogDir(t), t.TempDir()
	for _, what := range []string{"empty", "stale"} {
		out, err := exec.Command(binary, "serve", dir, "--cache-dir="+cache, "--pprof-addr=", "--port", freePort(t), "--termination-log", filepath.Join(t.TempDir(), "log")).CombinedOutput()
		if err == nil || !bytes.Contains(out, []byte("integrity check failed")) {
			t.Errorf("with an %s cache: %v\n%s", what, err, out)
		}
		if what == "empty" {
			opm(t, "serve", dir, "--cache-dir="+cache, "--cache-only", "--pprof-addr=", "--termination-log", filepath.Join(t.TempDir(), "log"))
			if err := os.WriteFile(filepath.Join(dir, "one", "more.yaml"), []byte("---\nschema: x\nname: y\npackage: one\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
