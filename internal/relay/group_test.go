package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/olmgraft/graft/internal/event"
	"github.com/olmgraft/graft/internal/relay/queue"
)

// announced returns an item for a bundle's tag.
func announced(t *testing.T, c *Config, seq int, p event.Publication) queue.Item {
	t.Helper()
	e, err := c.entry(p, "", hearing{to: "octo/catalog", eventType: "bundle"}, "")
	if err != nil {
		t.Fatal(err)
	}
	return queue.Item{Seq: uint64(seq), Key: e.Key, At: time.Now(), Data: e.Data} //nolint:gosec // small
}

// grouped announces 200 bundles of 20 image repositories within a minute and returns the images of each event.
// The first events fail.
func grouped(t *testing.T, group time.Duration, failing int) (events [][]string) {
	t.Helper()
	c := &Config{ReplayWindow: time.Hour}
	g := steady
	g.Group, g.Pace = group, time.Second
	r := newRound(g, nil)
	r.send = func(_ context.Context, one delivery) outcome {
		if failing--; failing >= 0 {
			return outcome{err: errors.New("down")}
		}
		got, err := event.Parse(event.ClientPayload, one.Payload, nil)
		var said event.Payload
		if err != nil || json.Unmarshal(one.Payload, &said) != nil || said.ID != one.ID {
			t.Errorf("%s: %v", one.Payload, err)
		}
		var images []string
		for _, p := range got.Publications {
			images = append(images, p.Image())
		}
		events = append(events, images)
		return outcome{delivered: true}
	}
	r.start()
	for n := range 200 {
		r.add(announced(t, c, n, event.Publication{Repository: fmt.Sprintf("quay.io/example/op%d", n%20), Tag: fmt.Sprintf("v1.%d.0", n/20), Source: event.Quay}))
		time.Sleep(300 * time.Millisecond)
	}
	r.after(time.Hour)
	return events
}

// Announcements for one repository within the group's time share one event, in order for each image repository.
// None is sent twice or lost, even if events fail at first.
func TestGroup(t *testing.T) {
	for name, tt := range map[string]struct {
		group         time.Duration
		failing, most int
	}{
		"an event each": {0, 0, 200}, "groups": {30 * time.Second, 0, 3}, "longer than it takes": {5 * time.Minute, 0, 2}, "failing": {30 * time.Second, 3, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				events := grouped(t, tt.group, tt.failing)
				if len(events) > tt.most {
					t.Errorf("%d events, not %d", len(events), tt.most)
				}
				t.Logf("%d events for 200 bundles", len(events))
				next := map[string]int{}
				for _, images := range events {
					if len(images) > mostGrouped {
						t.Errorf("%d images in one event", len(images))
					}
					for _, image := range images {
						p, err := event.ParseReference(image)
						if want := fmt.Sprintf("v1.%d.0", next[p.Repository]); err != nil || p.Tag != want {
							t.Errorf("%s comes where %s should", image, want)
						}
						next[p.Repository]++
					}
				}
				for n := range 20 {
					if got := next[fmt.Sprintf("quay.io/example/op%d", n)]; got != 10 {
						t.Errorf("op%d: %d of 10 arrived", n, got)
					}
				}
			})
		})
	}
}

// A delivery that names more than its image, has another type, or once ended a relay goes alone.
func TestGoesAlone(t *testing.T) {
	c := &Config{ReplayWindow: time.Hour, GitHub: GitHub{Group: time.Minute}}
	d := &dispatcher{config: c}
	plain := event.Publication{Repository: "quay.io/example/op", Tag: "v1", Source: event.Quay}
	c.GitHub.GiveUpAfter = time.Hour
	first := waiting{Item: announced(t, c, 1, plain), since: time.Now()}
	claims := plain
	claims.Said.Channels = []string{"stable"}
	other := plain
	other.Source = event.ClientPayload
	typed, err := c.entry(plain, "", hearing{to: "octo/catalog", eventType: "another"}, "")
	if err != nil {
		t.Fatal(err)
	}
	ended := announced(t, c, 1, plain)
	ended.Handed = 1
	for name, tt := range map[string]struct {
		item queue.Item
		want bool
	}{
		"plain": {announced(t, c, 2, plain), true}, "claims": {announced(t, c, 2, claims), false}, "another form": {announced(t, c, 2, other), false},
		"another type": {queue.Item{Data: typed.Data}, false}, "handed before": {ended, false}, "unreadable": {queue.Item{Data: []byte("{")}, false},
	} {
		if got := d.joins([]waiting{first}, waiting{Item: tt.item}); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
