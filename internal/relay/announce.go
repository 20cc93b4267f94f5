package relay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"time"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/relay/queue"
)

// resolveWithin limits how long a sender waits while the registry is asked for a digest.
const resolveWithin = 5 * time.Second

// announce reads the body of an authenticated sender and stores its deliveries.
func (r *Relay) announce(req *http.Request, route *route, body []byte) result {
	if route.handshakes() {
		if code := route.forms[0].Handshake(body); code != "" {
			return result{status: http.StatusOK, Validation: code}
		}
	}
	said, err := route.parse(req, body, r.config.SkipTags)
	if err != nil {
		return result{status: http.StatusBadRequest, Result: "refused", Reason: failure.Of(err).Message}
	}
	for _, s := range said.Skipped {
		r.log.Info("skipped", "route", route.Path, "image", s.Publication.Image(), "reason", s.Reason)
	}
	r.metrics.announced(route.Path, skipped, len(said.Skipped))
	mark := said.StatedText
	if !said.Stated.IsZero() && time.Since(said.Stated) > r.config.ReplayWindow {
		r.metrics.announced(route.Path, stale, len(said.Publications))
		return result{status: http.StatusOK, Result: "ignored", Reason: "the event is older than the replay window"}
	}
	if route.coversBody() {
		// A repeated delivery has the same mark.
		sum := sha256.Sum256(body)
		mark = hex.EncodeToString(sum[:16])
	}
	ctx, cancel := context.WithTimeout(req.Context(), resolveWithin)
	defer cancel()
	var entries []queue.Entry
	for _, p := range said.Publications {
		fresh, err := r.deliveries(ctx, p, mark)
		if err != nil {
			return result{status: http.StatusBadRequest, Result: "refused", Reason: failure.Of(err).Message}
		}
		if len(fresh) == 0 {
			r.metrics.announced(route.Path, unmapped, 1)
			why := ""
			if near := r.config.misses(p.Repository, nil); len(near) > 0 {
				why = near[0].Target + ": " + near[0].Reason
			}
			r.log.Info("no target matches the image", "route", route.Path, "image", p.Image(), "nearest", why)
		}
		entries = append(entries, fresh...)
	}
	if len(entries) == 0 {
		reason := "the event announces no image"
		if len(said.Publications) > 0 {
			reason = "no target matches its images"
		}
		return result{status: http.StatusOK, Result: "ignored", Reason: reason}
	}
	return r.accept(req.Context(), route, entries)
}

// deliveries returns the deliveries of a publication. It asks the registry for a missing digest only if a
// target receives the image. If the registry does not answer, the tag is used.
func (r *Relay) deliveries(ctx context.Context, p event.Publication, mark string) ([]queue.Entry, error) {
	if p.Digest == "" && r.config.ResolveDigests && len(r.config.hear(p.Repository)) > 0 {
		digest, err := r.options.Resolve(ctx, p.Reference())
		if err != nil {
			r.log.Warn("the registry gave no digest", "image", p.Image(), "error", err.Error())
		}
		p.Digest = digest
	}
	return r.config.deliveries(p, mark, traceparent(ctx))
}

// parse reads the body in the route's form only. GitHub names its event in a header.
func (r *route) parse(req *http.Request, body []byte, skipTags []string) (event.Announcement, error) {
	if form := r.forms[0]; !form.GitHub {
		return event.Parse(form.Name, body, skipTags)
	}
	name := req.Header.Get("X-GitHub-Event")
	if name == event.Ping || slices.ContainsFunc(r.forms, func(f event.Form) bool { return string(f.Name) == name }) {
		return event.ParseAny(name, body, skipTags)
	}
	return event.Announcement{Skipped: []event.Skipped{{Reason: "the event is not about a package"}}}, nil
}

// handshakes reports whether the sender asks for permission to send, by its own event or, as in CloudEvents, by
// OPTIONS.
func (r *route) handshakes() bool { return r.forms[0].Handshake != nil }
