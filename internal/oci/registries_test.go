package oci

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/testkit/registry"
)

func TestSources(t *testing.T) {
	const conf = `
unqualified-search-registries = ["docker.io"]
short-name-mode = "enforcing"

[[registry]]
location = "quay.io"
[[registry.mirror]]
location = "mirror.example:5000/quay"
[[registry.mirror]]
location = "digests.example"
pull-from-mirror = "digest-only"
[[registry.mirror]]
location = "tags.example"
pull-from-mirror = "tag-only"

[[registry]]
prefix = "quay.io/acme"
location = "internal.example/acme-mirror"

[[registry]]
prefix = "quay.io/evil"
location = "quay.io/evil"
blocked = true

[[registry]]
prefix = "*.registry.example"
location = "one.example"

[[registry]]
prefix = "*.as-is.example"

[[registry]]
location = "docker.io"
[[registry.mirror]]
location = "hub.example"

[[registry]]
location = "release.example"
mirror-by-digest-only = true
[[registry.mirror]]
location = "release-mirror.example"
`
	digest := "sha256:" + strings.Repeat("ab", 32)
	cases := []struct{ repo, identifier, want string }{
		{"quay.io/other/op", "v1", "mirror.example:5000/quay/other/op tags.example/other/op quay.io/other/op"},
		{"quay.io/other/op", digest, "mirror.example:5000/quay/other/op digests.example/other/op quay.io/other/op"},
		{"quay.io/other/op", "", "quay.io/other/op"},
		{"quay.io/acme/op", "v1", "internal.example/acme-mirror/op"},
		{"quay.io/acme2/op", "v1", "mirror.example:5000/quay/acme2/op tags.example/acme2/op quay.io/acme2/op"},
		{"quay.io/evil/op", "v1", "blocked"},
		{"a.registry.example/x/op", "v1", "one.example/x/op"},
		{"registry.example/x/op", "v1", "registry.example/x/op"},
		{"a.as-is.example/x/op", "v1", "a.as-is.example/x/op"},
		{"docker.io/acme/op", "v1", "hub.example/acme/op index.docker.io/acme/op"},
		{"release.example/x/op", "v1", "release.example/x/op"},
		{"release.example/x/op", digest, "release-mirror.example/x/op release.example/x/op"},
		{"ghcr.io/x/op", "v1", "ghcr.io/x/op"},
	}
	parsed, err := parseRegistriesConf(conf)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range cases {
		sources, err := parsed.sources(mustRepo(t, tc.repo), tc.identifier)
		var got []string
		for _, at := range sources {
			got = append(got, at.Name())
		}
		if err != nil {
			got = []string{"blocked"}
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s %s: got %v, want %s", tc.repo, tc.identifier, got, tc.want)
		}
	}
}

func TestRegistriesConfRefused(t *testing.T) {
	cases := []struct {
		name, conf string
		line       int
		word       string
	}{
		{"no TOML", "[[registry]]\nlocation = \n", 2, ""},
		{"wrong type", "[[registry]]\nlocation = \"a.example\"\ninsecure = \"yes\"\n", 0, "insecure"},
		{"empty registry", "[[registry]]\n", 0, "neither prefix nor location"},
		{"prefix alone", "[[registry]]\nprefix = \"a.example\"\n", 0, "a.example"},
		{"scheme", "[[registry]]\nlocation = \"https://a.example\"\n", 0, "scheme"},
		{"no host", "[[registry]]\nlocation = \"a b\"\n", 0, "a b"},
		{"mirror without location", "[[registry]]\nlocation = \"a.example\"\n[[registry.mirror]]\ninsecure = true\n", 0, "mirror"},
		{"mirror setting", "[[registry]]\nlocation = \"a.example\"\n[[registry.mirror]]\nlocation = \"b.example\"\npull-from-mirror = \"never\"\n", 0, "never"},
		{"two settings", "[[registry]]\nlocation = \"a.example\"\nmirror-by-digest-only = true\n[[registry.mirror]]\nlocation = \"b.example\"\npull-from-mirror = \"all\"\n", 0, "b.example"},
		{"wildcard with port", "[[registry]]\nprefix = \"*.a.example:5000\"\n", 0, "wildcard"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "registries.conf")
			write(t, path, tc.conf)
			_, err := New(Options{RegistriesConf: path})
			f := wantFailure(t, err, failure.Usage, "", tc.word, "--registries-conf")
			if f.File != path || f.Line != tc.line {
				t.Errorf("at %s, want line %d of the file", f.Place(), tc.line)
			}
		})
	}
	_, err := New(Options{RegistriesConf: filepath.Join(t.TempDir(), "none.conf")})
	wantFailure(t, err, failure.Usage, "", "none.conf", "no such file")
}

