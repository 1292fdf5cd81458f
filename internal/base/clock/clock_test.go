package clock

import (
	"math"
	"slices"
	"testing"
	"time"
)

func TestMonotonic_KeepsToTheSystemClock(t *testing.T) {
	t.Parallel()
	deadline := Monotonic() + 50*time.Millisecond
	for last := Monotonic(); last < deadline; {
		before := Monotonic()
		system := systemClock()
		after := Monotonic()
		const slack = time.Microsecond
		if before > system+slack || after < system-slack {
			t.Fatalf("the system clock says %v between %v and %v", system, before, after)
		}
		if before < last {
			t.Fatalf("ran back from %v to %v", last, before)
		}
		last = after
	}
}

func TestAlarm_RingsSoonAndNeverEarly(t *testing.T) {
	alarm := newAlarm(t)
	var errs []time.Duration
	for i := range 200 {
		at := Monotonic() + time.Duration(200+i*13%1800)*time.Microsecond
		alarm.Set(at)
		<-alarm.C
		errs = append(errs, Monotonic()-at)
	}
	slices.Sort(errs)
	t.Logf("error: least %v, p50 %v, p99 %v", errs[0], errs[100], errs[198])
	if errs[0] < 0 {
		t.Errorf("rang %v early", -errs[0])
	}
	if errs[100] >= time.Millisecond {
		t.Errorf("half of the rings were %v late or more, want under 1ms", errs[100])
	}
}

func TestAlarm_PastInstantsRingAtOnce(t *testing.T) {
	t.Parallel()
	alarm := newAlarm(t)
	for _, at := range []time.Duration{math.MinInt64, -1, 0, 1, Monotonic()} {
		alarm.Set(at)
		mustRing(t, alarm)
	}
}

func TestAlarm_SetMovesTheInstant(t *testing.T) {
	t.Parallel()
	alarm := newAlarm(t)
	alarm.Set(math.MaxInt64)
	alarm.Set(Monotonic() + time.Millisecond)
	mustRing(t, alarm)

	later := Monotonic() + 20*time.Millisecond
	alarm.Set(Monotonic() + time.Hour)
	alarm.Set(later)
	mustRing(t, alarm)
	if now := Monotonic(); now < later {
		t.Errorf("rang %v early", later-now)
	}
}

func TestAlarm_Close(t *testing.T) {
	t.Parallel()
	alarm := newAlarm(t)
	alarm.Close()
	alarm.Close()
	alarm.Set(0)
	select {
	case <-alarm.C:
		t.Error("rang after Close")
	case <-time.After(5 * time.Millisecond):
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	p, err := NewProbe()
	if err != nil {
		t.Fatal(err)
	}
	alarm := newAlarm(t)
	alarm.Set(Monotonic() + 30*time.Millisecond)
	mustRing(t, alarm)
	p50, p99, worst := p.Stop()
	if p50 <= 0 || p99 < p50 || worst < p99 {
		t.Errorf("p50 %v, p99 %v, max %v: want 0 < p50 <= p99 <= max", p50, p99, worst)
	}
}

func TestLateness_QuantilesAreRoundedUpByLittle(t *testing.T) {
	t.Parallel()
	var l Lateness
	if got := l.Quantile(0.5); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
	for d := time.Duration(1); d <= 1000; d++ {
		l.Add(d * time.Microsecond)
	}
	for _, q := range []float64{0.01, 0.5, 0.99} {
		want := time.Duration(q*1000+1) * time.Microsecond
		if got := l.Quantile(q); got < want || got > want+want/32+1 {
			t.Errorf("quantile %v: %v, want %v or up to 1/32 more", q, got, want)
		}
	}
	l.Add(math.MaxInt64)
	if got := l.Quantile(1); got != math.MaxInt64 {
		t.Errorf("largest: %v", got)
	}
	var all Lateness
	all.Add(time.Hour)
	all.Merge(&l)
	if all.Count() != 1002 || all.Max() != math.MaxInt64 || all.Quantile(0.5) != l.Quantile(0.5) {
		t.Errorf("merged: %d of them, %v at most, median %v", all.Count(), all.Max(), all.Quantile(0.5))
	}
}

func TestBucket_IsMonotonicAndInRange(t *testing.T) {
	t.Parallel()
	for v, last := uint64(1), 0; v < math.MaxInt64/9; v += 1 + v/50 {
		b := bucket(v)
		if b < last || b >= len(Lateness{}.buckets) {
			t.Fatalf("bucket(%d) = %d after %d", v, b, last)
		}
		last = b
	}
}

func TestCPUTimes_BusySince(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		before, now  CPUTimes
		busy, stolen float64
	}{
		{"half", CPUTimes{10, 100, 5}, CPUTimes{60, 200, 15}, 0.5, 0.1},
		{"no tick passed", CPUTimes{10, 100, 0}, CPUTimes{10, 100, 0}, math.NaN(), math.NaN()},
		{"unknown before", CPUTimes{}, CPUTimes{10, 100, 5}, math.NaN(), math.NaN()},
		{"ran back", CPUTimes{10, 100, 3}, CPUTimes{5, 200, 2}, math.NaN(), math.NaN()},
	} {
		for got, want := range map[float64]float64{
			c.now.BusySince(c.before): c.busy, c.now.StolenSince(c.before): c.stolen,
		} {
			if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%s: %v, want %v", c.name, got, want)
			}
		}
	}
}

