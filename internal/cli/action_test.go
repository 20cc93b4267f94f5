package cli

import (
	"fmt"
	"strings"

	"github.com/olmgraft/graft/internal/cli/publish"
)

// actionFile returns action.yml.
func actionFile() string {
	var b strings.Builder
	b.WriteString(`# Made of internal/cli/publish/inputs.go: go test ./internal/cli -update writes it.
name: Graft
description: Put a newly published operator bundle on the upgrade graph of an OLM catalog, in one pull request.
branding:
  icon: git-pull-request
  color: green
inputs:
`)
	for _, in := range publish.Inputs {
		fallback := in.Fallback
		if in.Boolean {
			fallback = "false"
		}
		fmt.Fprintf(&b, "  %s:\n    description: %q\n", in.Name, in.Description)
		if fallback != "" {
			fmt.Fprintf(&b, "    default: %q\n", fallback)
		}
	}
	b.WriteString("outputs:\n")
	for _, o := range publish.Outputs {
		fmt.Fprintf(&b, "  %s:\n    description: %q\n", o.Name, o.Description)
	}
	b.WriteString("runs:\n  using: docker\n  image: Dockerfile\n  args: [publish]\n")
	return b.String()
}

// inputsTable and outputsTable return the tables in docs/action.md.
func inputsTable() string {
	var b strings.Builder
	b.WriteString("| input | default | what it does |\n|---|---|---|\n")
	for _, in := range publish.Inputs {
		fallback := in.Fallback
		if in.Boolean {
			fallback = "false"
		}
		if fallback != "" {
			fallback = "`" + fallback + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", in.Name, fallback, in.Description)
	}
	return b.String()
}

func outputsTable() string {
	var b strings.Builder
	b.WriteString("| output | what it is |\n|---|---|\n")
	for _, o := range publish.Outputs {
		fmt.Fprintf(&b, "| `%s` | %s |\n", o.Name, o.Description)
	}
	return b.String()
}
