package operand

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/yamledit"
)

// Env writes the variables as lines NAME=IMAGE.
func Env(all []Variable) string {
	var b strings.Builder
	for _, v := range all {
		b.WriteString(v.Name + "=" + v.Image + "\n")
	}
	return b.String()
}

var subdomain = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)

// ConfigMap writes the variables as a ConfigMap, which a container can load with envFrom. With a policy
// graft-controller maintains the ConfigMap.
func ConfigMap(name, namespace string, all []Variable, policy *Policy) (string, error) {
	for _, n := range []string{name, namespace} {
		if n != "" && !subdomain.MatchString(n) || len(n) > 253 || name == "" {
			return "", failure.New(failure.Usage, "writing a ConfigMap: %q is not a valid name", n).
				Fix("Give --name and --namespace in lower case letters, digits, hyphens and dots.")
		}
	}
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + yamledit.Quote(name) + "\n")
	if namespace != "" {
		b.WriteString("  namespace: " + yamledit.Quote(namespace) + "\n")
	}
	if policy != nil {
		text, err := json.Marshal(policy)
		if err != nil {
			return "", failure.New(failure.Internal, "writing the policy: %w", err)
		}
		b.WriteString("  labels:\n    " + KeepLabel + ": " + KeepValue + "\n  annotations:\n    " + PolicyAnnotation + ": " + yamledit.Quote(string(text)) + "\n")
	}
	b.WriteString("data:\n")
	for _, v := range all {
		b.WriteString("  " + yamledit.Quote(v.Name) + ": " + yamledit.Quote(v.Image) + "\n")
	}
	return b.String(), nil
}

// AnnotationPrefix is the prefix of annotations that hold images, as in the design of related images.
const AnnotationPrefix = "olm.relatedImage."

// Annotations writes a patch for a Deployment: the images as annotations of its pods, and variables of a
// container that read them with the downward API. Pods cannot read the annotations of the Deployment itself.
func Annotations(deployment, container string, all []Variable) (string, error) {
	var notes, env strings.Builder
	for _, v := range all {
		key := AnnotationPrefix + strings.ToLower(strings.Trim(strings.ReplaceAll(v.Name, "_", "-"), "-"))
		if len(key) > 63 {
			return "", failure.New(failure.Usage, "writing annotations: the key %s is longer than the 63 characters that Kubernetes allows", key).
				Fix("Give a shorter --prefix, or use --output configmap.")
		}
		notes.WriteString("        " + key + ": " + yamledit.Quote(v.Image) + "\n")
		env.WriteString("        - name: " + yamledit.Quote(v.Name) + "\n          valueFrom:\n            fieldRef:\n" +
			"              fieldPath: metadata.annotations['" + key + "']\n")
	}
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: " + yamledit.Quote(deployment) +
		"\nspec:\n  template:\n    metadata:\n      annotations:\n" + notes.String() +
		"    spec:\n      containers:\n      - name: " + yamledit.Quote(container) + "\n        env:\n" + env.String(), nil
}
