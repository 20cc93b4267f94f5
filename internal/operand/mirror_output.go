package operand

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/olmgraft/graft/internal/reference"
	"github.com/olmgraft/graft/internal/yamledit"
)

// ImageSet writes images as an ImageSetConfiguration for oc-mirror.
func ImageSet(images []string) string {
	var b strings.Builder
	b.WriteString("kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\nmirror:\n  additionalImages:")
	if len(images) == 0 {
		b.WriteString(" []")
	}
	b.WriteString("\n")
	for _, image := range images {
		b.WriteString("  - name: " + yamledit.Quote(image) + "\n")
	}
	return b.String()
}

// Skopeo writes images as YAML for skopeo sync: registries, their repositories, and the tags and digests there.
func Skopeo(images []string) string {
	registries := map[string]map[string][]string{}
	for _, image := range images {
		r, _ := parseReference(image)
		host, repository := split(r)
		if registries[host] == nil {
			registries[host] = map[string][]string{}
		}
		registries[host][repository] = append(registries[host][repository], cmp.Or(r.Digest, r.Tag, "latest"))
	}
	var b strings.Builder
	for _, host := range slices.Sorted(maps.Keys(registries)) {
		b.WriteString(yamledit.Quote(host) + ":\n  images:\n")
		for _, repository := range slices.Sorted(maps.Keys(registries[host])) {
			b.WriteString("    " + yamledit.Quote(repository) + ":\n")
			tags := registries[host][repository]
			slices.Sort(tags)
			for _, tag := range slices.Compact(tags) {
				b.WriteString("    - " + yamledit.Quote(tag) + "\n")
			}
		}
	}
	if b.Len() == 0 {
		return "{}\n"
	}
	return b.String()
}

// split separates the registry of a repository from its path. It uses the names that container engines use for
// Docker Hub.
func split(r reference.Reference) (host, path string) {
	host, path = cmp.Or(r.Registry, reference.DockerHub), r.Path
	if host == reference.DockerHub && !strings.Contains(path, "/") {
		path = "library/" + path
	}
	return host, path
}
