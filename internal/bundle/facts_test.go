package bundle

import (
	"reflect"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/fbc"
)

func TestFacts(t *testing.T) {
	csv := `kind: ClusterServiceVersion
metadata:
  name: op.v1.0.0
  annotations:
    olm.skipRange: <1.0.0
    olm.substitutesFor: op.v0.9.9
spec:
  version: 1.0.0+1
  release: 3
  replaces: op.v0.9.0
  skips: [op.v0.9.1, op.v0.9.2]
  description: What it does.
  icon:
  - {base64data: aGk=, mediatype: image/png}
  - {base64data: "", mediatype: image/gif}
`
	got, err := FactsOf(t.Context(), minimal(csvFile, csv))
	if err != nil {
		t.Fatal(err)
	}
	want := Facts{
		Name:              "op.v1.0.0",
		Package:           "op",
		Version:           "1.0.0+1",
		Release:           "3",
		Channels:          []string{"stable", "fast"},
		DefaultChannel:    "fast",
		OpenShiftVersions: "v4.12-v4.19",
		Replaces:          "op.v0.9.0",
		Skips:             []string{"op.v0.9.1", "op.v0.9.2"},
		SkipRange:         "<1.0.0",
		SubstitutesFor:    "op.v0.9.9",
		Description:       "What it does.",
		Icon:              &fbc.Icon{Data: []byte("hi"), MediaType: "image/png"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

// The image's label names the versions of OpenShift for which it was built. Without an image the annotation does.
func TestFactsPreferTheLabelOfOpenShift(t *testing.T) {
	img := minimal()
	img.Labels[labelOpenShift] = "v4.18"
	got, err := FactsOf(t.Context(), img)
	if err != nil || got.OpenShiftVersions != "v4.18" {
		t.Error(got.OpenShiftVersions, err)
	}
}

// As in opm, one broken icon means no icon, and a description that is not text means no description.
func TestFactsWithoutIconOrDescription(t *testing.T) {
	got, err := FactsOf(t.Context(), minimal(csvFile, csvWith("  description: 1\n  icon: [{base64data: aGk=, mediatype: a}, {base64data: '%'}]\n")))
	if err != nil || got.Icon != nil || got.Description != "" {
		t.Error(got, err)
	}
}

func TestFactsAreStricterThanRender(t *testing.T) {
	tests := map[string]struct {
		img        Image
		file, text string
	}{
		"no version":      {minimal(csvFile, strings.Replace(minimalCSV, "version:", "vursion:", 1)), csvFile, `spec.version ""`},
		"a loose version": {minimal(csvFile, strings.Replace(minimalCSV, "version: 1.0.0", "version: v1.0", 1)), csvFile, `spec.version "v1.0"`},
		"two CSVs":        {minimal("manifests/zz.yaml", minimalCSV), "manifests/zz.yaml", "second ClusterServiceVersion"},
		"replaces a list": {minimal(csvFile, csvWith("  replaces: [a]\n")), csvFile, "spec.replaces is a list"},
		"skips a text":    {minimal(csvFile, csvWith("  skips: a\n")), csvFile, "spec.skips"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := Render(t.Context(), test.img, BundleObjects); err != nil {
				t.Errorf("Render fails: %v", err)
			}
			_, err := FactsOf(t.Context(), test.img)
			if f := failure.Of(err); f == nil || f.Code != failure.BundleInvalid || f.File != test.file || !strings.Contains(f.Message, test.text) {
				t.Errorf("%v", err)
			}
		})
	}
}
