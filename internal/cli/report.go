package cli

import (
	"github.com/olmgraft/graft/formulary"
	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template/kind"
)

// report is what --json prints; docs/report.schema.json describes it.
type report struct {
	SchemaVersion  int                   `json:"schemaVersion"`
	Result         string                `json:"result"`
	Templates      []templateReport      `json:"templates,omitempty"`
	Catalogs       []output.Catalog      `json:"catalogs,omitempty"`
	Operands       *resolutionReport     `json:"operands,omitempty"`
	Pinned         []pinReport           `json:"pinned,omitempty"`
	Mirror         []string              `json:"mirror,omitempty"`
	Files          []string              `json:"files,omitempty"`
	CatalogSources []catalogSourceReport `json:"catalogSources,omitempty"`
	Image          *imageReport          `json:"image,omitempty"`
	// Recipes are of the formulary.
	Recipes  []formulary.Recipe `json:"recipes,omitempty"`
	Failures []*failure.Error   `json:"failures,omitempty"`
}

// templateReport is what became of one template.
type templateReport struct {
	File        string            `json:"file"`
	Result      string            `json:"result,omitempty"`
	Changes     []kind.Change     `json:"changes,omitempty"`
	Notes       []string          `json:"notes,omitempty"`
	Files       []string          `json:"files,omitempty"`
	Description *kind.Description `json:"description,omitempty"`
}

func (a *app) printReport(r report) {
	r.SchemaVersion = 1
	a.PrintReport(r)
}
