package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/graph"
)

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "explain [CODE|FINDING]",
		Short:   "Explain a failure code or a finding; without one, list them all",
		Example: "  graft explain 31\n  graft explain edge-conflict\n  graft explain channel-two-heads",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return explainable(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 1:
				return a.explain(args[0])
			case a.JSON:
				a.PrintJSON(map[string]any{"schemaVersion": 1, "codes": failure.Table, "findings": graph.Rules})
			default:
				for _, e := range failure.Table {
					fmt.Fprintf(a.Out, "%3d  %-28s %s\n", e.Code, e.Class, e.Meaning)
				}
				fmt.Fprint(a.Out, "\nFindings of graft verify, with the exit code as an error:\n\n")
				for _, r := range graph.Rules {
					fmt.Fprintf(a.Out, "%3d  %-28s %s\n", r.Code, r.ID, r.Meaning)
				}
			}
			return nil
		},
	}
}

// explainable returns the names that explain accepts.
func explainable() (names []string) {
	for _, e := range failure.Table {
		names = append(names, e.Class)
	}
	for _, r := range graph.Rules {
		names = append(names, r.ID)
	}
	return names
}

// near returns a question for the names that resemble one, with a space behind it, or "". A name resembles one
// that has it as a part, or that differs in a few letters.
func near(name string, names []string) string {
	const typos = 3
	var found []string
	for _, known := range names {
		part := len(name) > typos && strings.Contains(known, name)
		if part || failure.Distance(name, known) <= min(typos, len(name)/2) {
			found = append(found, known)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return "Did you mean " + one(found) + "? "
}

func (a *app) explain(name string) error {
	e, ok := failure.Lookup(name)
	r, isFinding := graph.RuleOf(name)
	switch {
	case !ok && !isFinding:
		return failure.New(failure.Usage, "explaining %q: there is no such failure code or finding", name).
			Fix("%sRun graft explain to list all codes and findings.", near(strings.ToLower(name), explainable()))
	case ok && a.JSON:
		a.PrintJSON(e)
	case a.JSON:
		a.PrintJSON(r)
	case ok:
		fmt.Fprintf(a.Out, "%d %s\n\n%s\n\nCause:  %s\nRemedy: %s\nRetry:  %s\n", e.Code, e.Class, e.Meaning, e.Cause, e.Remedy, retry(e))
	default:
		fmt.Fprintf(a.Out, "%s (%s; as an error it exits with %d)\n\n%s\n\nRemedy: %s\n", r.ID, r.Level, r.Code, r.Meaning, r.Remedy)
	}
	return nil
}

func retry(e failure.Entry) string {
	if e.Retryable {
		return "the same run may succeed later"
	}
	return "the same run fails again"
}
