package bundle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/bundle/object"
	"github.com/olmgraft/graft/internal/fbc"
	"github.com/olmgraft/graft/internal/yamlread"
)

// manifest adds the content of an olm.bundle.object.
func (c contents) manifest(text []byte, images []fbc.RelatedImage) error {
	var held struct{ Data []byte }
	if err := json.Unmarshal(text, &held); err != nil {
		return err
	}
	v, _, err := object.Read(held.Data, yamlread.Usual)
	if err != nil {
		return err
	}
	if kind := v.Str("kind"); kind != kindCSV {
		c.hide(PartManifest, strings.TrimSpace(kind+" "+v.Str("metadata", "name")), v.AppendJSON(nil))
		return nil
	}
	return c.csv(v, images)
}

// shownCSV holds the compared fields of a ClusterServiceVersion that olm.csv.metadata does not have.
type shownCSV struct {
	Metadata struct{ Annotations map[string]string }
	Spec     struct {
		told
		CustomResourceDefinitions described[definition]
		Replaces                  string
		Skips                     []string
		Icon                      json.RawMessage
		WebhookDefinitions        []json.RawMessage
		Install                   struct {
			Spec struct {
				ClusterPermissions, Permissions []permissions
				Deployments                     []deployment
			}
		}
	}
}

type permissions struct {
	ServiceAccountName string
	Rules              []rule
}

type rule struct {
	APIGroups, Resources, ResourceNames, NonResourceURLs, Verbs []string
}

type deployment struct {
	Name string
	Spec json.RawMessage
}

func (c contents) csv(v object.Value, images []fbc.RelatedImage) error {
	var csv shownCSV
	if err := decode(v, &csv); err != nil {
		return err
	}
	spec := csv.Spec
	c.told(spec.told, spec.CustomResourceDefinitions, csv.Metadata.Annotations)
	c.field("replaces", spec.Replaces)
	c.field("skips", strings.Join(spec.Skips, ", "))
	if len(spec.Icon) > 0 {
		c.hide(PartField, "icon", spec.Icon)
	}
	for _, w := range spec.WebhookDefinitions {
		var named struct{ GenerateName, Type string }
		if err := json.Unmarshal(w, &named); err != nil {
			return err
		}
		c.hide(PartWebhook, strings.TrimSpace(named.Type+" "+named.GenerateName), w)
	}
	c.permissions(PartClusterPermission, spec.Install.Spec.ClusterPermissions)
	c.permissions(PartPermission, spec.Install.Spec.Permissions)
	for _, d := range spec.Install.Spec.Deployments {
		if err := c.deployment(d, images); err != nil {
			return err
		}
	}
	return nil
}

// permissions adds the verbs that a service account has on each resource, so that the notation of the rules does
// not matter.
func (c contents) permissions(part string, all []permissions) {
	for _, p := range all {
		for _, r := range p.Rules {
			verbs := slices.Sorted(slices.Values(r.Verbs))
			for _, on := range r.objects() {
				for _, verb := range slices.Compact(verbs) {
					c.put(part, p.ServiceAccountName+": "+on, verb)
				}
			}
		}
	}
}

// objects returns the resources that a rule covers, one by one.
func (r rule) objects() (all []string) {
	names := r.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	for _, group := range r.APIGroups {
		for _, resource := range r.Resources {
			for _, name := range names {
				text := resource
				if group != "" {
					text += "." + group
				}
				if name != "" {
					text += " " + name
				}
				all = append(all, text)
			}
		}
	}
	return append(all, r.NonResourceURLs...)
}

// deployment adds the images of the containers, and the rest of the deployment without the related images, which
// have changes of their own.
func (c contents) deployment(d deployment, images []fbc.RelatedImage) error {
	type container struct{ Name, Image string }
	var spec struct {
		Template struct {
			Spec struct{ Containers, InitContainers []container }
		}
	}
	if len(d.Spec) == 0 {
		d.Spec = json.RawMessage("{}")
	}
	if err := json.Unmarshal(d.Spec, &spec); err != nil {
		return fmt.Errorf("the deployment %s: %w", d.Name, err)
	}
	text := string(d.Spec)
	pod := spec.Template.Spec
	for _, one := range slices.Concat(pod.Containers, pod.InitContainers) {
		c.put(PartContainer, d.Name+"/"+one.Name, cmp.Or(one.Image, "none"))
	}
	for _, i := range images { // for opm, these include the images of containers
		text = strings.ReplaceAll(text, `"`+i.Image+`"`, `"image"`)
	}
	c.hide(PartDeployment, d.Name, []byte(text))
	return nil
}
