// Package registry is the flags of every verb that pulls, and the client that they come to.
package registry

import (
	"github.com/spf13/pflag"

	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/oci"
)

// Options are what the flags say.
type Options struct {
	UseHTTP, SkipTLSVerify bool
	Conf                   string
	Jobs                   int
	Auth, Token            string // of the action's inputs
}

// Flags are --use-http, --skip-tls-verify, --registries-conf and --jobs.
func (o *Options) Flags(f *pflag.FlagSet) {
	f.BoolVar(&o.UseHTTP, "use-http", false, "use plain HTTP where a registry does not answer by TLS")
	f.BoolVar(&o.SkipTLSVerify, "skip-tls-verify", false, "accept any certificate of a registry")
	f.StringVar(&o.Conf, "registries-conf", "", "take mirrors from this registries.conf")
	f.IntVar(&o.Jobs, "jobs", 8, "bundles to pull at a time")
}

// Client is the one that the options come to.
func (o *Options) Client() (*oci.Client, error) {
	return oci.New(oci.Options{
		PlainHTTP: o.UseHTTP, SkipTLSVerify: o.SkipTLSVerify, RegistriesConf: o.Conf, Jobs: o.Jobs, Auth: o.Auth, GitHubToken: o.Token,
		UserAgent: "graft/" + command.Version,
	})
}
