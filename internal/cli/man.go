package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/olmgraft/graft/internal/failure"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man",
		Short:   "Print the manual page",
		Example: "  graft man | man -l -",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprint(a.Out, manPage(cmd.Root()))
			return nil
		},
	}
}

// manPage returns docs/graft.1: every verb with its flags, and the exit codes.
func manPage(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(".TH GRAFT 1\n.SH NAME\ngraft \\- " + roff(strings.ToLower(root.Short[:1])+root.Short[1:]) + "\n")
	b.WriteString(".SH SYNOPSIS\n.B graft\n.I VERB\n[\\fIFLAG\\fR...] [\\fIARG\\fR...]\n.SH DESCRIPTION\n" + roff(root.Long) + "\n.SH VERBS\n")
	for _, c := range root.Commands() {
		if !c.Hidden && c.Name() != "help" {
			manVerb(&b, c)
		}
	}
	b.WriteString(".SH FLAGS OF EVERY VERB\n")
	manFlags(&b, root.PersistentFlags())
	b.WriteString(".SH EXIT STATUS\n")
	for _, e := range failure.Table {
		fmt.Fprintf(&b, ".TP\n.B %d %s\n%s\n", e.Code, roff(e.Class), roff(e.Meaning))
	}
	return b.String()
}

func manVerb(b *strings.Builder, c *cobra.Command) {
	fmt.Fprintf(b, ".SS %s\n%s\n", roff(strings.TrimSuffix(c.UseLine(), " [flags]")), roff(c.Short)+".")
	if c.Long != "" {
		b.WriteString(".PP\n" + roff(c.Long) + "\n")
	}
	manFlags(b, c.LocalNonPersistentFlags())
	if c.Example != "" {
		b.WriteString(".PP\n.nf\n" + roff(c.Example) + "\n.fi\n")
	}
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			manVerb(b, sub)
		}
	}
}

func manFlags(b *strings.Builder, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		value, usage := pflag.UnquoteUsage(f)
		fmt.Fprintf(b, ".TP\n.B %s", roff(name))
		if value != "" {
			fmt.Fprintf(b, " \\fI%s\\fR", roff(value))
		}
		b.WriteString("\n" + roff(usage) + "\n")
	})
}

// roff escapes characters that are special to troff.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