func TestPair(t *testing.T) {
	t.Parallel()
	then := Pair{Wall: time.Hour, Monotonic: time.Minute}
	for _, test := range []struct{ wall, monotonic, want time.Duration }{
		{time.Hour + 10*time.Second, time.Minute + 10*time.Second, 0},
		{time.Hour + 10*time.Second + 5*time.Millisecond, time.Minute + 10*time.Second, 0}, // adjusted
		{time.Hour + 10*time.Second - 5*time.Millisecond, time.Minute + 10*time.Second, 0},
		{2 * time.Hour, time.Minute, time.Hour},
		{0, time.Minute, -time.Hour},
	} {
		if got := (Pair{test.wall, test.monotonic}).StepSince(then); got != test.want {
			t.Errorf("%v and %v later: a step of %v, want %v", test.wall-then.Wall,
				test.monotonic-then.Monotonic, got, test.want)
		}
	}
	// Unless somebody sets this machine's clock right now.
	if step := ReadPair(Wall).StepSince(ReadPair(Wall)); step.Abs() > time.Millisecond {
		t.Errorf("two readings one after the other are a step of %v", step)
	}
}

func newAlarm(tb testing.TB) *Alarm {
	tb.Helper()
	alarm, err := NewAlarm()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(alarm.Close)
	return alarm
}

func mustRing(tb testing.TB, alarm *Alarm) {
	tb.Helper()
	select {
	case <-alarm.C:
	case <-time.After(5 * time.Second):
		tb.Fatal("the alarm did not ring within 5s")
	}
}

func BenchmarkMonotonic(b *testing.B) {
	for b.Loop() {
		_ = Monotonic()
	}
}

func BenchmarkAlarm(b *testing.B) {
	alarm := newAlarm(b)
	var errs []time.Duration
	for b.Loop() {
		at := Monotonic() + 500*time.Microsecond
		alarm.Set(at)
		<-alarm.C
		errs = append(errs, Monotonic()-at)
	}
	slices.Sort(errs)
	b.ReportMetric(float64(errs[len(errs)/2])/1e3, "p50-µs")
	b.ReportMetric(float64(errs[len(errs)*99/100])/1e3, "p99-µs")
}

func BenchmarkAlarmSet(b *testing.B) {
	alarm := newAlarm(b)
	for b.Loop() {
		alarm.Set(math.MaxInt64)
	}
}