// Two servers under two host names: a mirror and the original.
func TestMirrors(t *testing.T) {
	const ref = "quay.io/acme/operator:v1"
	bundle := sampleBundle()
	mirrored := sampleBundle()
	mirrored.Labels["from"] = "mirror"
	cases := []struct {
		name  string
		setup func(mirror, home *registry.Server)
		from  string
		code  failure.Code
		words []string
	}{
		{"the mirror first", func(mirror, home *registry.Server) {
			push(t, mirror, "quay/acme/operator:v1", mirrored, registry.Form{})
			push(t, home, "acme/operator:v1", bundle, registry.Form{})
		}, "mirror", 0, nil},
		{"not in the mirror", func(mirror, home *registry.Server) {
			push(t, home, "acme/operator:v1", bundle, registry.Form{})
		}, "", 0, nil},
		{"the mirror is down", func(mirror, home *registry.Server) {
			mirror.SetScript(func(registry.Request) registry.Fault { return registry.Fault{Status: 503} })
			push(t, home, "acme/operator:v1", bundle, registry.Form{})
		}, "", 0, nil},
		{"nowhere", func(mirror, home *registry.Server) {
			mirror.SetScript(func(registry.Request) registry.Fault { return registry.Fault{Status: 403} })
		}, "", failure.BundleNotFound, []string{"mirror.example/quay/acme/operator: registry-auth"}},
		{"altered by the mirror", func(mirror, home *registry.Server) {
			push(t, mirror, "quay/acme/operator:v1", mirrored, registry.Form{})
			push(t, home, "acme/operator:v1", bundle, registry.Form{})
			mirror.SetScript(onManifests(0, registry.Fault{Alter: flip}))
		}, "", failure.DigestMismatch, nil},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			mirror, home := startServer(t), startServer(t)
			tc.setup(mirror, home)
			path := filepath.Join(t.TempDir(), "registries.conf")
			write(t, path, "[[registry]]\nlocation = \"quay.io\"\n[[registry.mirror]]\nlocation = \"mirror.example/quay\"\n")
			c, _ := newClient(t, home, nil, func(o *Options) {
				o.RegistriesConf, o.Transport = path, byHost{"mirror.example": mirror.Transport(), "quay.io": home.Transport()}
			})
			got, err := c.Pull(context.Background(), ref)
			if tc.code != 0 {
				wantFailure(t, err, tc.code, ref, tc.words...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.Labels["from"] != tc.from || got.Ref != ref {
				t.Errorf("%s came from %q", got.Ref, got.Labels["from"])
			}
			if digest, err := c.Resolve(context.Background(), ref); err != nil || digest != got.Digest {
				t.Errorf("resolved to %s, %v, pulled %s", digest, err, got.Digest)
			}
		})
	}
}

func TestMirrorThatIsDownIsLeftAlone(t *testing.T) {
	mirror, home := startServer(t), startServer(t)
	mirror.SetScript(func(registry.Request) registry.Fault { return registry.Fault{Status: 503} })
	push(t, home, "acme/operator:v1", sampleBundle(), registry.Form{})
	path := filepath.Join(t.TempDir(), "registries.conf")
	write(t, path, "[[registry]]\nlocation = \"quay.io\"\n[[registry.mirror]]\nlocation = \"mirror.example\"\n")
	c, _ := newClient(t, home, nil, func(o *Options) {
		o.RegistriesConf, o.Transport = path, byHost{"mirror.example": mirror.Transport(), "quay.io": home.Transport()}
	})
	for range 5 {
		if _, err := c.Pull(context.Background(), "quay.io/acme/operator:v1"); err != nil {
			t.Fatal(err)
		}
	}
	if mirror.Count() != 4 {
		t.Errorf("the mirror was asked %d times, want the attempts of one request", mirror.Count())
	}
}

func TestBlockedRegistry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registries.conf")
	write(t, path, "[[registry]]\nlocation = \"quay.io\"\nblocked = true\n")
	s := startServer(t)
	c, _ := newClient(t, s, nil, func(o *Options) { o.RegistriesConf = path })
	for _, ask := range []func() error{
		func() error { _, err := c.Pull(context.Background(), "quay.io/acme/op:v1"); return err },
		func() error { _, err := c.Resolve(context.Background(), "quay.io/acme/op:v1"); return err },
		func() error { _, err := c.Tags(context.Background(), "quay.io/acme/op"); return err },
	} {
		wantFailure(t, ask(), failure.BundleNotAllowed, "", "quay.io")
	}
	if s.Count() != 0 {
		t.Errorf("requests were made: %v", s.Requests())
	}
}

func TestInsecureByFile(t *testing.T) {
	conf, err := parseRegistriesConf("[[registry]]\nlocation = \"a.example:5000/x\"\ninsecure = true\n[[registry.mirror]]\nlocation = \"b.example\"\n[[registry.mirror]]\nlocation = \"c.example/y\"\ninsecure = true\n")
	if err != nil {
		t.Fatal(err)
	}
	hosts := conf.insecureHosts()
	if len(hosts) != 2 || !hosts["a.example:5000"] || !hosts["c.example"] {
		t.Errorf("got %v", hosts)
	}
	if h := newHosts(Options{}, conf); h.verified == h.unverified {
		t.Error("all hosts are verified alike")
	}
}

// Any file: no panic, and an accepted file can be used.
func FuzzRegistriesConf(f *testing.F) {
	f.Add("[[registry]]\nlocation = \"quay.io\"\n[[registry.mirror]]\nlocation = \"mirror.example/quay\"\n", "quay.io/acme/op")
	f.Add("[[registry]]\nprefix = \"*.example\"\nblocked = true\n", "a.example/op")
	f.Add("[[registry]]\nprefix = \"docker.io/a\"\nlocation = \"docker.io\"\ninsecure = true\n", "docker.io/a/b")
	f.Fuzz(func(t *testing.T, data, repository string) {
		conf, err := parseRegistriesConf(data)
		if err != nil {
			return
		}
		conf.insecureHosts()
		repo, err := parseRepository(repository)
		if err != nil {
			return
		}
		sources, err := conf.sources(repo, "v1")
		if err == nil && len(sources) == 0 {
			t.Error("no source and no failure")
		}
	})
}
