// Package registry has the flags of every verb that pulls, and their client.
package registry

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/oci"
)

// Options are the values of the flags.
type Options struct {
	UseHTTP, SkipTLSVerify bool
	Conf                   string
	Jobs                   int
	Auth, Token            string // the action's inputs
}

// Flags adds --use-http, --skip-tls-verify, --registries-conf and --jobs.
func (o *Options) Flags(f *pflag.FlagSet) {
	f.BoolVar(&o.UseHTTP, "use-http", false, "use plain HTTP if a registry does not answer over TLS")
	f.BoolVar(&o.SkipTLSVerify, "skip-tls-verify", false, "accept any certificate of a registry")
	f.StringVar(&o.Conf, "registries-conf", "", "registries.conf with mirrors")
	f.IntVar(&o.Jobs, "jobs", 8, "number of bundles to pull at a time")
}

// RefuseBoth makes every verb below a command refuse --use-http with --skip-tls-verify before it does anything,
// as opm does.
func RefuseBoth(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			set := func(name string) bool { on, err := cmd.Flags().GetBool(name); return on && err == nil }
			if err := both(set("use-http"), set("skip-tls-verify")); err != nil {
				return err
			}
			return run(cmd, args)
		}
	}
	for _, sub := range cmd.Commands() {
		RefuseBoth(sub)
	}
}

func both(useHTTP, skipTLSVerify bool) error {
	if useHTTP && skipTLSVerify {
		return failure.New(failure.Usage, "reading the command line: --use-http and --skip-tls-verify contradict each other").Fix("Give one of the two.")
	}
	return nil
}

// Client returns the client for the options.
func (o *Options) Client() (*oci.Client, error) {
	if err := both(o.UseHTTP, o.SkipTLSVerify); err != nil {
		return nil, err
	}
	return oci.New(oci.Options{
		PlainHTTP: o.UseHTTP, SkipTLSVerify: o.SkipTLSVerify, RegistriesConf: o.Conf, Jobs: o.Jobs, Auth: o.Auth, GitHubToken: o.Token,
		UserAgent: "graft/" + command.Version,
	})
}
