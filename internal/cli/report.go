package cli

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/olmgraft/graft/formulary"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/template/kind"
)

// report is what --json prints; docs/report.schema.json describes it.
type report struct {
	SchemaVersion  int                   `json:"schemaVersion"`
	Result         string                `json:"result"`
	Templates      []templateReport      `json:"templates,omitempty"`
	Catalogs       []catalogReport       `json:"catalogs,omitempty"`
	Published      []publishReport       `json:"published,omitempty"`
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

// catalogReport is what became of one catalog.
type catalogReport struct {
	File     string `json:"file"`
	Template string `json:"template,omitempty"`
	Platform string `json:"platform,omitempty"`
	Result   string `json:"result,omitempty"`
	Reused   int    `json:"reused"`
	Pulled   int    `json:"pulled"`
}

// copied tells how little was pulled.
func copied(reused, pulled int) string {
	if reused == 1 {
		return fmt.Sprintf("1 bundle copied, %d pulled", pulled)
	}
	return fmt.Sprintf("%d bundles copied, %d pulled", reused, pulled)
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

// printable is a line as people read it. What came from outside begins no line of its own,
// and is no command to a terminal.
func printable(line string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return '?'
		}
		return c
	}, line)
}
