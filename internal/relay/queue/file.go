package queue

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/olmgraft/graft/internal/failure"
)

// The file is a run of frames: a mark, the length of the body, a checksum of length and
// body, the body. A body is records as JSON, one a line. The first record of all is opNext.
const (
	fileName = "queue"
	newName  = "queue.new"
	head     = len(mark) + 4 + 4
	// mark is no UTF-8, so that it stands in no body.
	mark = "\xf7GQ\xf8"
)

var checksum = crc32.MakeTable(crc32.Castagnoli)

type record struct {
	Op   string          `json:"op"`
	Seq  uint64          `json:"seq,omitempty"`
	At   int64           `json:"at,omitempty"` // milliseconds
	Key  string          `json:"key,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
}

const (
	opNext = "next" // the number of the next item
	opPut  = "put"
	opDone = "done"
	opSeen = "seen" // a key whose item is gone
)

// encode makes a frame of records.
func encode(records []record) ([]byte, error) {
	body := bytes.NewBuffer(make([]byte, head, 4096))
	enc := json.NewEncoder(body)
	for _, r := range records {
		if err := enc.Encode(r); err != nil {
			return nil, err
		}
	}
	frame := body.Bytes()
	copy(frame, mark)
	binary.LittleEndian.PutUint32(frame[4:], uint32(len(frame)-head))
	binary.LittleEndian.PutUint32(frame[8:], sum(frame))
	return frame, nil
}

// sum is that of a frame: its length and its body.
func sum(frame []byte) uint32 {
	return crc32.Update(crc32.Checksum(frame[4:8], checksum), checksum, frame[head:])
}

// first is the frame that the bytes begin with, or nil where they begin with none.
func first(b []byte) []byte {
	if len(b) < head || string(b[:len(mark)]) != mark {
		return nil
	}
	length := int64(binary.LittleEndian.Uint32(b[4:]))
	if int64(head)+length > int64(len(b)) {
		return nil
	}
	frame := b[:int64(head)+length]
	if sum(frame) != binary.LittleEndian.Uint32(frame[8:]) {
		return nil
	}
	return frame
}

// read takes in a file. whole is the length without the torn tail. Where a frame follows
// upon the damage it was no tail.
func read(b []byte) (s state, whole int, err error) {
	s = newState()
	for whole < len(b) {
		frame := first(b[whole:])
		if frame == nil {
			break
		}
		if err := s.take(frame[head:], whole == 0); err != nil {
			return s, whole, fmt.Errorf("at byte %d %w", whole, err)
		}
		whole += len(frame)
	}
	if whole == 0 {
		return s, 0, errors.New("it does not begin as a queue does")
	}
	for at := whole; ; at++ {
		i := bytes.Index(b[at:], []byte(mark))
		if i < 0 {
			return s, whole, nil
		}
		if at += i; first(b[at:]) != nil {
			return s, whole, fmt.Errorf("bytes %d to %d are damaged, and more follows", whole, at)
		}
	}
}

// take applies the records of a body.
func (s *state) take(body []byte, begins bool) error {
	dec := json.NewDecoder(bytes.NewReader(body))
	for {
		var r record
		if err := dec.Decode(&r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("there is no record: %w", err)
		}
		if begins && r.Op != opNext {
			return errors.New("it does not begin as a queue does")
		}
		begins = false
		if err := s.apply(r); err != nil {
			return err
		}
	}
	if begins {
		return errors.New("there is no record")
	}
	return nil
}

// load reads the file, or begins one. It is written anew where that drops something.
func (q *Queue) load() error {
	path := filepath.Join(q.o.Dir, fileName)
	b, err := os.ReadFile(path)
	q.state = newState()
	if err == nil {
		var whole int
		if q.state, whole, err = read(b); err != nil {
			return failure.New(failure.Usage, "reading the queue: %w", err).At(path, 0, 0).
				Fix("Restore the disk, or move the file away: what waited in it must then be announced again. Its records can be read with strings.")
		}
		q.dropped = len(b) - whole
	} else if !errors.Is(err, fs.ErrNotExist) {
		return failure.New(failure.Usage, "reading the queue: %w", err).Fix("Make the folder readable.")
	}
	q.state.forget(q.o.Now().Add(-q.o.Remember), 10*q.o.MaxItems)
	if err := q.replace(); err != nil {
		return failure.New(failure.Usage, "writing the queue: %w", err).Fix("Make %s writable, and room on its disk.", q.o.Dir)
	}
	return nil
}

// rewrite drops the past from the file. Where it cannot, the file that stands there goes on.
func (q *Queue) rewrite() {
	if err := q.replace(); err != nil {
		q.written = q.size
	}
}

// replace puts a file of one frame in the place of the old one: at any moment one of the two
// stands there whole.
func (q *Queue) replace() error {
	frame, err := encode(q.state.records())
	if err != nil {
		return err
	}
	fresh := filepath.Join(q.o.Dir, newName)
	file, err := os.OpenFile(fresh, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(frame)
	if err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = os.Rename(fresh, filepath.Join(q.o.Dir, fileName))
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	if q.file != nil {
		_ = q.file.Close() // it has no name any more, and nothing more is read from it
	}
	q.file, q.size, q.written = q.o.Disk(file), int64(len(frame)), int64(len(frame))
	if err := syncDir(q.o.Dir); err != nil {
		return q.breakOn(err)
	}
	return nil
}

// records are the shortest that make the state.
func (s *state) records() []record {
	waiting := s.waiting()
	start := s.next
	if len(waiting) > 0 {
		start = waiting[0].Seq
	}
	out := []record{{Op: opNext, Seq: start}}
	for _, known := range s.order {
		if s.seen[known.key].Equal(known.at) && s.keys[known.key] == 0 {
			out = append(out, record{Op: opSeen, At: known.at.UnixMilli(), Key: known.key})
		}
	}
	for _, item := range waiting {
		out = append(out, record{Op: opPut, Seq: item.Seq, At: item.At.UnixMilli(), Key: item.Key, Data: item.Data})
	}
	if len(waiting) > 0 {
		out = append(out, record{Op: opNext, Seq: s.next})
	}
	return out
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
