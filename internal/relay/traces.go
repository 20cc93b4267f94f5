package relay

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// traces tell of an announcement from its webhook to each attempt to dispatch it, whichever relay
// makes that and when.
//
//  1. Only who has proven itself begins a span, or goes on with one of its own (traceparent).
//  2. The trace stands in the delivery, and so in the queue and in a dead letter.
//  3. The receiver finds it in x-traceparent of the client_payload, and nowhere if nothing is traced.
type traces struct{ trace.Tracer }

func newTraces(p trace.TracerProvider) traces {
	if p == nil {
		p = noop.NewTracerProvider()
	}
	return traces{p.Tracer("github.com/olmgraft/graft/internal/relay")}
}

// traceparent is the trace of a context as a header has it; empty where nothing is recorded.
func traceparent(ctx context.Context) string {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier.Get("traceparent")
}

// webhook begins the span of a request.
func (t traces) webhook(req *http.Request, r *route, begun time.Time) (context.Context, trace.Span) {
	ctx := propagation.TraceContext{}.Extract(req.Context(), propagation.HeaderCarrier(req.Header))
	return t.Start(ctx, "POST "+r.Path, trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(begun), trace.WithAttributes(
		attribute.String("http.request.method", req.Method), attribute.String("http.route", r.Path), attribute.String("graft.from", r.From)))
}

// answer ends the span of a request.
func answer(span trace.Span, res result) {
	span.SetAttributes(attribute.Int("http.response.status_code", res.status), attribute.String("graft.result", res.Result),
		attribute.Int("graft.accepted", res.Accepted), attribute.Int("graft.duplicates", res.Duplicates))
	if res.status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, res.Reason)
	}
	span.End()
}

// put begins the span of the queue's taking of so many deliveries.
func (t traces) put(ctx context.Context, n int) (context.Context, trace.Span) {
	return t.Start(ctx, "queue put", trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(attribute.Int("graft.deliveries", n)))
}

// ended ends a span, with what went wrong.
func ended(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	span.End()
}

// dispatch begins the span of an attempt, in the trace that its delivery names.
func (t traces) dispatch(ctx context.Context, l delivery, w waiting) (context.Context, trace.Span) {
	if l.Trace != "" {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": l.Trace})
	}
	return t.Start(ctx, "dispatch", trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
		attribute.String("graft.image", l.Image), attribute.String("graft.to", l.To), attribute.String("graft.event_type", l.Type),
		attribute.String("graft.delivery", l.ID), attribute.Float64("graft.waited_seconds", time.Since(w.At).Seconds())))
}

// tried ends the span of an attempt.
func tried(span trace.Span, v outcome) {
	span.SetAttributes(attribute.String("graft.result", v.result()))
	var err error
	if !v.delivered {
		err = cmp.Or(v.err, errors.New(v.refused))
	}
	ended(span, err)
}
