package timeservice

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
)

func recorded(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "recorded-"+name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// near says whether a promise is as expected; of a refused one, why is part of the error.
func near(t *testing.T, name string, p promise, err error, reference string, within time.Duration, drift float64, why string) {
	t.Helper()
	if why != "" {
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %+v, error %v, want %q", name, p, err, why)
		}
		return
	}
	if err != nil || p.reference != reference || (p.within-within).Abs() > 1 || max(p.drift-drift, drift-p.drift) > 1e-12 {
		t.Errorf("%s: %+v, error %v, want %v from %s, growing by %g", name, p, err, within, reference, drift)
	}
}

// TestParseChrony: the bound of a recorded answer is offset, dispersion and half the delay; a chronyd without a
// reference, or with its own clock as one, promises nothing.
func TestParseChrony(t *testing.T) {
	t.Parallel()
	synchronised := recorded(t, "chronyc-4.3-synchronised.csv")
	for name, c := range map[string]struct {
		text   string
		within time.Duration
		drift  float64
		why    string
	}{
		"synchronised":    {synchronised, 13613 * time.Nanosecond, 1.510e-6, ""}, // 3.790 + 4.618 + 10.410 / 2 µs
		"leap second":     {strings.Replace(synchronised, "Normal", "Insert second", 1), 13613 * time.Nanosecond, 1.510e-6, ""},
		"unsynchronised":  {recorded(t, "chronyc-4.3-unsynchronised.csv"), 0, 0, "Not synchronised"},
		"local":           {recorded(t, "chronyc-4.3-local.csv"), 0, 0, "no reference"},
		"no stratum":      {strings.Replace(synchronised, ",2,", ",16,", 1), 0, 0, "no reference"},
		"empty":           {"", 0, 0, "has 1 fields"},
		"not a number":    {strings.Replace(synchronised, "0.000004618", "much", 1), 0, 0, "invalid syntax"},
		"another program": {"506 Cannot talk to daemon\n", 0, 0, "has 1 fields"},
	} {
		p, err := parseChrony(c.text)
		near(t, name, p, err, UTC, c.within, c.drift, c.why)
	}
}

// TestParsePTP: by recorded answers, a slave knows the grandmaster to its offset and the delay of the path, and the
// grandmaster is the reference; nothing is promised of a clock that a card keeps, or that is further away.
func TestParsePTP(t *testing.T) {
	t.Parallel()
	slave := recorded(t, "pmc-3.1.1-slave.txt")
	const at = 1795845278407717655 * time.Nanosecond // when it was recorded
	swap := func(old, fresh string) string {
		if !strings.Contains(slave, old) {
			t.Fatalf("no %q in the recorded answer", old)
		}
		return strings.Replace(slave, old, fresh, 1)
	}
	const master = "PTP e20bdf.fffe.8392bc"
	for name, c := range map[string]struct {
		text   string
		wall   time.Duration
		within time.Duration
		why    string
	}{
		"slave":          {slave, at, 2666, ""}, // 762 + 1904 ns
		"grandmaster":    {recorded(t, "pmc-3.1.1-master.txt"), at, 0, ""},
		"listening":      {recorded(t, "pmc-3.1.1-listening.txt"), at, 0, "no grandmaster"},
		"no daemon":      {"sending: GET TIME_STATUS_NP\n", at, 0, "invalid syntax"},
		"two hops":       {swap("stepsRemoved     1", "stepsRemoved     2"), at, 0, "no grandmaster"},
		"no delay yet":   {swap("meanPathDelay    1904.0", "meanPathDelay    0.0"), at, 0, "no grandmaster"},
		"a card's clock": {swap("SOFTWARE", "HARDWARE"), at, 0, "the network card"},
		"old":            {slave, at + time.Minute, 0, "for a while"},
		"of the future":  {slave, at - time.Second, 0, "for a while"},
	} {
		p, age, err := parsePTP(c.text, c.wall)
		near(t, name, p, err, master, c.within, unsteered, c.why)
		if name == "slave" && age.Round(time.Millisecond) != 82*time.Millisecond {
			t.Errorf("%s: %v old, want 82ms", name, age)
		}
	}
}

// segment is the memory of a ClockBound daemon, by its published layout; none was recorded.
func segment(version uint16, change ...func([]byte)) []byte {
	b := make([]byte, segmentSize)
	order := binary.NativeEndian
	order.PutUint32(b, segmentMagic)
	order.PutUint32(b[4:], segmentMagic2)
	order.PutUint32(b[8:], 80)
	order.PutUint16(b[12:], version)
	order.PutUint16(b[14:], 6)
	order.PutUint64(b[16:], 100) // as of 100.25 s
	order.PutUint64(b[24:], 250e6)
	order.PutUint64(b[32:], 1100)
	order.PutUint64(b[48:], 41_000)
	drift, status := 56, 64
	if version == 2 {
		drift, status = 64, 68
	}
	order.PutUint32(b[drift:], 15_000) // ppb
	order.PutUint32(b[status:], synchronised)
	for _, f := range change {
		f(b)
	}
	return b
}

