package bus

import (
	"testing"
	"time"
)

// TestQuickConn_Stamp: what is read late has come when it came.
func TestQuickConn_Stamp(t *testing.T) {
	t.Parallel()
	quick, other := quickPair(t)
	a := &arrivals{}
	quick.(*quickConn).stamp(a)
	// The kernel begins to note arrivals in the background, some time after it has been asked to; until
	// then, it notes when they are read.
	for tries := 1; ; tries++ {
		_, err := other.Write([]byte("early"))
		must(t, err)
		wrote := time.Now()
		time.Sleep(200 * time.Millisecond)
		n, err := quick.Read(make([]byte, 9))
		must(t, err)
		came := a.next()
		if n == 5 && came.Before(wrote.Add(100*time.Millisecond)) && came.After(wrote.Add(-time.Minute)) {
			break
		}
		if tries == 100 {
			t.Fatalf("%d bytes, which came %v after they were written", n, came.Sub(wrote))
		}
	}
}

// TestArrivals: each message has the arrival of the call that read its end, whether it is taken
// before the next call or long after.
func TestArrivals(t *testing.T) {
	t.Parallel()
	at := func(n int) time.Time { return time.Unix(int64(n), 0) }
	a := &arrivals{}
	a.came(at(1))
	if got := a.next(); got != at(1) {
		t.Errorf("message 1 came at %v", got)
	}
	a.past, a.read = append(a.past, arrival{3, at(1)}, arrival{4, at(2)}), 4
	a.came(at(3))
	for i, want := range []int{1, 1, 2, 3, 3} {
		if got := a.next(); got != at(want) {
			t.Errorf("message %d came at %v, want %v", i+2, got, at(want))
		}
	}
	if got := (*arrivals)(nil).next(); !got.IsZero() {
		t.Errorf("without notes: %v", got)
	}
}
