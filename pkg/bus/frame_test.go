package bus

import (
	"bytes"
	"reflect"
	"testing"
	"time"
)

func TestFrame_RoundTrip(t *testing.T) {
	t.Parallel()
	for _, f := range []Frame{
		{Seq: 1, Ordinal: 1, Payload: []byte{}},
		{Plane: 1, Kind: 255, Seq: 2, Ordinal: 3, Sent: time.Second, Due: time.Minute, Payload: []byte{}},
		{Copy: 1, Lost: true, Omitted: true, Incarnation: 1<<32 - 1, Seq: 1<<64 - 1, Ordinal: 1 << 40,
			Depth: 1<<32 - 1, Payload: []byte("payload")},
	} {
		var got Frame
		if err := got.Parse(f.Append(nil)); err != nil || !reflect.DeepEqual(got, f) {
			t.Errorf("%+v\nbecame %+v, %v", f, got, err)
		}
	}
}

// FuzzFrame: what can be read is written back so that it reads the same.
func FuzzFrame(f *testing.F) {
	f.Add((&Frame{Plane: 1, Kind: 255, Seq: 1, Ordinal: 1, Sent: 5, Due: 7}).Append(nil))
	f.Add((&Frame{Copy: 1, Lost: true, Seq: 300, Depth: 9, Payload: []byte("payload")}).Append(nil))
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
