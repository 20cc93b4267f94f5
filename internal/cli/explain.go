package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/internal/failure"
)

func (a *app) explainCommand() *cobra.Command {
	var markdown, findings bool
	cmd := &cobra.Command{
		Use:     "explain [CODE]",
		Short:   "Tell what a failure code means, its cause and remedy; without a code, list all",
		Example: "  graft explain 31\n  graft explain edge-conflict",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, e := range failure.Table {
				names = append(names, e.Class)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: run(func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 1:
				return a.explain(args[0])
			case findings:
				fmt.Fprint(a.Out, findingsPage())
			case markdown:
				fmt.Fprint(a.Out, failuresPage())
			case a.json:
				a.printJSON(map[string]any{"schemaVersion": 1, "codes": failure.Table})
			default:
				for _, e := range failure.Table {
					fmt.Fprintf(a.Out, "%3d  %-26s %s\n", e.Code, e.Class, e.Meaning)
				}
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print the page docs/failures.md")
	cmd.Flags().BoolVar(&findings, "findings", false, "print the page docs/findings.md")
	return cmd
}

func (a *app) explain(code string) error {
	e, ok := failure.Lookup(code)
	if !ok {
		return failure.New(failure.Usage, "explaining %q: there is no such failure code", code).
			Fix("Run graft explain for the list.")
	}
	if a.json {
		a.printJSON(e)
		return nil
	}
	fmt.Fprintf(a.Out, "%d %s\n\n%s\n\nCause:  %s\nRemedy: %s\nRetry:  %s\n", e.Code, e.Class, e.Meaning, e.Cause, e.Remedy, retry(e))
	return nil
}

func retry(e failure.Entry) string {
	if e.Retryable {
		return "the same run may succeed later"
	}
	return "the same run fails again"
}

// failuresPage is docs/failures.md.
func failuresPage() string {
	var b strings.Builder
	b.WriteString("# Failure codes\n\nThe exit code of every verb. A code never changes its meaning and is never given to another\n" +
		"failure. Of several failures in one run the exit code is that of the first in this order: 2, 3,\n" +
		"10 to 14, 20 to 25, 30 to 34, 50, 40, 43, 41, 42. `graft explain CODE` prints an entry.\n\n" +
		"| code | class | retry | meaning |\n|---:|---|---|---|\n")
	for _, e := range failure.Table {
		again := ""
		if e.Retryable {
			again = "yes"
		}
		fmt.Fprintf(&b, "| %d | [%s](#%s) | %s | %s |\n", e.Code, e.Class, e.Class, again, e.Meaning)
	}
	for _, e := range failure.Table {
		fmt.Fprintf(&b, "\n## %s\n\nExit code %d. %s\n\nCause: %s\n\nRemedy: %s\n", e.Class, e.Code, e.Meaning, e.Cause, e.Remedy)
	}
	return b.String()
}
