package publish

import (
	"path/filepath"
	"strings"

	"github.com/olmgraft/graft/internal/publish"
)

// reproduced are the inputs that change the result of a run and that no request has. The text of a pull request
// names them in its command.
var reproduced = []string{
	"drift", "published", "allowed-repositories", "skip-tags", "findings", "allow-commands", "use-http", "skip-tls-verify", registriesConf,
}

// registriesConf names a file, of which the text has no path of the machine.
const registriesConf = "registries-conf"

// flagsToReproduce returns the given ones of these inputs as flags. workspace is the repository's folder, or "" for
// the present one.
func flagsToReproduce(v values, workspace string) (flags []string) {
	for _, name := range reproduced {
		value := strings.Join(v.list(name), ",")
		switch {
		case value == "" || value == "false":
			continue
		case v.flags.Lookup(name).Value.Type() == "bool":
			value = ""
		case name == registriesConf:
			value = portable(value, workspace)
		}
		flags = append(flags, publish.Flag(name, value))
	}
	return flags
}

// portable returns a path that means something on other machines: a path in the repository, or the name of a file
// outside.
func portable(name, workspace string) string {
	if !filepath.IsAbs(name) {
		return name
	}
	if dir, err := filepath.Abs(workspace); err == nil {
		if in, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(in) {
			return filepath.ToSlash(in)
		}
	}
	return filepath.Base(name)
}
