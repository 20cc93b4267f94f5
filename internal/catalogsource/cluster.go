package catalogsource

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/schema"
	"github.com/olmgraft/graft/internal/yamledit"
)

// A ClusterCatalog is the counterpart of a CatalogSource in OLM v1. It has no namespace and only one form.
const (
	ClusterKind    = "ClusterCatalog"
	ClusterGroup   = "olm.operatorframework.io"
	ClusterVersion = "v1"
)

const pollInterval = "pollIntervalMinutes"

//go:embed clustercatalog.yaml
var clusterDefinition []byte

var clusterSchema = sync.OnceValue(func() *schema.Schema {
	s := schema.Compile(schema.Parse("clustercatalog.yaml", clusterDefinition), structural)
	s.Kubernetes = true
	return s
})

// isCluster reports whether the object is a ClusterCatalog.
func (s *Source) isCluster() bool { return s.root.Get("kind").Text() == ClusterKind }

// Kind returns the object's kind.
func (s *Source) Kind() string { return s.root.Get("kind").Text() }

// clusterImage returns the mapping that contains ref, or nil.
func (s *Source) clusterImage() *yamledit.Node { return s.spec.Get("source").Get("image") }

// checkCluster checks a ClusterCatalog against the definition and rules of OLM v1.
func (c *checker) checkCluster() {
	if c.source.version() != ClusterVersion {
		c.fault(c.source.root.Get("apiVersion"), "apiVersion names version %s, which is not served", c.source.version()).Fix("Write apiVersion: %s/%s.", ClusterGroup, ClusterVersion)
		return
	}
	c.structure(clusterSchema())
	if n := c.source.root.Get("metadata").Get("namespace"); n != nil {
		c.warn(n, "a %s has no namespace, and API servers drop it", ClusterKind).Fix("Remove namespace.")
	}
	source := c.source.spec.Get("source")
	image := c.source.clusterImage()
	if source != nil && source.Kind == yamledit.Mapping && source.Get("type").Text() == "Image" && image == nil {
		c.fault(source, "spec.source has no image").Fix("Write image with ref.")
	}
	ref := image.Get("ref")
	if ref == nil || ref.Tag != "!!str" {
		return
	}
	if why := refFault(ref.Value); why != "" {
		c.fault(ref, "spec.source.image.ref is %q: %s", ref.Value, why).Fix("Write REGISTRY/REPOSITORY:TAG, or @DIGEST.")
	}
	if poll := image.Get(pollInterval); poll != nil && strings.Contains(ref.Value, "@") {
		c.fault(poll, "%s has no effect with a digest, which does not change", pollInterval).Fix("Remove it, or name a tag.")
	}
}

// refFault returns why the definition refuses a reference, or "".
func refFault(ref string) string {
	if _, err := reference.Parse(ref); err != nil {
		return err.Error()
	}
	repository, tag, digest := reference.Cut(ref)
	_, path, ok := reference.CutRegistry(repository)
	switch {
	case !ok || path == "":
		return "it names no registry"
	case tag == "" && digest == "":
		return "it has neither tag nor digest"
	case len(tag) > 127 && digest == "":
		return "its tag is longer than 127"
	}
	return ""
}

// takesClusterImage returns why no reference can be set, or nil.
func (s *Source) takesClusterImage() error {
	image := s.clusterImage()
	if kind := s.spec.Get("source").Get("type").Text(); kind != "Image" || image == nil || image.Kind != yamledit.Mapping {
		return s.root.Failure(failure.CatalogSourceInvalid, "setting the image of %s: its source has no image", s).Fix("Write spec.source with type: Image and image.")
	}
	return nil
}

// setClusterImage sets the reference. For a digest it removes polling, because the definition refuses both
// together.
func (s *Source) setClusterImage(edits *yamledit.Edits, ref string) error {
	image := s.clusterImage()
	if strings.Contains(ref, "@") && image.Get(pollInterval) != nil {
		if err := edits.RemoveField(image, pollInterval); err != nil {
			return err
		}
	}
	switch at := image.Get("ref"); {
	case at == nil:
		return edits.AddField(image, "", yamledit.Field{Key: "ref", Value: yamledit.Text(ref)})
	case at.IsNull():
		return edits.Fill(at, yamledit.Text(ref))
	default:
		return edits.SetText(at, ref)
	}
}

// keep sets the other fields to the wanted values. It first removes a number that differs; then again is true,
// and the rest must be applied to the file without it.
func (s *Source) keep(edits *yamledit.Edits, w Wanted) (again bool, err error) {
	numbers := []struct {
		in    *yamledit.Node
		key   string
		value *int
	}{{s.spec, "priority", w.Priority}, {s.clusterImage(), pollInterval, w.Poll}}
	for _, n := range numbers {
		at := n.in.Get(n.key)
		switch {
		case n.value == nil || n.in == nil || at.Text() == strconv.Itoa(*n.value):
		case at != nil:
			return true, edits.RemoveField(n.in, n.key)
		default:
			value, err := yamledit.FromJSON([]byte(strconv.Itoa(*n.value)))
			if err == nil {
				err = edits.AddField(n.in, "", yamledit.Field{Key: n.key, Value: value})
			}
			if err != nil {
				return false, err
			}
		}
	}
	return false, s.keepLabels(edits, w.Labels)
}

func (s *Source) keepLabels(edits *yamledit.Edits, labels []Label) error {
	meta := s.root.Get("metadata")
	in := meta.Get("labels")
	var missing []yamledit.Field
	for _, l := range labels {
		switch at := in.Get(l.Key); {
		case at == nil:
			missing = append(missing, yamledit.Field{Key: l.Key, Value: yamledit.Text(l.Value)})
		case at.Text() != l.Value:
			if err := edits.SetText(at, l.Value); err != nil {
				return err
			}
		}
	}
	switch {
	case len(missing) == 0:
		return nil
	case in == nil:
		return edits.AddField(meta, "name", yamledit.Field{Key: "labels", Value: yamledit.Map(missing...)})
	case in.IsNull():
		return edits.Fill(in, yamledit.Map(missing...))
	}
	for _, f := range missing {
		if err := edits.AddField(in, "", f); err != nil {
			return err
		}
	}
	return nil
}
