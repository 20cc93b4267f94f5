package controller_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/olmgraft/graft/internal/controller"
	"github.com/olmgraft/graft/internal/controller/suite"
)

// process is a running command.
type process struct {
	address string
	stop    context.CancelFunc
	code    chan int

	mu   sync.Mutex
	said bytes.Buffer
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.Write(b)
}

func begin(t *testing.T, s *suite.Server, args ...string) *process {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	p := &process{address: l.Addr().String(), stop: stop, code: make(chan int, 1)}
	t.Cleanup(stop) // in case the test fails
	_ = l.Close()
	args = append(args, "--kubeconfig", s.Kubeconfig(t), "--listen", p.address)
	go func() { p.code <- controller.Main(ctx, args, "one", nil, io.Discard, p) }()
	return p
}

func (p *process) answer(path string) (int, string) {
	answer, err := http.Get("http://" + p.address + path)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text)
}

// ends stops the command, which must succeed.
func (p *process) ends(t *testing.T) {
	t.Helper()
	p.stop()
	if code := <-p.code; code != 0 {
		t.Errorf("it ended with %d: %s", code, p.said.String())
	}
}

var (
	leases = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	events = schema.GroupVersionResource{Version: "v1", Resource: "events"}
)

// While another process holds the lease, the command is ready and does not work. Without an election it works,
// reports that, and writes events.
func TestCommandLeads(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := suite.New(t, s, "", "lead")
	c.Create(controller.Resource, suite.CatalogSource("lead", "kube", suite.KubeTemplate, suite.V119))
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
	lease := c.Create(leases, "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: graft-controller, namespace: lead}\n"+
		"spec: {holderIdentity: other, leaseDurationSeconds: 15, acquireTime: '"+now+"', renewTime: '"+now+"'}\n")
	p := begin(t, s, "--leader-elect", "lead", "--namespace", "lead")
	c.Eventually("it is ready while another leads", func() bool { code, _ := p.answer("/readyz"); return code == http.StatusOK })
	if code, text := p.answer("/healthz"); code != http.StatusOK || text != "ok\n" {
		t.Errorf("another leads, and it says %d %s", code, text)
	}
	if _, text := p.answer("/metrics"); !strings.Contains(text, "\ngraft_leader 0\n") {
		t.Errorf("another leads, and it says %s", text)
	}
	if o := c.Get("lead/kube"); suite.Image(o) != "quay.io/kube-release-v1/catalog:v1.19" {
		t.Errorf("another leads, and the image is %s", suite.Image(o))
	}
	p.ends(t)
	if after, err := c.Resource(leases).Namespace("lead").Get(t.Context(), lease.GetName(), metav1.GetOptions{}); err != nil || after.GetResourceVersion() != lease.GetResourceVersion() {
		t.Errorf("the lease of another became %v, %v", after, err)
	}
	p = begin(t, s, "--olm", "absent", "--namespace", "lead")
	c.Follows("lead/kube", "quay.io/kube-release-v1/catalog:v1.20")
	if code, text := p.answer("/readyz"); code != http.StatusOK || text != "ok\n" {
		t.Errorf("it works, and says %d %s", code, text)
	}
	for name, n := range map[string]int{"image_writes": 1, "status_writes": 1, "conflicts": 0, "errors": 0} {
		want := fmt.Sprintf("# TYPE graft_%s_total counter\ngraft_%s_total %d\n", name, name, n)
		c.Eventually(want, func() bool { _, text := p.answer("/metrics"); return strings.Contains(text, want) }) // once the server has answered
	}
	for _, want := range []string{"graft_leader 1\n", "graft_queue_items 0\n", `graft_catalogsources{resolved="true"} 1`, `graft_catalogsources{resolved="false"} 0`, "graft_reconcile_duration_seconds_count "} {
		if _, text := p.answer("/metrics"); !strings.Contains(text, "\n"+want) {
			t.Errorf("a working command's metrics lack %s: %s", want, text)
		}
	}
	c.Eventually("the event is written", func() bool { return len(told(c, "lead")) == 1 })
	p.ends(t)
}

// told returns the events of a namespace.
func told(c *suite.Cluster, namespace string) (all []string) {
	c.Helper()
	list, err := c.Resource(events).Namespace(namespace).List(c.Context(), metav1.ListOptions{})
	if err != nil {
		c.Fatal(err)
	}
	for _, one := range list.Items {
		name, _, _ := unstructured.NestedString(one.Object, "involvedObject", "name")
		all = append(all, fmt.Sprint(name, ": ", one.Object["type"], " ", one.Object["reason"], " ", one.Object["message"]))
	}
	return all
}

