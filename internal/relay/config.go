// Package relay takes the webhooks of registries and sends repository_dispatch events to the
// repositories that its configuration maps the images to.
//
// What was answered with 202 is on the disk, and is sent until GitHub has taken it or has
// refused it for good; then it stands in a file of dead letters. It arrives at least once, and
// each time with the same id.
package relay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
)

// Config is what the configuration file says. docs/relay.schema.json is its schema, and
// docs/relay.md says what each key is for.
type Config struct {
	Listen      string `yaml:"listen"`
	AdminListen string `yaml:"adminListen"`
	Queue       struct {
		Dir   string `yaml:"dir"`
		Items int    `yaml:"items"`
		Bytes int64  `yaml:"bytes"`
	} `yaml:"queue"`
	GitHub         GitHub        `yaml:"github"`
	Limits         Limits        `yaml:"limits"`
	ReplayWindow   time.Duration `yaml:"replayWindow"`
	ResolveDigests bool          `yaml:"resolveDigests"`
	SkipTags       []string      `yaml:"skipTags"`
	Routes         []Route       `yaml:"routes"`
	Targets        []Target      `yaml:"targets"`
}

// GitHub says where events are sent, by whom, and how often.
type GitHub struct {
	APIURL    string `yaml:"apiURL"`
	TokenFile string `yaml:"tokenFile"`
	App       *App   `yaml:"app"`
	// Pace is the least time between two events. GitHub asks for a second.
	Pace         time.Duration `yaml:"pace"`
	FirstRetry   time.Duration `yaml:"firstRetry"`
	LongestRetry time.Duration `yaml:"longestRetry"`
	GiveUpAfter  time.Duration `yaml:"giveUpAfter"`
}

// App is a GitHub App and one of its installations.
type App struct {
	ID           string `yaml:"id"`
	Installation string `yaml:"installation"`
	KeyFile      string `yaml:"keyFile"`
}

// Limits bound what a stranger can cost.
type Limits struct {
	Body        int64         `yaml:"body"`
	Connections int           `yaml:"connections"`
	Timeout     time.Duration `yaml:"timeout"`
}

// Route is a path, and who may send to it.
type Route struct {
	Path       string      `yaml:"path"`
	From       string      `yaml:"from"`
	Proof      event.Proof `yaml:"proof"`
	SecretFile string      `yaml:"secretFile"`
	SecretEnv  string      `yaml:"secretEnv"`
	// Audience and Account are those of Google's tokens, KeysURL where their keys are.
	Audience string `yaml:"audience"`
	Account  string `yaml:"account"`
	KeysURL  string `yaml:"keysURL"`
}

// Target says which repositories hear of which images.
type Target struct {
	Images       []string `yaml:"images"`
	Repositories []string `yaml:"repositories"`
	EventType    string   `yaml:"eventType"`
}

func defaults() *Config {
	c := &Config{Listen: ":8080", ReplayWindow: 72 * time.Hour}
	c.Queue.Dir, c.Queue.Items, c.Queue.Bytes = "/var/lib/graft", 10_000, 16<<20
	c.GitHub = GitHub{
		APIURL: "https://api.github.com", Pace: time.Second,
		FirstRetry: time.Second, LongestRetry: 10 * time.Minute, GiveUpAfter: 7 * 24 * time.Hour,
	}
	c.Limits = Limits{Body: 256 << 10, Connections: 256, Timeout: 10 * time.Second}
	return c
}

// Read reads a configuration file. All that is wrong is reported, each fault at its place.
func Read(path string) (*Config, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, failure.New(failure.Usage, "reading the configuration: %w", err).Fix("Give --config with a file that exists.")
	}
	return Parse(path, src)
}

// Parse reads a configuration.
func Parse(name string, src []byte) (*Config, error) {
	c := defaults()
	dec := yaml.NewDecoder(bytes.NewReader(src))
	dec.KnownFields(true)
	if err := dec.Decode(c); err != nil && !errors.Is(err, io.EOF) {
		return nil, yamlFaults(name, err)
	}
	if dec.Decode(new(yaml.Node)) == nil {
		return nil, failure.New(failure.Config, "reading the configuration: a second document follows").At(name, 0, 0).Fix("Keep one.")
	}
	d := document{name: name}
	_ = yaml.Unmarshal(src, &d.root) // it was read before
	if err := errors.Join(c.check(d)...); err != nil {
		return nil, err
	}
	return c, nil
}

var (
	yamlLine     = regexp.MustCompile(`^(?:yaml: )?line (\d+): (?s:(.*))$`)
	unknownField = regexp.MustCompile(`^field (\S+) not found in type \S+$`)
)

// yamlFaults are the faults that the decoder found, in words that are not of Go.
func yamlFaults(name string, err error) error {
	said := []string{err.Error()}
	if several := new(yaml.TypeError); errors.As(err, &several) {
		said = several.Errors
	}
	var all []error
	for _, text := range said {
		line := 0
		if m := yamlLine.FindStringSubmatch(text); m != nil {
			line, _ = strconv.Atoi(m[1])
			text = m[2]
		}
		f := failure.New(failure.Config, "reading the configuration: %s", strings.ReplaceAll(text, "time.Duration", "a time such as 10s"))
		if m := unknownField.FindStringSubmatch(text); m != nil {
			f = failure.New(failure.Config, "reading the configuration: there is no key %s here", m[1]).Fix("The keys are listed in docs/relay.md.")
		}
		all = append(all, f.At(name, line, 0))
	}
	return errors.Join(all...)
}

// document finds the places of values.
type document struct {
	name string
	root yaml.Node
}

// fault is at the value that the path leads to, or as near as it leads.
func (d document) fault(path []any, format string, args ...any) *failure.Error {
	n := &d.root
	if len(n.Content) > 0 {
		n = n.Content[0]
	}
	where := ""
	for _, step := range path {
		var next *yaml.Node
		switch step := step.(type) {
		case string:
			where += "." + step
			for i := 0; n != nil && n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == step {
					next = n.Content[i+1]
				}
			}
		case int:
			where += fmt.Sprintf("[%d]", step)
			if n != nil && n.Kind == yaml.SequenceNode && step < len(n.Content) {
				next = n.Content[step]
			}
		}
		if next == nil {
			break
		}
		n = next
	}
	return failure.New(failure.Config, "reading %s: %s", strings.TrimPrefix(where, "."), fmt.Sprintf(format, args...)).At(d.name, n.Line, n.Column)
}
