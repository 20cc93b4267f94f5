package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/olmgraft/graft/formulary"
	"github.com/olmgraft/graft/internal/cli/output"
	"github.com/olmgraft/graft/internal/failure"
)

func (a *app) formularyCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "formulary [RECIPE]",
		Short:   "Print a recipe for those who edit catalogs with yq and jq; without a name, list all",
		Example: "  graft formulary\n  graft formulary backport",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var names []string
			recipes, _ := formulary.All()
			for _, r := range recipes {
				names = append(names, r.Name)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			recipes, err := formulary.All()
			if err != nil {
				return failure.New(failure.Internal, "%w", err)
			}
			if len(args) == 1 {
				return a.printRecipe(recipes, args[0])
			}
			if a.JSON {
				for i := range recipes {
					recipes[i].Kinds, recipes[i].Wrong = nil, ""
				}
				a.PrintReport(report{Report: output.NewReport("ok"), Recipes: recipes})
				return nil
			}
			for _, r := range recipes {
				fmt.Fprintf(a.Out, "%-18s %s\n", r.Name, r.Title)
			}
			return nil
		},
	}
}

func (a *app) printRecipe(recipes []formulary.Recipe, name string) error {
	for _, r := range recipes {
		switch {
		case r.Name != name:
			continue
		case a.JSON:
			a.PrintReport(report{Report: output.NewReport("ok"), Recipes: []formulary.Recipe{r}})
		default:
			fmt.Fprint(a.Out, r.Page)
		}
		return nil
	}
	return failure.New(failure.Usage, "printing recipe %q: no recipe has this name", name).
		Fix("Run graft formulary for the list.")
}