// A single run writes its events before it ends.
func TestOnceTells(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := suite.New(t, s, "", "tells")
	c.Create(controller.Resource, suite.CatalogSource("tells", "kube", suite.KubeTemplate, suite.V119))
	p := begin(t, s, "--olm", "absent", "--once", "--namespace", "tells")
	if code := <-p.code; code != 0 {
		t.Errorf("%d: %s", code, p.said.String())
	}
	want := `kube: Normal AllTemplatesResolved The image is now quay.io/kube-release-v1/catalog:v1.20, it was "quay.io/kube-release-v1/catalog:v1.19"`
	if got := told(c, "tells"); len(got) != 1 || got[0] != want {
		t.Errorf("the events are %q", got)
	}
}

// A JSON log has no other lines: neither client-go's nor the final error.
func TestLogIsJSON(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := suite.New(t, s, "", "log")
	c.Create(controller.Resource, suite.CatalogSource("log", "bad", suite.SampleTemplate("log", "missing"), suite.V119))
	p := begin(t, s, "--log-format", "json", "--leader-elect", "log", "--namespace", "log")
	c.Eventually("it leads", func() bool { code, _ := p.answer("/readyz"); return code == http.StatusOK })
	p.ends(t)
	once := begin(t, s, "--log-format", "json", "--once", "--namespace", "log")
	if code := <-once.code; code != 80 {
		t.Errorf("it ended with %d: %s", code, once.said.String())
	}
	messages := map[string]map[string]any{}
	for line := range strings.Lines(p.said.String() + once.said.String()) {
		var one map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil || one["time"] == nil || one["level"] == nil {
			t.Errorf("%q: %v", line, err)
		}
		messages[fmt.Sprint(one["msg"])] = one
	}
	if messages["Successfully acquired lease"] == nil {
		t.Errorf("there is nothing of the lease in %s", p.said.String())
	}
	for text, one := range messages {
		if strings.HasPrefix(text, "resolving log/bad: ") && one["code"] == 80.0 && one["class"] == "catalogsource-unresolvable" && one["remedy"] != "" {
			return
		}
	}
	t.Errorf("the log lacks the final error: %s", once.said.String())
}

// The webhook converts all objects of a review or none.
func TestWebhook(t *testing.T) {
	source := `{"apiVersion":"operators.coreos.com/v1alpha1","kind":"CatalogSource","metadata":{"name":"x"},"spec":{"sourceType":"grpc","address":"a","priority":9007199254740993}}`
	for request, want := range map[string]string{
		`{"uid":"u","desiredAPIVersion":"operators.coreos.com/v1alpha2","objects":[` + source + `]}`:                                            `{"uid":"u","convertedObjects":[{"apiVersion":"operators.coreos.com/v1alpha2","kind":"CatalogSource","metadata":{"name":"x"},"spec":{"catalogServiceSource":{"address":"a"},"priority":9007199254740993}}],"result":{"metadata":{},"status":"Success"}}`,
		`{"uid":"u","desiredAPIVersion":"operators.coreos.com/v2","objects":[` + source + `]}`:                                                  `{"uid":"u","convertedObjects":[],"result":{"metadata":{},"status":"Failure","message":"CatalogSource of operators.coreos.com/v1alpha1 has no conversion to operators.coreos.com/v2"}}`,
		`{"uid":"u","desiredAPIVersion":"operators.coreos.com/v1alpha2","objects":[` + source + `,{"apiVersion":"v1","kind":"CatalogSource"}]}`: `{"uid":"u","convertedObjects":[],"result":{"metadata":{},"status":"Failure","message":"CatalogSource of v1 has no conversion to operators.coreos.com/v1alpha2"}}`,
		`{"uid":"u","desiredAPIVersion":"operators.coreos.com/v1alpha2","objects":[]}`:                                                          `{"uid":"u","convertedObjects":[],"result":{"metadata":{},"status":"Success"}}`,
	} {
		code, text := review(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":` + request + `}`)
		var answer struct {
			Kind, APIVersion  string
			Request, Response json.RawMessage
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil || code != http.StatusOK || string(answer.Response) != want || answer.Kind != "ConversionReview" || answer.APIVersion != "apiextensions.k8s.io/v1" || answer.Request != nil {
			t.Errorf("%s: %d %s", request, code, text)
		}
	}
	for _, body := range []string{"{}", "{", "", strings.Repeat(" ", 32<<20) + "{}"} {
		if code, text := review(body); code != http.StatusBadRequest || !strings.HasPrefix(text, "reading the ConversionReview: ") {
			t.Errorf("%.20s: %d %s", body, code, text)
		}
	}
}

func review(body string) (int, string) {
	out := httptest.NewRecorder()
	controller.Webhook().ServeHTTP(out, httptest.NewRequest(http.MethodPost, "/convert", strings.NewReader(body)))
	return out.Code, out.Body.String()
}
