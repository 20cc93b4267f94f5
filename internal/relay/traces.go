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

// traces follow an announcement from its webhook to each attempt to dispatch it, in whichever relay and at
// whatever time.
//
// 1. Only an authenticated sender starts a span, or continues its own (traceparent). 2. The trace is in the
// delivery, and so in the queue and in a dead letter. 3. The receiver gets it as x-traceparent in the
// client_payload, unless nothing is traced.
type traces struct{ trace.Tracer }

func newTraces(p trace.TracerProvider) traces {
	if p == nil {
		p = noop.NewTracerProvider()
	}
	return traces{p.Tracer("github.com/olmgraft/graft/internal/relay")}
}

// traceparent returns the trace of a context in the form of the header, or "" if nothing is recorded.
func traceparent(ctx context.Context) string {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier.Get("traceparent")
}

// webhook starts the span of a request.
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

// put starts the span of storing this many deliveries.
func (t traces) put(ctx context.Context, n int) (context.Context, trace.Span) {
	return t.Start(ctx, "queue put", trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(attribute.Int("graft.deliveries", n)))
}

// ended ends a span, with its error.
func ended(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	span.End()
}

// dispatch starts the span of an attempt, in the trace that its delivery names.
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
