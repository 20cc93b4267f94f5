package github_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/olmgraft/graft/internal/failure"
	"github.com/olmgraft/graft/internal/forge"
	"github.com/olmgraft/graft/internal/testkit/fakegithub"
)

// Past tells a pull request that a person closed from those that were merged or that Close closed, the newest
// first. A long body keeps its length when Close marks it. Numbered finds each by its number.
func TestPast(t *testing.T) {
	h := start(t, fakegithub.Repository{Writers: []string{"graft-bot"}})
	h.AddToken(token, fakegithub.Identity{Login: "graft-bot"})
	ctx := context.Background()
	f := h.of(catalog)
	past := func() (text string) {
		all, err := f.Past(ctx, "graft/etcd/0.9.4")
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range all {
			requests, err := one.Marker.Requests()
			if err != nil || len(requests) != 1 || one.URL == "" {
				t.Errorf("%+v, %v", one, err)
			}
			text += fmt.Sprintf("%d %v;", one.Number, one.Rejected)
		}
		return text
	}
	first := h.ensure(h.request(), forge.Created)
	if got := past(); got != "" {
		t.Errorf("while it is open: %s", got)
	}
	if err := h.SetState("acme", "catalog", first.Number, "closed"); err != nil {
		t.Fatal(err)
	}
	if got := past(); got != "1 true;" {
		t.Errorf("after a person closed it: %s", got)
	}
	long := h.request()
	long.Body = strings.Repeat("0123456789\n", 7000)
	second := h.ensure(long, forge.Created)
	if err := f.Close(ctx, second.Number, forge.Closing{Why: "Superseded.", Within: 1}, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if got := past(); got != "2 false;1 true;" {
		t.Errorf("after Close: %s", got)
	}
	third := h.ensure(h.request(), forge.Created)
	if err := h.Merge("acme", "catalog", third.Number, "merge"); err != nil {
		t.Fatal(err)
	}
	if got := past(); got != "3 false;2 false;1 true;" {
		t.Errorf("after a merge: %s", got)
	}
	for number, want := range map[int]string{1: "1 true 0", 2: "2 false 1", 3: "3 false 0", 9: "0 false 0"} {
		one, err := f.Numbered(ctx, number)
		if got := fmt.Sprint(one.Number, one.Rejected, one.Marker.Within); err != nil || got != want {
			t.Errorf("number %d: %s, want %s, %v", number, got, want, err)
		}
	}
	if all, err := f.Past(ctx, "graft/etcd/0.9.5"); err != nil || len(all) > 0 {
		t.Errorf("of another branch: %+v, %v", all, err)
	}
}

// A run that ends after it deleted the branch, which closes the pull request on GitHub, has recorded before that
// Graft closed it. Otherwise the next run would take it for a person's refusal.
func TestPastAfterAnInterruptedClose(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	h := start(t, fakegithub.Repository{Writers: []string{"graft-bot"}})
	h.AddToken(token, fakegithub.Identity{Login: "graft-bot"})
	made := h.ensure(h.request(), forge.Created)
	err := h.of(catalog).Close(ctx, made.Number, forge.Closing{Why: "Superseded.", Within: 9}, func() error {
		defer stop()
		return h.SetState("acme", "catalog", made.Number, "closed")
	})
	if !failure.Is(err, failure.Interrupted) {
		t.Fatal(err)
	}
	one, err := h.of(catalog).Numbered(t.Context(), made.Number)
	if err != nil || one.Number != made.Number || one.Rejected || one.Marker.Within != 9 {
		t.Errorf("%+v, %v", one, err)
	}
}
