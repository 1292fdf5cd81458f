package transport

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"
	"time"
)

func TestFrame_RoundTrip(t *testing.T) {
	t.Parallel()
	for _, f := range []Frame{
		{Seq: 1, Ordinal: 1, Payload: []byte{}},
		{Plane: 1, Kind: 255, Seq: 2, Ordinal: 3, Sent: time.Second, Due: time.Minute, Lag: time.Second, Payload: []byte{}},
		{Copy: 1, Lost: true, Omitted: true, Incarnation: 1<<32 - 1, Seq: 1<<64 - 1, Ordinal: 1 << 40,
			Depth: 1<<32 - 1, Payload: []byte("payload")},
	} {
		var got Frame
		if err := got.Parse(f.Append(nil)); err != nil || !reflect.DeepEqual(got, f) {
			t.Errorf("%+v\nbecame %+v, %v", f, got, err)
		}
	}
}

// TestFrame_Refuses: numbers that no process sends are malformed, not cut to size.
func TestFrame_Refuses(t *testing.T) {
	t.Parallel()
	frame := func(change func(numbers []uint64)) []byte {
		numbers := []uint64{1, 2, 3, 4, 5, 6, 4} // incarnation, seq, ordinal, sent, due - sent, depth, lag
		change(numbers)
		b := []byte{frameVersion, 0, 0}
		for _, n := range numbers {
			b = binary.AppendUvarint(b, n)
		}
		return b
	}
	whole := frame(func([]uint64) {})
	var f Frame
	if err := f.Parse(whole); err != nil || f.Incarnation != 1 || f.Seq != 2 || f.Ordinal != 3 || f.Sent != 4 ||
		f.Due != 9 || f.Depth != 6 || f.Lag != 4 || len(f.Payload) > 0 {
		t.Errorf("%+v, %v", f, err)
	}
	for name, b := range map[string][]byte{
		"nothing":               nil,
		"a number is missing":   whole[:len(whole)-1],
		"a number without end":  append(whole[:len(whole)-1:len(whole)-1], 0x80),
		"an unknown flag":       append([]byte{frameVersion, flagsKnown + 1}, whole[2:]...),
		"another version":       append([]byte{frameVersion + 1}, whole[1:]...),
		"incarnation":           frame(func(n []uint64) { n[0] = 1 << 32 }),
		"sent":                  frame(func(n []uint64) { n[3] = 1 << 62 }),
		"due":                   frame(func(n []uint64) { n[4] = 1 << 62 }),
		"due, beyond all times": frame(func(n []uint64) { n[4] = 1<<64 - 1 }),
		"depth":                 frame(func(n []uint64) { n[5] = 1 << 32 }),
		"lag, before the start": frame(func(n []uint64) { n[6] = 5 }),
	} {
		if err := f.Parse(b); err == nil {
			t.Errorf("%s: %x reads as %+v", name, b, f)
		}
	}
	latest := frame(func(n []uint64) { n[3], n[4] = 1<<62-1, 1<<62-1 })
	if err := f.Parse(latest); err != nil || f.Due < f.Sent {
		t.Errorf("%v, %+v, want the latest that there is", err, f)
	}
}

// FuzzFrame: what can be read is written back so that it reads the same.
func FuzzFrame(f *testing.F) {
	f.Add((&Frame{Plane: 1, Kind: 255, Seq: 1, Ordinal: 1, Sent: 5, Due: 7}).Append(nil))
	f.Add((&Frame{Copy: 1, Lost: true, Seq: 300, Sent: 8, Due: 8, Depth: 9, Lag: 8, Payload: []byte("payload")}).Append(nil))
	f.Add([]byte{frameVersion + 1, 0, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		var first, again Frame
		if first.Parse(b) != nil {
			return
		}
		if first.Due < first.Sent || len(first.Payload) > len(b) {
			t.Errorf("%x reads as %+v", b, first)
		}
		short := first.Append(nil) // numbers may be written longer than need be
		if err := again.Parse(short); err != nil || !bytes.Equal(again.Append(nil), short) {
			t.Errorf("%+v became %+v, %v", first, again, err)
		}
	})
}
