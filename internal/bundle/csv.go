package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/olmgraft/graft/internal/budget"
	"github.com/olmgraft/graft/internal/bundle/object"
	"github.com/olmgraft/graft/internal/fbc"
)

// csv is the ClusterServiceVersion, read as opm reads it: section names are exact, the case of fields inside them
// does not matter.
type csv struct {
	file         string
	object       object.Value
	spec         object.Value
	name         string
	annotations  map[string]string
	version      string
	release      string
	ownedCRDs    []definition
	requiredCRDs []definition
	ownedAPIs    []definition
	requiredAPIs []definition
	related      []fbc.RelatedImage
	operators    []string // images of the operator's containers
}

func readCSV(m manifest) (*csv, error) {
	c := &csv{file: m.file, object: m.object}
	spec, ok := m.object.Get("spec")
	if !ok {
		return nil, errors.New("it has no spec")
	}
	if spec.Kind != object.Map && spec.Kind != object.Null {
		return nil, fmt.Errorf("spec is %s where a mapping is wanted", spec.Kind)
	}
	c.spec = spec
	for _, read := range []func() error{c.readMeta, c.readVersion, c.readDefinitions, c.readImages} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// decode decodes a value into a Go value by the rules of encoding/json, as opm does.
func decode(v object.Value, into any) error {
	err := json.Unmarshal(v.AppendJSON(nil), into)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s is a %s where a %s is wanted", wrong.Field, wrong.Value, wrong.Type)
	}
	return err
}

// typeMeta holds the fields that opm's libraries read first from every object, ignoring the case of keys.
type typeMeta struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
}

func readType(v object.Value) (meta typeMeta, err error) {
	err = decode(v.Only("kind", "apiVersion"), &meta)
	return meta, err
}

func (c *csv) readMeta() error {
	if _, err := readType(c.object); err != nil {
		return err
	}
	top := c.object.Only("metadata")
	for _, m := range top.Items {
		if err := check(m.Value, shapeMeta, true); err != nil {
			return fmt.Errorf("%s: %w", m.Key, err)
		}
	}
	var meta struct {
		Metadata struct {
			Name        string            `json:"name"`
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
	}
	if err := decode(top, &meta); err != nil {
		return err
	}
	c.name, c.annotations = meta.Metadata.Name, meta.Metadata.Annotations
	return nil
}

func (c *csv) readVersion() (err error) {
	if c.version, err = c.text("version"); err != nil {
		return err
	}
	if len(c.version) > budget.VersionText {
		return fmt.Errorf("spec.version has more than %d characters", budget.VersionText)
	}
	release, _ := c.spec.Get("release")
	switch release.Kind {
	case object.Int, object.Float:
		c.release, err = releaseNumber(release.Text)
		return err
	}
	c.release, err = c.text("release")
	return err
}

// releaseNumber formats a numeric release as opm does.
func releaseNumber(text string) (string, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return "", fmt.Errorf("spec.release: %w", err)
	}
	if f == float64(int64(f)) {
		return strconv.FormatInt(int64(f), 10), nil
	}
	return fmt.Sprintf("%g", f), nil
}

// text returns a string of the spec, or "" if it is missing.
func (c *csv) text(key string) (string, error) {
	v, _ := c.spec.Get(key)
	switch v.Kind {
	case object.String:
		return v.Text, nil
	case object.Null:
		return "", nil
	}
	return "", fmt.Errorf("spec.%s is %s (%s) where a string is wanted: quote it", key, v.Kind, v.Text)
}

func (c *csv) readDefinitions() (err error) {
	if c.ownedCRDs, c.requiredCRDs, err = definitions(c.spec, "customresourcedefinitions"); err != nil {
		return err
	}
	c.ownedAPIs, c.requiredAPIs, err = definitions(c.spec, "apiservicedefinitions")
	return err
}

// readImages reads the related images listed in the CSV, and the images of the containers and init containers of
// its deployments.
func (c *csv) readImages() error {
	v, _ := c.spec.Get("relatedImages")
	if err := decode(v, &c.related); err != nil {
		return fmt.Errorf("spec.relatedImages: %w", err)
	}

	type container struct{ Image string }
	var spec struct {
		Install struct {
			Strategy string
			Spec     struct {
				Deployments []struct {
					Name string
					Spec struct {
						Template struct {
							Spec struct {
								Containers, InitContainers []container
							}
						}
					}
				}
			}
		}
	}
	install := c.spec.Only("install")
	if err := checkDeployments(install); err != nil {
		return err
	}
	if err := decode(install, &spec); err != nil {
		return fmt.Errorf("spec.%w", err)
	}
	if spec.Install.Strategy != "deployment" {
		return nil // opm knows no other strategy
	}
	for _, d := range spec.Install.Spec.Deployments {
		pod := d.Spec.Template.Spec
		for _, one := range append(pod.Containers, pod.InitContainers...) {
			c.operators = append(c.operators, one.Image)
		}
	}
	return nil
}

// checkDeployments checks the deployments against their type. The values around them are checked when they are
// decoded.
func checkDeployments(install object.Value) error {
	for _, i := range install.Items {
		for _, s := range i.Value.Only("spec").Items {
			for _, ds := range s.Value.Only("deployments").Items {
				for n, d := range ds.Value.Items {
					for _, spec := range d.Value.Only("spec").Items {
						if err := check(spec.Value, shapeDeployment, true); err != nil {
							return fmt.Errorf("spec.install.spec.deployments[%d].spec.%w", n, err)
						}
					}
				}
			}
		}
	}
	return nil
}
