package output

import "github.com/olmgraft/graft/internal/template/kind"

// Report is the common start of the output of --json; docs/report.schema.json describes it.
type Report struct {
	SchemaVersion int    `json:"schemaVersion"`
	Result        string `json:"result"`
}

// NewReport returns a report with a result.
func NewReport(result string) Report { return Report{1, result} }

// Planned changes a report to that of a dry run, which changes nothing.
func (r *Report) Planned() {
	if r.Result != "unchanged" {
		r.Result = "planned"
	}
}

// Template is the result for one template.
type Template struct {
	File        string            `json:"file"`
	Result      string            `json:"result,omitempty"`
	Changes     []kind.Change     `json:"changes,omitempty"`
	Notes       []string          `json:"notes,omitempty"`
	Files       []string          `json:"files,omitempty"`
	Description *kind.Description `json:"description,omitempty"`
	// Itself reports whether the file itself changes, rather than only its inputs.
	Itself bool `json:"-"`
}

// Overall returns the result of a run from the results of its templates.
func Overall(templates []Template) string {
	result := "unchanged"
	for _, t := range templates {
		if t.Result == "updated" || t.Result == "created" && result == "unchanged" {
			result = t.Result
		}
	}
	return result
}