// TestParseClockBound: the bound, since when it holds and how it grows, by both layouts.
func TestParseClockBound(t *testing.T) {
	t.Parallel()
	const now = 101 * time.Second
	put16 := func(at int, v uint16) func([]byte) {
		return func(b []byte) { binary.NativeEndian.PutUint16(b[at:], v) }
	}
	for name, c := range map[string]struct {
		b   []byte
		now time.Duration
		why string
	}{
		"version 1":     {segment(1)[:72], now, ""},
		"version 2":     {segment(2), now, ""},
		"version 3":     {segment(3), now, "another layout"},
		"short":         {segment(2)[:70], now, "another layout"},
		"empty":         {nil, now, "not its memory"},
		"another file":  {[]byte(strings.Repeat("x", 80)), now, "not its memory"},
		"never written": {segment(2, put16(14, 0)), now, "does not know"},
		"being written": {segment(2, put16(14, 7)), now, "does not know"},
		"free running":  {segment(2, put16(68, 2)), now, "does not know"},
		"void":          {segment(1), 1101 * time.Second, "does not know"},
		"of the future": {segment(1), 100 * time.Second, "does not know"},
	} {
		p, err := parseClockBound(c.b, c.now)
		near(t, name, p, err, UTC, 41*time.Microsecond, 15e-6, c.why)
		if c.why == "" && p.at != 100250*time.Millisecond {
			t.Errorf("%s: as of %v", name, p.at)
		}
	}
	path := filepath.Join(t.TempDir(), "shm")
	if err := os.WriteFile(path, segment(1), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := readSegment(f); err == nil { // its instants are of another boot
		if boot := clock.Monotonic(); boot < 100*time.Second || boot > 1100*time.Second {
			t.Errorf("at %v the promise of 100 s to 1100 s holds", boot)
		}
	}
}

// TestSample: the reference is as far from the wall clock as promised, and further the older the promise is.
func TestSample(t *testing.T) {
	t.Parallel()
	const hour = time.Hour
	p := promise{at: clock.Monotonic() - 10*time.Second, within: time.Millisecond, drift: 100e-6}
	s := p.sample(func() time.Duration { return hour })
	if s.Heard-hour != hour-s.Answered || s.Asked > s.Got || !s.Theirs.Known {
		t.Errorf("%+v", s)
	}
	if within := s.Heard - hour; within < 2*time.Millisecond || within > 2*time.Millisecond+time.Minute/10_000 {
		t.Errorf("within %v, want 2ms: one, and ten seconds at 100 ppm", within)
	}
	if c, err := clock.Fit([]clock.Sample{s}, s.Got); err != nil || (c.Theirs(s.Got)-hour).Abs() > time.Millisecond {
		t.Errorf("%v: shows %v", err, c.Theirs(s.Got))
	}
}

// TestAsk: a promise is read again after a while; one of another reference, or one that is worth nothing, ends the
// service.
func TestAsk(t *testing.T) {
	t.Parallel()
	now := promise{reference: "a", within: 1}
	var fail error
	s := find(context.Background(), source{"fake", func(context.Context) (promise, error) { return now, fail }})
	if s == nil || s.Reference != "a" {
		t.Fatalf("%+v", s)
	}
	ask := func(want string) {
		t.Helper()
		s.read -= readAgain
		_, err := s.Ask(context.Background())
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	ask("")
	now.within = 2 * mostWithin
	ask("worth nothing")
	now = promise{reference: "b"}
	ask("another reference")
	fail = errors.New("gone")
	ask("gone")
	if find(context.Background(), s.source) != nil {
		t.Error("a service that is gone was found")
	}
}

// TestFind_Nothing: a machine without any of the programs has no service, and that is no error.
func TestFind_Nothing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, s := range Find(context.Background()) {
		if s.Name != "clockbound" { // which is no program
			t.Errorf("%s was found", s.Name)
		}
	}
}

// TestFind: a service is read by its program; what writes nonsense, or hangs, is as absent.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	put := func(name, script string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put("chronyc", "cat <<'E'\n"+recorded(t, "chronyc-4.3-synchronised.csv")+"E\n")
	put("pmc", "echo nonsense\n")
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	chrony := func() (found *Service) {
		for _, s := range Find(context.Background()) {
			switch s.Name {
			case "chrony":
				found = s
			case "ptp":
				t.Error("nonsense was taken for a promise")
			}
		}
		return found
	}
	s := chrony()
	for try := 0; s == nil && try < 10; try++ { // a machine may be too busy to start a program
		s = chrony()
	}
	if s == nil || s.Reference != UTC {
		t.Fatalf("%+v", s)
	}
	list, err := s.Ask(context.Background())
	if err != nil || len(list) != 1 || (list[0].Heard+list[0].Answered)/2-clock.Wall() > time.Minute {
		t.Errorf("%v: %+v", err, list)
	}
	put("chronyc", "exec sleep 60\n")
	if chrony() != nil {
		t.Error("a program that hangs was waited for")
	}
}
