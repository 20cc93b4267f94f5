package jetstream

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/olmgraft/graft/internal/failure"
)

// Letters writes the dead letters of the streams, oldest first.
func Letters(ctx context.Context, o Options, to io.Writer) error {
	conn, err := connect(o, func() {})
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(putWait))
	if err == nil {
		err = letters(ctx, js, o.dead().Name, to)
	}
	if err != nil {
		return failure.New(failure.Usage, "reading the dead letters: %w", err).Fix("Check queue.url and queue.stream.")
	}
	return nil
}

func letters(ctx context.Context, js jetstream.JetStream, name string, to io.Writer) error {
	s, err := js.Stream(ctx, name)
	if err != nil {
		return err
	}
	state := s.CachedInfo().State
	for seq := state.FirstSeq; seq <= state.LastSeq; seq++ {
		msg, err := s.GetMsg(ctx, seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue // removed by another client
		} else if err != nil {
			return err
		}
		if _, err := to.Write(append(bytes.TrimSpace(msg.Data), '\n')); err != nil {
			return err
		}
	}
	return nil
}
