package cli

import (
	"github.com/spf13/pflag"

	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/oci"
)

// registryOptions are the flags of every verb that pulls.
type registryOptions struct {
	useHTTP       bool
	skipTLSVerify bool
	conf          string
	jobs          int
	auth, token   string // of the action's inputs
}

func (o *registryOptions) flags(f *pflag.FlagSet) {
	f.BoolVar(&o.useHTTP, "use-http", false, "use plain HTTP where a registry does not answer by TLS")
	f.BoolVar(&o.skipTLSVerify, "skip-tls-verify", false, "accept any certificate of a registry")
	f.StringVar(&o.conf, "registries-conf", "", "take mirrors from this registries.conf")
	f.IntVar(&o.jobs, "jobs", 8, "bundles to pull at a time")
}

func (o *registryOptions) client() (*oci.Client, error) {
	return oci.New(oci.Options{
		PlainHTTP: o.useHTTP, SkipTLSVerify: o.skipTLSVerify, RegistriesConf: o.conf, Jobs: o.jobs, Auth: o.auth, GitHubToken: o.token,
		UserAgent: "graft/" + command.Version,
	})
}
