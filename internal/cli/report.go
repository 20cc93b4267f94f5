package cli

import (
	"github.com/olmgraft/graft/formulary"
	"github.com/olmgraft/graft/internal/cli/output"
)

// report is the output of --json; docs/report.schema.json describes it.
type report struct {
	output.Report
	Templates []output.Template `json:"templates,omitempty"`
	Catalogs  []output.Catalog  `json:"catalogs,omitempty"`
	Pinned    []pinReport       `json:"pinned,omitempty"`
	Files     []string          `json:"files,omitempty"`
	// Recipes are those of the formulary.
	Recipes []formulary.Recipe `json:"recipes,omitempty"`
}
