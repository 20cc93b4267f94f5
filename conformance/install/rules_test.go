package install

import (
	"flag"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write what is made of other files")

// made compares a file with its generated content, and writes it with -update.
func made(t *testing.T, file, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != want {
		t.Errorf("%s is not what is made of other files (%v): go test -run %s -update", file, err, t.Name())
	}
}

// The PrometheusRules equal the plain rules, and the runbook has a part for each alert.
func TestRules(t *testing.T) {
	runbook, err := os.ReadFile("../../docs/runbook.md")
	if err != nil {
		t.Fatal(err)
	}
	for app := range charts {
		name := "graft-" + app
		text, err := os.ReadFile(deploy(app, "monitoring", "rules.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		metadata := "metadata:\n  name: " + name + "\n"
		if app == "controller" {
			metadata += "  namespace: " + name + "\n"
		}
		made(t, deploy(app, "monitoring", "prometheusrule.yaml"), "# Made of rules.yaml by conformance/install: go test -run TestRules -update\n"+
			"apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\n"+metadata+"  labels: {app: "+name+"}\nspec:\n"+indented(string(text)))
		var rules struct {
			Groups []struct {
				Rules []struct {
					Alert               string
					Labels, Annotations map[string]string
				}
			}
		}
		if err := yaml.Unmarshal(text, &rules); err != nil {
			t.Fatal(err)
		}
		for _, r := range rules.Groups[0].Rules {
			if r.Annotations["runbook_url"] != "https://github.com/olmgraft/graft/blob/main/docs/runbook.md#"+strings.ToLower(r.Alert) {
				t.Errorf("%s: the runbook is at %s", r.Alert, r.Annotations["runbook_url"])
			}
			if !strings.Contains(string(runbook), "\n### "+r.Alert+"\n") {
				t.Errorf("docs/runbook.md has nothing of %s", r.Alert)
			}
			if r.Annotations["summary"] == "" || r.Labels["severity"] == "" {
				t.Errorf("%s says neither what is wrong nor how much: %v %v", r.Alert, r.Annotations, r.Labels)
			}
		}
	}
}

func indented(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString("  " + line)
	}
	return out.String()
}
