package relay

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/relay/queue/jetstream"
)

func parseQueue(t *testing.T, said string) *Config {
	t.Helper()
	c, err := Parse("relay.yaml", []byte(`queue: `+said+`
routes: [{path: /hook, from: client_payload, secretEnv: SECRET}]
targets: [{images: ["quay.io/example/*"], repositories: [octo/catalog]}]
`))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// An address is short for a mapping with it. The other values keep their defaults.
func TestPlacesOfTheQueue(t *testing.T) {
	for said, want := range map[string]Queue{
		"nats://a:4222": {Dir: "/var/lib/graft", Items: 10_000, Bytes: 16 << 20, URL: "nats://a:4222", Stream: "GRAFT", Replicas: 3, Partitions: 16},
		"{url: 'tls://a:4222,tls://b:4222', items: 5, bytes: 65536, stream: OTHER, replicas: 1, partitions: 2, creds: /c, tls: {ca: /ca, cert: /cert, key: /key}}": {
			Dir: "/var/lib/graft", Items: 5, Bytes: 65536, URL: "tls://a:4222,tls://b:4222", Stream: "OTHER", Replicas: 1, Partitions: 2, Creds: "/c",
			TLS: jetstream.TLS{CA: "/ca", Cert: "/cert", Key: "/key"},
		},
		"{dir: /q}": {Dir: "/q", Items: 10_000, Bytes: 16 << 20, Stream: "GRAFT", Replicas: 3, Partitions: 16},
	} {
		if got := parseQueue(t, said).Queue; got != want {
			t.Errorf("%s is read as %+v", said, got)
		}
	}
	q := parseQueue(t, "nats://a:4222").Queue
	if q.Use("/elsewhere"); q.URL != "" || q.Dir != "/elsewhere" {
		t.Errorf("a folder is used as %+v", q)
	}
	if q.Use(""); q.Dir != "/elsewhere" {
		t.Errorf("nothing is used as %+v", q)
	}
	if q.Use("nats://b:4222"); q.URL != "nats://b:4222" {
		t.Errorf("an address is used as %+v", q)
	}
}

func TestFaultsOfTheQueue(t *testing.T) {
	for value, says := range map[string]string{
		"[nats://a]":                             "must be",
		"/var/lib/graft":                         "not an address of NATS",
		"http://a:4222":                          "not an address of NATS",
		"nats://a:4222,b:4222":                   "not an address of NATS",
		"nats://user:pass@a:4222":                "the address has a secret",
		"{url: 'nats://a', dir: /q}":             "url is set too",
		"{url: 'nats://a', stream: a.b}":         "not the name of a stream",
		"{url: 'nats://a', replicas: 6}":         "not a number of replicas",
		"{url: 'nats://a', partitions: 0}":       "not a number of partitions",
		"{url: 'nats://a', creds: /c, nkey: /n}": "creds is set too",
		"{url: 'nats://a', tls: {cert: /c}}":     "need each other",
		"{nkey: /n}":                             "creds, nkey and tls need url",
	} {
		holdFault(t, "queue", value, says, 1)
	}
}

// Missing files are reported before anything is opened, and an unreachable address when the queue is opened.
func TestSharedQueueIsAbsent(t *testing.T) {
	w := &fixture{t: t, log: &logBuffer{}, env: map[string]string{"SECRET": secret, "GITHUB_TOKEN": ghToken}}
	c := parseQueue(t, "{url: 'nats://"+freeAddress(t)+"', nkey: "+filepath.Join(t.TempDir(), "missing")+"}")
	if err := Check(c, w.options()); !failure.Is(err, failure.Usage) || !strings.Contains(err.Error(), "the credentials of the queue") {
		t.Errorf("%v", err)
	}
	c.Queue.NKey = ""
	if err := Check(c, w.options()); err != nil {
		t.Errorf("%v", err)
	}
	if _, err := Open(t.Context(), c, w.options()); !failure.Is(err, failure.Usage) || !strings.Contains(failure.Of(err).Message, "connecting to the queue") || failure.Of(err).Remedy == "" {
		t.Errorf("%v", err)
	}
	if err := Letters(t.Context(), c, w.options(), &bytes.Buffer{}); !failure.Is(err, failure.Usage) {
		t.Errorf("%v", err)
	}
}

// The example of relays that share a queue has their credentials for it in the secret, and otherwise equals the
// example of one relay.
func TestConfigurationOfReplicas(t *testing.T) {
	all := configurations(t)
	c, err := Parse("relay.yaml", []byte(all["deploy/relay/nats/configuration.patch.yaml"]))
	if err != nil {
		t.Fatal(err)
	}
	one, err := Parse("relay.yaml", []byte(all["deploy/relay/base/relay.yaml"]))
	if err != nil {
		t.Fatal(err)
	}
	if c.Queue.URL == "" || filepath.Dir(c.Queue.NKey) != filepath.Dir(c.GitHub.TokenFile) {
		t.Errorf("the queue is %+v", c.Queue)
	}
	if c.Queue = one.Queue; !reflect.DeepEqual(c, one) {
		t.Errorf("they differ: %+v, %+v", c, one)
	}
}

// The letters of a folder are those of both of its files, older ones first.
func TestLetters(t *testing.T) {
	dir := t.TempDir()
	c := parseQueue(t, "{dir: "+dir+"}")
	var out bytes.Buffer
	if err := Letters(t.Context(), c, Options{}, &out); err != nil || out.Len() != 0 {
		t.Errorf("of none there are %q, %v", out.String(), err)
	}
	for name, text := range map[string]string{"dead.jsonl": "{\"id\":\"b\"}\n", "dead.1.jsonl": "{\"id\":\"a\"}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Letters(t.Context(), c, Options{}, &out); err != nil || out.String() != "{\"id\":\"a\"}\n{\"id\":\"b\"}\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}
