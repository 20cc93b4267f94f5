package operand

import (
	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/operand"
)

// report is the output of --json; docs/report.schema.json describes it.
type report struct {
	output.Report
	Templates []output.Template `json:"templates,omitempty"`
	Operands  *resolutionReport `json:"operands,omitempty"`
	Mirror    []string          `json:"mirror,omitempty"`
}

// resolutionReport is the result for the operands of a bundle.
type resolutionReport struct {
	Bundle   string         `json:"bundle"`
	Asked    []chosenReport `json:"asked"`
	Required []chosenReport `json:"required"`
}

// chosenReport is a chosen entry.
type chosenReport struct {
	Name     string            `json:"name"`
	Schema   string            `json:"schema"`
	Version  string            `json:"version"`
	Range    string            `json:"range,omitempty"`
	File     string            `json:"file,omitempty"`
	Line     int               `json:"line,omitempty"`
	For      string            `json:"for"`
	Provider string            `json:"provider"`
	Reason   string            `json:"reason"`
	Images   map[string]string `json:"images"`
}

func resolutionOf(r *operand.Resolution) *resolutionReport {
	return &resolutionReport{r.Bundle.Name, chosenOf(r.Asked), chosenOf(r.Required)}
}

func chosenOf(all []operand.Chosen) []chosenReport {
	out := make([]chosenReport, len(all))
	for i, c := range all {
		e := c.Entry
		out[i] = chosenReport{e.Name, e.Schema, e.Version.String(), c.Request.Range.Text, e.File, e.Line, c.For.Name, c.By.Name, c.Reason, map[string]string{}}
		for _, image := range e.Images {
			out[i].Images[image.Name] = image.Image
		}
	}
	return out
}
