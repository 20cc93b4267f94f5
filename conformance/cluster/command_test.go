package cluster

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/olmgraft/graft/internal/controller"
	"github.com/olmgraft/graft/internal/controller/suite"
)

var leases = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}

// leaseDefinition stands in for the leases that a complete API server has built in.
var leaseDefinition = strings.NewReplacer(
	"samples", "leases", "foo.example.com", "coordination.k8s.io", "SampleList", "LeaseList", "Sample", "Lease", "singular: sample", "singular: lease",
	"metadata: {", "metadata: {annotations: {api-approved.kubernetes.io: 'unapproved, for tests'}, ",
).Replace(sampleDefinition)

// replica is a running command.
type replica struct {
	stop    context.CancelFunc
	address string
	code    chan int
	said    *said
}

// said holds a command's output.
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
	args = append(args, "--olm", "absent", "--kubeconfig", realServer().Kubeconfig(t), "--listen", r.address)
	go func() { r.code <- controller.Main(ctx, args, name, nil, io.Discard, r.said) }()
	return r
}

func (r *replica) answer(path string) (int, string) {
	answer, err := http.Get("http://" + r.address + path) //nolint:noctx // the test limits it
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

// One of two replicas works. When it stops, it ends without an error and the other takes over.
func TestReplicas(t *testing.T) {
	define([]byte(leaseDefinition))
	c := newCluster(t, "", "lead")
	object := c.Create(suite.Samples, suite.Sample("lead", "one", "v2"))
	c.Create(controller.Resource, suite.CatalogSource("lead", "sample", suite.SampleTemplate("lead", "one"), suite.V119))
	first := begin(t, "first", "--leader-elect", "lead", "--namespace", "lead")
	holder := func() string {
		lease, err := c.Resource(leases).Namespace("lead").Get(context.Background(), "graft-controller", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		name, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
		return name
	}
	c.Eventually("the first leads", func() bool { return holder() == "first" })
	second := begin(t, "second", "--leader-elect", "lead", "--namespace", "lead")
	c.Eventually("v2", func() bool { return suite.Image(c.Get("lead/sample")) == "quay.io/sample/catalog:v2" })
	c.Eventually("the second is ready to follow", func() bool { code, _ := second.answer("/readyz"); return code == http.StatusOK })
	if code, text := first.answer("/readyz"); code != http.StatusOK {
		t.Errorf("the first says %s", text)
	}
	for r, want := range map[*replica]string{first: "\ngraft_leader 1\n", second: "\ngraft_leader 0\n"} {
		if _, text := r.answer("/metrics"); !strings.Contains(text, want) {
			t.Errorf("it does not say%s: %s", want, text)
		}
	}
	c.Eventually("a write is counted, once the server has answered it", func() bool {
		_, text := first.answer("/metrics")
		return strings.Contains(text, "# TYPE graft_image_writes_total counter\ngraft_image_writes_total 1\n")
	})
	first.stop()
	if code := <-first.code; code != 0 {
		t.Errorf("the first ended with %d: %s", code, first.said)
	}
	_ = unstructured.SetNestedField(object.Object, "v3", "spec", "foo", "bar")
	if _, err := c.Resource(suite.Samples).Namespace("lead").Update(context.Background(), object, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.Eventually("v3", func() bool { return suite.Image(c.Get("lead/sample")) == "quay.io/sample/catalog:v3" })
	if got := holder(); got != "second" {
		t.Errorf("%s leads", got)
	}
	second.stop()
	if code := <-second.code; code != 0 {
		t.Errorf("the second ended with %d: %s", code, second.said)
	}
}
