package cli

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/operand"
	"github.com/olmgraft/graft/internal/template"
)

// oneOf lists the values of flags that take one of a few values. The key is the flag, or the verb and the flag.
// The usage text of --output has its own list.
var oneOf = map[string][]string{
	"commit-method": {"git", "api"},
	"rebuild":       {"refuse", "replace"},
	"drift":         {"warn", "refuse"},
	"new-channel":   {"empty", "like-previous"},
	"semver-skips":  {"major", "minor", "channel"},
	"auto-merge":    {"merge", "squash", "rebase"},
	"strays":        {"warn", "refuse", "include"},
	"migrate-level": {"none", "bundle-object-to-csv-metadata"},
	"olm":           {"v0", "v1"},
	"schema":        {operand.SchemaOperand, operand.SchemaRelatedImages},

	"graft render refresh":           {"tags"},
	"graft catalogsource convert to": {"new", "legacy"},
}

var (
	inBrackets = regexp.MustCompile(`\s*\([^)]*\)`)
	separator  = regexp.MustCompile(`,\s*|\s+or\s+`)
)

// choices returns the flags of a verb that take one of a few values, with these values.
func choices(cmd *cobra.Command) map[string][]string {
	all := map[string][]string{}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		values := oneOf[f.Name]
		if own := oneOf[cmd.CommandPath()+" "+f.Name]; own != nil {
			values = own
		}
		switch {
		case f.Name == "create":
			values = template.Creatable()
		case cmd.CommandPath() == "graft convert" && f.Name == "to":
			values = template.Convertible()
		case f.Name == "output" && strings.Contains(f.Usage, " or ") && !strings.Contains(f.Usage, "FILE"):
			values = separator.Split(inBrackets.ReplaceAllString(f.Usage, ""), -1)
		}
		if values != nil {
			all[f.Name] = slices.Clone(values)
		}
	})
	return all
}

// refuseOthers makes a command and all its verbs refuse, before they do anything, an invalid value of such a
// flag and standard input given twice.
func refuseOthers(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			all := choices(cmd)
			for _, flag := range slices.Sorted(maps.Keys(all)) {
				values := all[flag]
				if f := cmd.Flags().Lookup(flag); f.Changed && f.Value.String() != f.DefValue && !slices.Contains(values, f.Value.String()) {
					return failure.New(failure.Usage, "reading the command line: --%s: invalid value %q", flag, f.Value).
						Fix("Give --%s with %s.", flag, one(values))
				}
			}
			if err := readsOnce(cmd, args); err != nil {
				return err
			}
			return run(cmd, args)
		}
	}
	for _, sub := range cmd.Commands() {
		refuseOthers(sub)
	}
}

// readsOnce refuses standard input for two catalogs, because the second would be empty.
func readsOnce(cmd *cobra.Command, args []string) error {
	given := slices.Clone(args)
	for _, flag := range []string{"base", "base-catalog", "next", "published"} {
		if f := cmd.Flags().Lookup(flag); f != nil {
			given = append(given, strings.Split(strings.Trim(f.Value.String(), "[]"), ",")...)
		}
	}
	count := 0
	for _, name := range given {
		if _, catalog, ok := strings.Cut(name, "="); ok {
			name = catalog // of a platform
		}
		if name == "-" {
			count++
		}
	}
	if count > 1 {
		return failure.New(failure.Usage, "reading the command line: - is given %d times, and standard input can be read once", count).
			Fix("Name files for the others.")
	}
	return nil
}

// one of a few: "a, b or c".
func one(values []string) string {
	last := len(values) - 1
	if last == 0 {
		return values[0]
	}
	return strings.Join(values[:last], ", ") + " or " + values[last]
}
