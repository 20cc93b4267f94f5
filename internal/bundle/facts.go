package bundle

import (
	"context"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmgraft/graft/internal/bundle/object"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

// Facts holds what Graft needs to know about a bundle before inserting it into a template.
type Facts struct {
	Name              string // name of the CSV
	Package           string
	Version           string // semantic version
	Release           string
	Channels          []string // from the annotations, without blanks and repetitions
	DefaultChannel    string
	OpenShiftVersions string // com.redhat.openshift.versions, from the labels or the annotations
	Replaces          string
	Skips             []string
	SkipRange         string
	SubstitutesFor    string
	Description       string
	Icon              *fbc.Icon
	Findings          []*failure.Error
}

// FactsOf returns the facts of a bundle. It is stricter than Render because the bundle is new: the version must
// be a semantic version, and there must be only one CSV.
func FactsOf(ctx context.Context, img Image) (Facts, error) {
	b, err := Parse(ctx, img)
	if err != nil {
		return Facts{}, err
	}
	return b.Facts()
}

// Facts returns the facts of the bundle.
func (b *Bundle) Facts() (Facts, error) {
	f := Facts{
		Name:              b.csv.name,
		Package:           b.pkg,
		Version:           b.csv.version,
		Release:           b.csv.release,
		Channels:          channelsOf(b.annotations.Channels),
		DefaultChannel:    strings.TrimSpace(b.annotations.DefaultChannel),
		OpenShiftVersions: b.annotations.openShift,
		SkipRange:         b.csv.annotations["olm.skipRange"],
		SubstitutesFor:    b.csv.annotations["olm.substitutesFor"],
		Icon:              b.icon(),
		Findings:          b.Findings,
	}
	if label := b.image.Labels[labelOpenShift]; label != "" {
		f.OpenShiftVersions = label
	}
	var err error
	if f.Replaces, err = b.csv.text("replaces"); err != nil {
		return Facts{}, b.fail(b.csv.file, "the ClusterServiceVersion is not valid: %w", err)
	}
	skips, _ := b.csv.spec.Get("skips")
	if err = decode(skips, &f.Skips); err != nil {
		return Facts{}, b.fail(b.csv.file, "the ClusterServiceVersion is not valid: spec.skips: %w", err)
	}
	if text, err := b.csv.text("description"); err == nil { // opm ignores an unreadable description
		f.Description = text
	}
	return f, b.checkNew(f)
}

func (b *Bundle) checkNew(f Facts) error {
	if _, err := semver.Parse(f.Version); err != nil {
		return b.fail(b.csv.file, "spec.version %q is not a semantic version: %w", f.Version, err).
			Fix("Set spec.version to a version such as 1.2.3.")
	}
	if len(b.secondCSVs) > 0 {
		return b.fail(b.secondCSVs[0], "it is a second ClusterServiceVersion beside %s", b.csv.file).
			Fix("Keep one ClusterServiceVersion in manifests/.")
	}
	return nil
}

func channelsOf(list string) []string {
	var channels []string
	seen := map[string]bool{"": true}
	for c := range strings.SplitSeq(list, ",") {
		if c = strings.TrimSpace(c); !seen[c] {
			seen[c] = true
			channels = append(channels, c)
		}
	}
	return channels
}

// icon returns the first icon of the CSV. If any icon is broken, opm shows none.
func (b *Bundle) icon() *fbc.Icon {
	var icons []fbc.Icon
	v, _ := b.csv.spec.Get("icon")
	if v.Kind != object.List || decode(v, &icons) != nil || len(icons) == 0 {
		return nil
	}
	return &icons[0]
}
