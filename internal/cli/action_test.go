package cli

import (
	"fmt"
	"strings"
)

// actionFile is action.yml.
func actionFile() string {
	var b strings.Builder
	b.WriteString(`# Made of internal/cli/inputs.go: go test ./internal/cli -update writes it.
name: Graft
description: Put a newly published operator bundle on the upgrade graph of an OLM catalog, in one pull request.
branding:
  icon: git-pull-request
  color: green
inputs:
`)
	for _, in := range publishInputs {
		fallback := in.fallback
		if in.boolean {
			fallback = "false"
		}
		fmt.Fprintf(&b, "  %s:\n    description: %q\n", in.name, in.description)
		if fallback != "" {
			fmt.Fprintf(&b, "    default: %q\n", fallback)
		}
	}
	b.WriteString("outputs:\n")
	for _, o := range publishOutputs {
		fmt.Fprintf(&b, "  %s:\n    description: %q\n", o.name, o.description)
	}
	b.WriteString("runs:\n  using: docker\n  image: Dockerfile\n  args: [publish]\n")
	return b.String()
}

// inputsTable and outputsTable stand in the README.
func inputsTable() string {
	var b strings.Builder
	b.WriteString("| input | default | what it does |\n|---|---|---|\n")
	for _, in := range publishInputs {
		fallback := in.fallback
		if in.boolean {
			fallback = "false"
		}
		if fallback != "" {
			fallback = "`" + fallback + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", in.name, fallback, in.description)
	}
	return b.String()
}

func outputsTable() string {
	var b strings.Builder
	b.WriteString("| output | what it is |\n|---|---|\n")
	for _, o := range publishOutputs {
		fmt.Fprintf(&b, "| `%s` | %s |\n", o.name, o.description)
	}
	return b.String()
}
