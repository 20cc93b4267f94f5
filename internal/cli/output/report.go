package output

import "github.com/olmgraft/graft/internal/template/kind"

// Report begins what --json prints; docs/report.schema.json describes it.
type Report struct {
	SchemaVersion int    `json:"schemaVersion"`
	Result        string `json:"result"`
}

// NewReport is one of a result.
func NewReport(result string) Report { return Report{1, result} }

// Planned has a report tell of a dry run, which changes nothing.
func (r *Report) Planned() {
	if r.Result != "unchanged" {
		r.Result = "planned"
	}
}

// Template is what became of one template.
type Template struct {
	File        string            `json:"file"`
	Result      string            `json:"result,omitempty"`
	Changes     []kind.Change     `json:"changes,omitempty"`
	Notes       []string          `json:"notes,omitempty"`
	Files       []string          `json:"files,omitempty"`
	Description *kind.Description `json:"description,omitempty"`
	// Itself says that the file is among those that change, and not its inputs alone.
	Itself bool `json:"-"`
}

// Overall is the result of a run that had these templates.
func Overall(templates []Template) string {
	result := "unchanged"
	for _, t := range templates {
		if t.Result == "updated" || t.Result == "created" && result == "unchanged" {
			result = t.Result
		}
	}
	return result
}
