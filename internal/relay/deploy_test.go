package relay

import (
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

type probe struct {
	HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
}

// The manifests agree with the program and with each other.
func TestManifests(t *testing.T) {
	byKind := map[string]map[string]any{}
	for _, doc := range documents(t, "relay/base/relay.yaml") {
		kind, _ := doc["kind"].(string)
		if kind == "" || doc["apiVersion"] == nil || inside(doc, "metadata")["name"] != "graft-relay" {
			t.Errorf("%v is not a manifest of the relay", doc)
		}
		byKind[kind] = doc
	}
	c, err := Parse("relay.yaml", []byte(configurations(t)["deploy/relay/base/relay.yaml"]))
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Spec struct {
			Replicas int
			Strategy struct{ Type string }
			Template struct {
				Metadata struct{ Labels map[string]string }
				Spec     struct {
					Grace      int `yaml:"terminationGracePeriodSeconds"`
					Containers []struct {
						Args  []string
						Ports []struct {
							Name          string
							ContainerPort int `yaml:"containerPort"`
						}
						LivenessProbe   probe `yaml:"livenessProbe"`
						ReadinessProbe  probe `yaml:"readinessProbe"`
						SecurityContext struct {
							ReadOnly bool `yaml:"readOnlyRootFilesystem"`
						} `yaml:"securityContext"`
						VolumeMounts []struct {
							Name      string
							MountPath string `yaml:"mountPath"`
							ReadOnly  bool   `yaml:"readOnly"`
						} `yaml:"volumeMounts"`
					}
					Volumes []map[string]any
				}
			}
		}
	}
	remarshal(t, byKind["Deployment"], &d)
	pod := d.Spec.Template.Spec
	container := pod.Containers[0]
	if d.Spec.Replicas != 1 || d.Spec.Strategy.Type != "Recreate" || pod.Grace < 25 || !container.SecurityContext.ReadOnly {
		t.Errorf("a relay needs one queue, time to stop, and a read-only file system: %+v", d)
	}
	fitsFlags(t, container.Args)
	mounts := map[string]string{}
	for _, m := range container.VolumeMounts {
		mounts[m.Name] = m.MountPath
		if m.ReadOnly == (m.Name == "queue") {
			t.Errorf("only the queue may be writable: %+v", m)
		}
	}
	if file := container.Args[1]; path.Dir(file) != mounts["config"] || inside(byKind["ConfigMap"], "data")[path.Base(file)] == nil {
		t.Errorf("%s is not in the ConfigMap", file)
	}
	for _, file := range []string{c.GitHub.TokenFile, c.Routes[0].SecretFile} {
		if path.Dir(file) != mounts["secrets"] {
			t.Errorf("%s is not in the secret", file)
		}
	}
	if c.Queue.Dir != mounts["queue"] || len(pod.Volumes) != len(mounts) {
		t.Errorf("the queue is in %s, and the volume in %s", c.Queue.Dir, mounts["queue"])
	}
	ports := map[string]string{}
	for _, p := range container.Ports {
		ports[p.Name] = strconv.Itoa(p.ContainerPort)
	}
	if ports["hooks"] != portOf(t, c.Listen) || ports["admin"] != portOf(t, c.AdminListen) {
		t.Errorf("the ports are %v, and the relay listens on %s and %s", ports, c.Listen, c.AdminListen)
	}
	for path, is := range map[string]probe{"/healthz": container.LivenessProbe, "/readyz": container.ReadinessProbe} {
		if is.HTTPGet.Path != path || is.HTTPGet.Port != "admin" {
			t.Errorf("the probe of %s is %+v", path, is)
		}
	}
	if selector := inside(byKind["Service"], "spec", "selector"); selector["app"] != d.Spec.Template.Metadata.Labels["app"] {
		t.Errorf("the service selects %v", selector)
	}
}

// The compose file agrees with the program too. Its registry sends to the relay's address with the relay's secret.
func TestCompose(t *testing.T) {
	type service struct {
		Command     []string
		Build       struct{ Context, Target string }
		Environment map[string]string
		Volumes     []string
	}
	var compose struct {
		Services map[string]service
		Volumes  map[string]any
	}
	remarshal(t, documents(t, "compose/compose.yaml")[0], &compose)
	relay := compose.Services["relay"]
	fitsFlags(t, relay.Command)
	file, err := os.ReadFile(filepath.Join("../../deploy/compose", relay.Build.Context, "Dockerfile"))
	if err != nil || !strings.Contains(string(file), " AS "+relay.Build.Target+"\n") {
		t.Errorf("there is no target %s to build: %v", relay.Build.Target, err)
	}
	for name, s := range compose.Services {
		for _, volume := range s.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			_, named := compose.Volumes[source]
			if _, err := os.Stat(filepath.Join("../../deploy/compose", source)); err != nil && !named {
				t.Errorf("%s: there is no %s", name, source)
			}
		}
	}
	c, err := Parse("relay.yaml", []byte(configurations(t)["deploy/compose/relay.yaml"]))
	if err != nil {
		t.Fatal(err)
	}
	var registry struct {
		Notifications struct {
			Endpoints []struct {
				URL     string
				Headers map[string][]string
			}
		}
	}
	remarshal(t, documents(t, "compose/registry.yaml")[0], &registry)
	endpoint, route := registry.Notifications.Endpoints[0], c.Routes[0]
	if endpoint.URL != "http://relay:"+portOf(t, c.Listen)+route.Path || endpoint.Headers["Authorization"][0] != "Bearer "+relay.Environment[route.SecretEnv] {
		t.Errorf("the registry sends to %s with %v, and the relay has %s and %s", endpoint.URL, endpoint.Headers, route.Path, relay.Environment[route.SecretEnv])
	}
}

// fitsFlags checks the arguments with the program itself.
func fitsFlags(t *testing.T, args []string) {
	t.Helper()
	if len(args) < 2 || args[0] != "--config" {
		t.Fatalf("the arguments are %v", args)
	}
	if out, err := exec.Command(graftRelay(t), append(args, "--help")...).CombinedOutput(); err != nil {
		t.Errorf("graft-relay %v: %v\n%s", args, err, out)
	}
}

func portOf(t *testing.T, address string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Error(err)
	}
	return port
}

func remarshal(t *testing.T, from, into any) {
	t.Helper()
	text, err := yaml.Marshal(from)
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}
