package catalogsource

import (
	"errors"
	"fmt"
	"strings"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/reference"
)

// Objects returns the object of a lookup. A lookup without a name matches the only object of its kind.
type Objects func(l Lookup) (object any, err error)

// Path evaluates a JSONPath expression, including its braces, to a single plain value. Any other result is an
// error.
type Path func(object any, expression string) (string, error)

// Values are the inputs for resolving templates. Without Objects no lookup resolves.
type Values struct {
	Kube      KubeVersion // zero if unknown
	OpenShift KubeVersion // zero if it must be looked up
	Objects   Objects
	Path      Path
}

// Resolution is the result of resolving a reference.
type Resolution struct {
	// Image is the reference with each resolved template replaced by its value.
	Image string
	// Unresolved lists each template without a value, and each text that resembles a template, once.
	Unresolved []Unresolved
	// Invalid is the reason why Image is not an image reference although everything has been resolved.
	Invalid error
}

// Unresolved is a template with the reason for its missing value. Err is a *Broken if it is not a template.
type Unresolved struct {
	Template Template
	Err      error
}

// Resolve replaces the templates of a reference by their values. It does not resolve templates inside values.
func Resolve(template string, v Values) Resolution {
	var r Resolution
	var image strings.Builder
	lookups := 0
	known := map[string]string{} // by the template's text, which is its own value if it has none
	for _, p := range Parse(template) {
		value, ok := known[p.Text]
		switch {
		case ok:
		case p.Broken != nil:
			value = p.Shown()
			r.Unresolved = append(r.Unresolved, Unresolved{Template{Text: value}, p.Broken})
			known[p.Text] = value
		case p.Template == nil:
			value = p.Text
		default:
			if p.Template.Variable == "" {
				lookups++
			}
			var err error
			if value, err = v.within(*p.Template, lookups); err != nil {
				r.Unresolved = append(r.Unresolved, Unresolved{*p.Template, err})
				value = p.Text
			}
			known[p.Text] = value
		}
		image.WriteString(value)
	}
	r.Image = image.String()
	if len(r.Unresolved) == 0 {
		_, r.Invalid = reference.Parse(r.Image)
	}
	return r
}

// OK reports whether Image can be used.
func (r Resolution) OK() bool { return len(r.Unresolved) == 0 && r.Invalid == nil }

func (v Values) within(t Template, lookups int) (string, error) {
	if t.Variable == "" && lookups > budget.TemplateLookups {
		return "", fmt.Errorf("the reference has more than %d lookups", budget.TemplateLookups)
	}
	return v.of(t)
}

func (v Values) of(t Template) (string, error) {
	switch t.Variable {
	case "":
		return v.lookUp(t.Lookup)
	case OCPMajor, OCPMinor:
		version, err := v.openShift()
		return version.variable(t.Variable), err
	}
	if value := v.Kube.variable(t.Variable); value != "" {
		return value, nil
	}
	return "", errors.New("the version of Kubernetes, or this part of the version, is unknown")
}

func (v Values) lookUp(l Lookup) (string, error) {
	if v.Objects == nil {
		return "", errors.New("no objects were given")
	}
	object, err := v.Objects(l)
	if err != nil {
		return "", err
	}
	return v.Path(object, l.JSONPath)
}

// completed looks up the versions to which an OpenShift cluster has been updated, newest first. A running update
// does not count, because it may fail.
var completed = Lookup{
	Group: "config.openshift.io", Version: "v1", Kind: "ClusterVersion", Name: "version",
	JSONPath: `{range .status.history[?(@.state=="Completed")]}{.version},{end}`,
}

func (v Values) openShift() (KubeVersion, error) {
	if v.OpenShift != (KubeVersion{}) {
		return v.OpenShift, nil
	}
	versions, err := v.lookUp(completed)
	if err != nil {
		return KubeVersion{}, fmt.Errorf("the version of OpenShift is unknown: %w", err)
	}
	newest, _, _ := strings.Cut(versions, ",")
	version, ok := ParseKubeVersion(newest)
	if !ok {
		return KubeVersion{}, fmt.Errorf("the version of OpenShift is unknown: %s has %q", completed, newest)
	}
	return version, nil
}
