// Package relay receives the webhooks of registries and sends repository_dispatch events to the repositories
// that its configuration maps the images to.
//
// Each delivery that was answered with 202 is on disk. The relay sends it until GitHub has accepted it or
// refused it permanently; a refused one becomes a dead letter. An event arrives at least once, each time with
// the same id.
package relay

import (
	_ "embed" // the schema
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"gopkg.in/yaml.v3"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/schema"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Config is the content of the configuration file. relay.schema.json is its schema, and docs/relay-reference.md
// describes each key.
type Config struct {
	Listen         string        `yaml:"listen"`
	AdminListen    string        `yaml:"adminListen"`
	Queue          Queue         `yaml:"queue"`
	GitHub         GitHub        `yaml:"github"`
	Limits         Limits        `yaml:"limits"`
	ReplayWindow   time.Duration `yaml:"replayWindow"`
	ResolveDigests bool          `yaml:"resolveDigests"`
	SkipTags       []string      `yaml:"skipTags"`
	Tracing        Tracing       `yaml:"tracing"`
	Routes         []Route       `yaml:"routes"`
	Targets        []Target      `yaml:"targets"`
}

// GitHub configures where events are sent, with which credentials, and how often.
type GitHub struct {
	APIURL    string `yaml:"apiURL"`
	TokenFile string `yaml:"tokenFile"`
	App       *App   `yaml:"app"`
	// Pace is the minimum time between two events. GitHub asks for a second.
	Pace time.Duration `yaml:"pace"`
	// Group is how long a delivery waits for others to the same repository, to share one event with them. 0
	// sends each in its own event.
	Group        time.Duration `yaml:"group"`
	FirstRetry   time.Duration `yaml:"firstRetry"`
	LongestRetry time.Duration `yaml:"longestRetry"`
	GiveUpAfter  time.Duration `yaml:"giveUpAfter"`
}

// App is a GitHub App with one of its installations. Without Installation, each installation is used for the
// repositories of its account.
type App struct {
	ID           string `yaml:"id"`
	Installation string `yaml:"installation"`
	KeyFile      string `yaml:"keyFile"`
}

// Tracing configures where traces go.
type Tracing struct {
	// Endpoint is the address of a collector that accepts OTLP over HTTP.
	Endpoint string `yaml:"endpoint"`
}

// Limits limits the cost of requests from strangers.
type Limits struct {
	Body        int64         `yaml:"body"`
	Connections int           `yaml:"connections"`
	Requests    int           `yaml:"requests"`
	PerAddress  int           `yaml:"perAddress"`
	Proxies     []string      `yaml:"trustedProxies"`
	Timeout     time.Duration `yaml:"timeout"`
}

// Route is a path and the authentication of its senders.
type Route struct {
	Path       string      `yaml:"path"`
	From       string      `yaml:"from"`
	Proof      event.Proof `yaml:"proof"`
	SecretFile string      `yaml:"secretFile"`
	SecretEnv  string      `yaml:"secretEnv"`
	// Audience and Account must match those of Google's tokens. KeysURL is the address of Google's keys.
	Audience string `yaml:"audience"`
	Account  string `yaml:"account"`
	KeysURL  string `yaml:"keysURL"`
}

// Target maps images to the repositories that receive them.
type Target struct {
	Images       []string `yaml:"images"`
	Except       []string `yaml:"except"`
	Repositories []string `yaml:"repositories"`
	EventType    string   `yaml:"eventType"`
}

func defaults() *Config {
	c := &Config{Listen: ":8080", ReplayWindow: 72 * time.Hour}
	c.Queue = Queue{Dir: "/var/lib/graft", Items: 10_000, Bytes: 16 << 20, Stream: "GRAFT", Replicas: 3, Partitions: 16}
	c.GitHub = GitHub{
		APIURL: "https://api.github.com", Pace: time.Second,
		FirstRetry: time.Second, LongestRetry: 10 * time.Minute, GiveUpAfter: 7 * 24 * time.Hour,
	}
	c.Limits = Limits{Body: 256 << 10, Connections: 8192, Requests: 256, PerAddress: 64, Timeout: 10 * time.Second}
	return c
}

// Read reads a configuration file. It reports all faults, each with its place.
func Read(path string) (*Config, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, failure.New(failure.Usage, "reading the configuration: %w", err).Fix("Give --config with a file that exists.")
	}
	return Parse(path, src)
}

//go:embed relay.schema.json
var schemaText []byte

var schemaNode = sync.OnceValue(func() *yamledit.Node { return schema.Parse("relay.schema.json", schemaText) })

var compiled = sync.OnceValue(func() *schema.Schema {
	s := schema.Compile(schemaNode(), nil)
	s.Kubernetes = true
	return s
})

// Parse parses a configuration.
func Parse(name string, src []byte) (*Config, error) {
	root, err := schema.Configuration(name, src)
	if err != nil {
		return nil, err
	}
	var faults []error
	for _, f := range compiled().Check(root) {
		if why := misfit(f); why != nil {
			faults = append(faults, why)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	c := defaults()
	if err := yaml.Unmarshal(src, c); err != nil {
		return nil, failure.New(failure.Config, "reading the configuration: %w", err).At(name, 0, 0)
	}
	if err := errors.Join(c.check(document{root})...); err != nil {
		return nil, err
	}
	return c, nil
}

// misfit converts faults of keys, types and times. check reports the other faults, which the schema describes
// for editors. A number is accepted as text, and null as an absent value.
func misfit(f schema.Fault) error {
	isTime := f.Schema == schemaNode().Get("$defs").Get("time")
	switch f.Kind.(type) {
	case schema.Duplicate, *kind.AdditionalProperties:
		return f.Failure()
	case *kind.Type, *kind.Pattern:
		_, err := time.ParseDuration(f.Node.Value)
		switch {
		case f.Node.IsNull():
		case isTime && err != nil:
			return f.Node.Failure(failure.Config, "reading %s: %q is not a time", f.Where(), f.Node.Value).Fix("Write a time such as 10s.")
		case !isTime && !f.IsMalformed() && (f.Node.Kind != yamledit.Scalar || f.Schema.Get("type").Text() != "string"):
			return f.Failure()
		}
	}
	return nil
}

// document finds the places of values.
type document struct{ root *yamledit.Node }

// fault returns a failure at the value of the path, or at its nearest existing parent.
func (d document) fault(path []any, format string, args ...any) *failure.Error {
	n, where := d.root, ""
	for _, step := range path {
		next := n
		switch step := step.(type) {
		case string:
			next, where = n.Get(step), schema.Join(where, step)
		case int:
			next, where = n.Items()[step].Resolve(), fmt.Sprintf("%s[%d]", where, step)
		}
		if next != nil {
			n = next
		}
	}
	return n.Failure(failure.Config, "reading %s: %s", where, fmt.Sprintf(format, args...))
}
