package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/olmgraft/graft/internal/relay/queue"
)

// mostOthers limits the items that go before one item of a lane.
const mostOthers = 64

// others hands out the first item of each other source of a lane, and returns when all of them are over. So one
// source with many items delays the others by one item at most.
//
// A relay that holds an item of the lane's consumer holds the lane, so no other relay hands these out. An item that
// was handed out before goes alone: if it ended its relay, it would end others with it.
func (q *Queue) others(ctx context.Context, lane string, msg jetstream.Msg, hand func(...queue.Item)) error {
	meta, err := msg.Metadata()
	if err != nil || meta.NumPending == 0 || meta.NumDelivered > 1 {
		return err
	}
	sources, err := q.sources(ctx, lane)
	if err != nil {
		return err
	}
	var items []queue.Item
	var all []*held
	for _, source := range q.turn(lane, msg.Subject(), sources) {
		// Items of the lane with a smaller number are over, though a server may still list them.
		item, found, err := q.first(ctx, source, meta.Sequence.Stream+1)
		if err != nil {
			return err
		}
		if found {
			h := &held{over: make(chan struct{})}
			items, all = append(items, item), append(all, h)
		}
	}
	q.mu.Lock()
	for i, item := range items {
		q.held[item.Seq] = all[i]
	}
	q.mu.Unlock()
	hand(items...)
	for _, h := range all {
		select {
		case <-h.over:
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// turn returns the sources of a lane that go before own: all others, or mostOthers after those of the last turn.
func (q *Queue) turn(lane, own string, sources map[string]uint64) []string {
	delete(sources, own)
	all := slices.Sorted(maps.Keys(sources))
	if len(all) <= mostOthers {
		return all
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	at, had := slices.BinarySearch(all, q.turns[lane])
	if had {
		at++
	}
	all = slices.Concat(all[at:], all[:at])[:mostOthers]
	q.turns[lane] = all[mostOthers-1]
	return all
}

// sources returns the subjects of a lane with the number of their items.
func (q *Queue) sources(ctx context.Context, lane string) (map[string]uint64, error) {
	var answer struct {
		State jetstream.StreamState `json:"state"`
	}
	err := q.request(ctx, "STREAM.INFO", map[string]any{"subjects_filter": lane + ".*"}, &answer)
	return answer.State.Subjects, err
}

// first returns the first item of a source from a number on, from the leader of the stream. The library would ask
// any replica, which may still have items that are over.
func (q *Queue) first(ctx context.Context, source string, from uint64) (item queue.Item, found bool, err error) {
	var answer struct {
		Message struct {
			Seq    uint64    `json:"seq"`
			Header []byte    `json:"hdrs"`
			Data   []byte    `json:"data"`
			Time   time.Time `json:"time"`
		} `json:"message"`
	}
	err = q.request(ctx, "STREAM.MSG.GET", map[string]any{"seq": from, "next_by_subj": source}, &answer)
	var none *jetstream.APIError
	if errors.As(err, &none) && none.ErrorCode == jetstream.JSErrCodeMessageNotFound {
		return item, false, nil
	} else if err != nil {
		return item, false, err
	}
	header, err := nats.DecodeHeadersMsg(answer.Message.Header)
	if err != nil {
		return item, false, err
	}
	m := answer.Message
	return queue.Item{Seq: m.Seq, Key: header.Get(keyHeader), At: m.Time, Data: m.Data}, true, nil
}

// request sends a request about the stream of waiting items to the API of JetStream.
func (q *Queue) request(ctx context.Context, what string, ask map[string]any, into any) error {
	text, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	answer, err := q.conn.RequestWithContext(ctx, "$JS.API."+what+"."+q.o.Stream, text)
	if err != nil {
		return err
	}
	var fault struct {
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &fault); err != nil {
		return err
	}
	if fault.Error != nil {
		return fault.Error
	}
	return json.Unmarshal(answer.Data, into)
}

// laneOf returns the lane of a subject.
func laneOf(subject string) string { return subject[:max(strings.LastIndexByte(subject, '.'), 0)] }
