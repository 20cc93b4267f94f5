package queue

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// FuzzQueue reads any bytes as a queue. What comes out stood in the file, under a checksum
// that fits, and comes out of the file that is written in its place as well.
func FuzzQueue(f *testing.F) {
	at := time.UnixMilli(1_763_650_000_000)
	whole := func(groups ...[]record) (b []byte) {
		for _, records := range groups {
			frame, err := encode(records)
			if err != nil {
				f.Fatal(err)
			}
			b = append(b, frame...)
		}
		return b
	}
	begin := []record{{Op: opNext, Seq: 1}}
	a := record{Op: opPut, Seq: 1, At: at.UnixMilli(), Key: "a", Data: json.RawMessage(`{"x":1}`)}
	b := record{Op: opPut, Seq: 2, At: at.UnixMilli(), Key: "b", Data: json.RawMessage(`[]`)}
	good := whole(begin, []record{a, b}, []record{{Op: opDone, Seq: 1}}, []record{{Op: opSeen, Key: "c", At: at.UnixMilli()}})
	f.Add([]byte{}, false)
	f.Add(good, false)
	f.Add(good[:len(good)-3], false)
	f.Add([]byte(mark+"\xff\xff\xff\xff\x00\x00\x00\x00"), false)
	for _, bodies := range []string{
		`{"op":"next","seq":1}`,
		`{"op":"next","seq":1}|{"op":"put","seq":1,"at":1,"key":"a","data":{"x":1}}{"op":"put","seq":2,"key":"b","data":[]}|{"op":"done","seq":1}`,
		`{"op":"next","seq":7}{"op":"seen","at":5,"key":"a"}|{"op":"put","seq":6,"key":"a","data":1}`,
		`{"op":"next","seq":7}|{"op":"put","seq":18446744073709551615,"key":"a","data":1}|{"op":"put","seq":1,"key":"a","data":null}`,
		`{"op":"next","seq":1}|{"op":"done","seq":9}`, `{"op":"put","seq":1,"key":"a","data":1}`, `{"op":"other"}`,
	} {
		f.Add([]byte(bodies), true)
	}
	f.Fuzz(func(t *testing.T, b []byte, framed bool) {
		if framed {
			b = frames(b)
		}
		s, whole, err := read(b)
		if err != nil {
			return
		}
		items := s.waiting()
		for _, item := range items {
			if !stands(b[:whole], item) {
				t.Fatalf("%+v is invented", item)
			}
		}
		frame, err := encode(s.records())
		if err != nil {
			t.Fatal(err)
		}
		again, whole, err := read(frame)
		if err != nil || whole != len(frame) || !reflect.DeepEqual(again.waiting(), items) || again.next != s.next || again.bytes != s.bytes {
			t.Fatalf("written anew it is another: %+v, and was %+v (%v)", again, s, err)
		}
	})
}

// frames has each part between bars in a frame of its own, so that the checksums fit.
func frames(parts []byte) (b []byte) {
	for part := range bytes.SplitSeq(parts, []byte("|")) {
		frame, _ := encode(nil)
		frame = append(frame, part...)
		binary.LittleEndian.PutUint32(frame[4:], uint32(len(part)))
		binary.LittleEndian.PutUint32(frame[8:], sum(frame))
		b = append(b, frame...)
	}
	return b
}

// stands reports whether a frame of the bytes has the item.
func stands(b []byte, item Item) bool {
	for at := range b {
		frame := first(b[at:])
		if frame == nil {
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(frame[head:]))
		for {
			var r record
			if dec.Decode(&r) != nil {
				break
			}
			if r.Op == opPut && r.Seq == item.Seq && r.Key == item.Key && bytes.Equal(r.Data, item.Data) {
				return true
			}
		}
	}
	return false
}
