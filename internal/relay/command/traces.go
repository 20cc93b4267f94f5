package command

import (
	"cmp"
	"context"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/olmgraft/graft/internal/command"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/relay"
)

// flushWithin limits how long a stop waits for a collector.
const flushWithin = 5 * time.Second

// collector returns the address that spans are sent to: the configuration's, else that of OpenTelemetry's
// variables, else "".
func collector(c *relay.Config, env func(string) (string, bool)) (string, error) {
	get := func(key string) string {
		text, _ := env(key)
		return text
	}
	base, traces := get("OTEL_EXPORTER_OTLP_ENDPOINT"), get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if c.Tracing.Endpoint != "" {
		base, traces = c.Tracing.Endpoint, ""
	}
	address := traces
	if address == "" && base != "" {
		address = strings.TrimRight(base, "/") + "/v1/traces"
	}
	if address == "" || strings.EqualFold(get("OTEL_SDK_DISABLED"), "true") || strings.EqualFold(get("OTEL_TRACES_EXPORTER"), "none") {
		return "", nil
	}
	if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", failure.New(failure.Usage, "setting up traces: it is not an address of a collector").
			Fix("Set OTEL_EXPORTER_OTLP_ENDPOINT or tracing.endpoint to an address such as http://localhost:4318.")
	}
	return address, nil
}

// openTraces sends spans to a collector, if there is one, until stop. Spans that the collector does not accept
// are logged as errors and lost.
func openTraces(ctx context.Context, a *command.App, c *relay.Config, log *slog.Logger) (p *sdktrace.TracerProvider, err error) {
	address, err := collector(c, a.Env)
	if err != nil || address == "" {
		return nil, err
	}
	otel.SetLogger(logr.FromSlogHandler(log.Handler()))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces", "error", err.Error()) }))
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(address))
	if err != nil {
		return nil, failure.New(failure.Usage, "setting up traces: %w", err).Fix("Set the variables of OpenTelemetry as the documentation of its exporter describes.")
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", "graft-relay"), attribute.String("service.version", command.Version)), resource.WithFromEnv())
	if err != nil {
		log.Warn("traces", "error", err.Error()) // the readable variables apply
	}
	return sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about)), nil
}

// closeTraces sends the remaining spans.
func closeTraces(ctx context.Context, p *sdktrace.TracerProvider, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushWithin)
	defer cancel()
	if err := p.Shutdown(ctx); err != nil {
		log.Warn("traces", "error", err.Error())
	}
}

// newLog writes JSON or text, one line for each event.
func newLog(a *command.App, format string) (*slog.Logger, error) {
	switch cmp.Or(format, "json") {
	case "json":
		return slog.New(slog.NewJSONHandler(a.Err, nil)), nil
	case "text":
		return slog.New(slog.NewTextHandler(a.Err, nil)), nil
	}
	return nil, failure.New(failure.Usage, "reading the command line: --log: invalid value %q", format).Fix("Give --log with json or text.")
}
