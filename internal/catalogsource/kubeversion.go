package catalogsource

import (
	"regexp"
	"strings"
)

// KubeVersion is a version of Kubernetes or OpenShift, as templates use it. Patch may be empty.
type KubeVersion struct{ Major, Minor, Patch string }

// Vendors add any text after the numbers: v1.27.3-gke.100, v1.17.1+6af3663.
var versionGrammar = regexp.MustCompile(`^v?(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})(?:\.(0|[1-9][0-9]{0,8}))?(?:[-+.][0-9A-Za-z.+~_-]*|\+)?$`)

// ParseKubeVersion reads a server's gitVersion with vendors' suffixes, or a version without patch such as 1.29.
func ParseKubeVersion(s string) (KubeVersion, bool) {
	m := versionGrammar.FindStringSubmatch(s)
	if m == nil {
		return KubeVersion{}, false
	}
	return KubeVersion{m[1], m[2], m[3]}, true
}

func (v KubeVersion) variable(name string) string {
	switch name {
	case KubeMajor, OCPMajor:
		return v.Major
	case KubeMinor, OCPMinor:
		return v.Minor
	}
	return v.Patch
}

// of returns " of Kubernetes VERSION", or "" if the version is unknown.
func (v KubeVersion) of() string {
	if v.Major == "" {
		return ""
	}
	return " of Kubernetes " + strings.TrimSuffix(v.Major+"."+v.Minor+"."+v.Patch, ".")
}
