package cluster

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/olmgraft/graft/internal/controller"
)

var leases = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}

// leaseDefinition stands in for the leases that a whole API server has built in.
var leaseDefinition = strings.NewReplacer(
	"samples", "leases", "foo.example.com", "coordination.k8s.io", "SampleList", "LeaseList", "Sample", "Lease", "singular: sample", "singular: lease",
	"metadata: {", "metadata: {annotations: {api-approved.kubernetes.io: 'unapproved, for tests'}, ",
).Replace(sampleDefinition)

func kubeconfig(t *testing.T) string {
	t.Helper()
	c := api.NewConfig()
	c.Clusters["c"] = &api.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData, TLSServerName: config.ServerName}
	c.AuthInfos["u"] = &api.AuthInfo{Token: config.BearerToken}
	c.Contexts["x"] = &api.Context{Cluster: "c", AuthInfo: "u"}
	c.CurrentContext = "x"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*c, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// replica is a command at work.
type replica struct {
	stop    context.CancelFunc
	address string
	code    chan int
	said    *said
}

// said is what a command printed.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func begin(t *testing.T, name string, args ...string) *replica {
	ctx, stop := context.WithCancel(context.Background())
	r := &replica{stop: stop, address: freeAddress(), code: make(chan int, 1), said: &said{}}
	args = append(args, "--kubeconfig", kubeconfig(t), "--listen", r.address)
	go func() { r.code <- controller.Main(ctx, args, name, nil, io.Discard, r.said) }()
	return r
}

func (r *replica) answer(path string) (int, string) {
	answer, err := http.Get("http://" + r.address + path) //nolint:noctx // a test ends
	if err != nil {
		return 0, err.Error()
	}
	return read(answer)
}

func read(answer *http.Response) (int, string) {
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text)
}

// Of two replicas one works; when it stops, it ends well and the other goes on.
func TestReplicas(t *testing.T) {
	define([]byte(leaseDefinition))
	c := newCluster(t, "", "lead")
	object := c.create(samples, sample("lead", "one", "v2"))
	c.create(controller.Resource, catalogSource("lead", "sample", sampleTemplate("lead", "one"), v119))
	first := begin(t, "first", "--leader-elect", "lead", "--namespace", "lead")
	holder := func() string {
		lease, err := c.Resource(leases).Namespace("lead").Get(context.Background(), "graft-controller", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		name, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
		return name
	}
	c.eventually("the first leads", func() bool { return holder() == "first" })
	second := begin(t, "second", "--leader-elect", "lead", "--namespace", "lead")
	c.eventually("v2", func() bool { return image(c.get("lead/sample")) == "quay.io/sample/catalog:v2" })
	c.eventually("the second answers", func() bool { code, _ := second.answer("/healthz"); return code == http.StatusOK })
	if code, text := first.answer("/readyz"); code != http.StatusOK {
		t.Errorf("the first says %s", text)
	}
	if code, _ := second.answer("/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("the second says %d, though it does not lead", code)
	}
	if _, text := first.answer("/metrics"); !strings.Contains(text, "# TYPE graft_image_writes_total counter\ngraft_image_writes_total 1\n") {
		t.Errorf("the metrics are %s", text)
	}
	first.stop()
	if code := <-first.code; code != 0 {
		t.Errorf("the first ended with %d: %s", code, first.said)
	}
	_ = unstructured.SetNestedField(object.Object, "v3", "spec", "foo", "bar")
	if _, err := c.Resource(samples).Namespace("lead").Update(context.Background(), object, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.eventually("v3", func() bool { return image(c.get("lead/sample")) == "quay.io/sample/catalog:v3" })
	if got := holder(); got != "second" {
		t.Errorf("%s leads", got)
	}
	second.stop()
	if code := <-second.code; code != 0 {
		t.Errorf("the second ended with %d: %s", code, second.said)
	}
}

func TestCommand(t *testing.T) {
	c := newCluster(t, "", "command")
	c.create(samples, sample("command", "one", "v5"))
	c.create(controller.Resource, catalogSource("command", "sample", sampleTemplate("command", "one"), v119))
	once := func(args ...string) (int, string) {
		r := begin(t, "one", append(args, "--once", "--namespace", "command")...)
		return <-r.code, r.said.String()
	}
	if code, text := once(); code != 0 || image(c.get("command/sample")) != "quay.io/sample/catalog:v5" {
		t.Errorf("%d: %s", code, text)
	}
	c.create(controller.Resource, catalogSource("command", "missing", sampleTemplate("command", "two"), v119))
	if code, text := once(); code != 80 || !strings.Contains(text, "graft-controller: resolving command/missing: Cannot construct catalog image reference") || !strings.Contains(text, "(catalogsource-unresolvable, 80)") {
		t.Errorf("%d: %s", code, text)
	}
	if code, text := once("--poll", "0s"); code != 2 || !strings.Contains(text, "usage, 2") {
		t.Errorf("%d: %s", code, text)
	}
	file := filepath.Join(t.TempDir(), "none")
	if err := os.WriteFile(file, []byte("apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}]\ncontexts: [{name: a, context: {cluster: a}}]\ncurrent-context: a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	if code := controller.Main(context.Background(), []string{"--once", "--kubeconfig", file}, "one", nil, io.Discard, &errs); code != 82 || !strings.Contains(errs.String(), "cluster-unavailable, 82") {
		t.Errorf("%d: %s", code, errs.String())
	}
}
