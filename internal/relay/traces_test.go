package relay

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/relay/queue/file"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

// traced is a relay whose spans are recorded.
func traced(t *testing.T, s setup) (*fixture, func() map[string]tracetest.SpanStubs) {
	t.Helper()
	kept := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(kept))
	s.traces = provider
	w := begin(t, s)
	return w, func() map[string]tracetest.SpanStubs {
		all := map[string]tracetest.SpanStubs{}
		for _, span := range kept.GetSpans() {
			all[span.Name] = append(all[span.Name], span)
		}
		return all
	}
}

func attributes(span tracetest.SpanStub) map[string]string {
	all := map[string]string{}
	for _, a := range span.Attributes {
		all[string(a.Key)] = a.Value.Emit()
	}
	return all
}

// One trace goes from the webhook through the queue to each attempt, and the receiver gets it.
func TestTrace(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	w, spans := traced(t, setup{script: func(fakegithub.Request) *fakegithub.Fault {
		if n.Add(1) == 1 {
			return fakegithub.ServerError(502, false)
		}
		return nil
	}})
	const sender = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	if status, body := w.post("/hook", `{"image": "quay.io/example/op:v1"}`, "Authorization", secret, "traceparent", sender); status != 202 {
		t.Fatalf("%d %s", status, body)
	}
	w.settled()
	w.until("the spans have ended", func() bool { return len(spans()["dispatch"]) == 2 })
	all := spans()
	hook, put, sent := all["POST /hook"], all["queue put"], all["dispatch"]
	if len(hook) != 1 || len(put) != 1 || len(sent) != 2 {
		t.Fatalf("%+v", all)
	}
	if hook[0].SpanContext.TraceID().String() != "0af7651916cd43dd8448eb211c80319c" || hook[0].Parent.SpanID().String() != "b7ad6b7169203331" || hook[0].SpanKind != trace.SpanKindServer {
		t.Errorf("the webhook's span is %+v", hook[0])
	}
	if got := attributes(hook[0]); got["http.response.status_code"] != "202" || got["http.route"] != "/hook" || got["graft.accepted"] != "1" {
		t.Errorf("%v", got)
	}
	for i, result := range []string{retried, delivered} {
		got := attributes(sent[i])
		if sent[i].Parent.SpanID() != hook[0].SpanContext.SpanID() || sent[i].SpanContext.TraceID() != hook[0].SpanContext.TraceID() || got["graft.result"] != result || got["graft.to"] != "octo/catalog" {
			t.Errorf("attempt %d: %+v", i, sent[i])
		}
		if failed := sent[i].Status.Code == codes.Error; failed != (result == retried) {
			t.Errorf("attempt %d: %+v", i, sent[i].Status)
		}
	}
	if put[0].Parent.SpanID() != hook[0].SpanContext.SpanID() {
		t.Errorf("the queue's span is %+v", put[0])
	}
	told := w.hub.Dispatches()[0].Payload
	want := "00-0af7651916cd43dd8448eb211c80319c-" + hook[0].SpanContext.SpanID().String() + "-01"
	if !bytes.Contains(told, []byte(`"x-traceparent":"`+want+`"`)) {
		t.Errorf("the receiver gets %s", told)
	}
	if !strings.Contains(w.log.String(), `"trace":"`+want+`"`) {
		t.Error("the log has no trace")
	}
	takes(t, told)
}

// takes checks that the payload's schema and its reader accept a payload.
func takes(t *testing.T, payload []byte) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(event.PayloadSchema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("payload.json", doc); err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(payload))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.MustCompile("payload.json").Validate(value); err != nil {
		t.Error(err)
	}
	if _, err := event.Parse(event.ClientPayload, payload, nil); err != nil {
		t.Error(err)
	}
}

// Even a complete payload has no more properties than GitHub accepts.
func TestTraceFits(t *testing.T) {
	p := event.Publication{
		Repository: "quay.io/example/op", Tag: "v1", Digest: "sha256:" + strings.Repeat("a", 64), Source: event.Quay, ID: "x",
		Said: event.Said{Name: "op.v1", Package: "op", Version: "1.0.0", Channels: []string{"stable"}},
	}
	c := defaults()
	c.Targets = []Target{{Images: []string{"quay.io/**"}, Repositories: []string{"octo/catalog"}, EventType: "bundle"}}
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	with, err := c.deliveries(p, "", parent)
	if err != nil {
		t.Fatal(err)
	}
	without, err := c.deliveries(p, "", "")
	if err != nil {
		t.Fatal(err)
	}
	var l delivery
	if err := json.Unmarshal(with[0].Data, &l); err != nil {
		t.Fatal(err)
	}
	takes(t, l.Payload)
	if l.Trace != parent || with[0].Key != without[0].Key || strings.Contains(string(without[0].Data), "trace") {
		t.Errorf("%s\n%s", with[0].Data, without[0].Data)
	}
}

// An unauthenticated request starts no span. A delivery that waits over a restart, or becomes a dead letter,
// keeps its trace.
func TestTraceIsKept(t *testing.T) {
	t.Parallel()
	var up atomic.Bool
	w, spans := traced(t, setup{script: func(fakegithub.Request) *fakegithub.Fault {
		if up.Load() {
			return &fakegithub.Fault{Status: 404, Message: "Not Found"}
		}
		return fakegithub.ServerError(503, false)
	}})
	if status, _ := w.post("/hook", `{"image": "quay.io/example/op:v1"}`, "Authorization", "wrong"); status != 401 || len(spans()) != 0 {
		t.Errorf("%d, and there are spans %v", status, spans())
	}
	w.hook("quay.io/example/op:v1")
	w.until("it was tried", func() bool { return len(spans()["dispatch"]) > 1 })
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	up.Store(true)
	w.serve(w.config)
	w.settled()
	w.until("the last attempt has a span", func() bool {
		all := spans()["dispatch"]
		return attributes(all[len(all)-1])["graft.result"] == dead
	})
	id := spans()["POST /hook"][0].SpanContext
	for _, span := range spans()["dispatch"] {
		if span.Parent.SpanID() != id.SpanID() {
			t.Errorf("%+v", span)
		}
	}
	text, err := os.ReadFile(filepath.Join(w.queue, file.DeadName))
	if err != nil || !strings.Contains(string(text), `"trace":"00-`+id.TraceID().String()) {
		t.Errorf("%s %v", text, err)
	}
}
