package trace_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestEachRecord: what a worker sends of a trial comes as it was, up to where it is cut off.
func TestEachRecord(t *testing.T) {
	all := trace.List{
		{At: 5, Type: trace.Send, Process: 1, Peer: 2, Seq: 1<<63 + 1, Sent: 5, Due: 9, Bytes: 3, Depth: 2},
		{At: 6, Type: trace.Save, Process: 2, Arg: 3, Text: "\xff\x00\n"},
		{At: -7, Type: trace.Cut, Text: "1|2,3"}, // Arg says nothing of its length
	}
	var b []byte
	for i := range all {
		b = trace.AppendRecord(b, &all[i])
	}
	var got trace.List
	if err := trace.EachRecord(b, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, all) {
		t.Errorf("got %+v, want %+v", got, all)
	}
	for cut := 1; cut < len(b); cut++ {
		var some trace.List
		err := trace.EachRecord(b[:cut], &some)
		whole := cut == trace.Size+4 || cut == 2*(trace.Size+4)+3
		if (err == nil) != whole || !reflect.DeepEqual(some, all[:len(some)]) && len(some) > 0 {
			t.Errorf("the first %d bytes: %v, %+v", cut, err, some)
		}
	}
}

// FuzzEachRecord: whatever a host sends, its records are read or refused.
func FuzzEachRecord(f *testing.F) {
	r := trace.Record{Type: trace.Log, Process: 1, Text: "hm"}
	f.Add(trace.AppendRecord(trace.AppendRecord(nil, &r), &trace.Record{Type: trace.Up}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var list trace.List
		err := trace.EachRecord(b, &list)
		var again []byte
		for i := range list {
			again = trace.AppendRecord(again, &list[i])
		}
		if !strings.HasPrefix(string(b), string(again)) || err == nil && len(again) != len(b) {
			t.Errorf("%d bytes were read as %d records, which are %d bytes: %v", len(b), len(list), len(again), err)
		}
	})
}
