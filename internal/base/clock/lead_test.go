package clock

import (
	"testing"
	"time"
)

const us = time.Microsecond

// taught is a lead after so many wake-ups of such a lateness.
func taught(late time.Duration, times int) *Lead {
	l := &Lead{}
	for range times {
		l.Woke(late)
	}
	return l
}

func TestLead_FollowsTheWakeUps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		late        time.Duration
		least, most time.Duration
	}{
		{"nothing is known", 0, 0, 0},
		{"wake-ups of 20 µs", 20 * us, 19 * us, 22 * us},
		{"slow ones", 200 * us, mostLead, mostLead},
		{"no processor is free", time.Millisecond, 0, 0},
		{"another's", -us, 0, 0},
	} {
		if got := taught(c.late, 1000).Before(); got < c.least || got > c.most {
			t.Errorf("%s: a lead of %v, want %v to %v", c.name, got, c.least, c.most)
		}
	}
	l := taught(40*us, 1000)
	for range 20 {
		l.Woke(time.Millisecond)
	}
	if l.Before() > 0 {
		t.Errorf("others need the processor, and the lead is still %v", l.Before())
	}
	l = &Lead{}
	for i := range 10_000 { // of four wake-ups one takes longer
		l.Woke(map[bool]time.Duration{true: 50 * us, false: 10 * us}[i%4 == 0])
	}
	if l.Before() > 30*us {
		t.Errorf("one wake-up of four takes 50 µs, the others 10: a lead of %v", l.Before())
	}
}

// TestLead_Await: it waits for what is within the lead, and for nothing else.
func TestLead_Await(t *testing.T) {
	t.Parallel()
	l := taught(200*us, 1000)
	if l.Await(Monotonic() + time.Second) {
		t.Error("it waited for a second, or not long enough")
	}
	waited := 0
	for range 1000 { // this test may lose the processor at any point
		at := Monotonic() + 40*us
		if !l.Await(at) {
			continue
		}
		waited++
		if now := Monotonic(); now < at {
			t.Fatalf("%v early", at-now)
		}
	}
	if waited == 0 {
		t.Error("it waits for nothing")
	}
	if new(Lead).Await(Monotonic() + time.Minute) {
		t.Error("nothing is known of wake-ups, and it waits")
	}
	if !new(Lead).Await(Monotonic()) {
		t.Error("what is due already has not come")
	}
}
