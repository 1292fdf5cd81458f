package results

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

var nan = math.NaN()

var testMetrics = []string{"detection_ms", "election_ms", "split_brain_ms", "message_delays"}

const testConfig = "name: test\nrepetitions: 2\n"

func testHeader(planned int) Header {
	return Header{
		Name: "test", Planned: planned, Retries: 2, Seed: 1,
		Design:  append(DesignColumns(), "network_order"),
		Metrics: testMetrics, Argv: []string{"bench", "run", "test.yaml"},
	}
}

// testTrial makes trial n of cells with two repetitions each.
func testTrial(n int) Trial {
	cell := (n-1)/2 + 1
	t := Trial{
		Trial: n, Cell: cell, Repetition: (n-1)%2 + 1, Round: 1, RunOrder: n, Seed: 1<<53 - 1,
		Status: trace.OK, Attempts: 1, InModel: true,
		Ops: []trace.Operation{{Process: 3, Cause: -1, Begin: 1, End: 12_500_000, Status: trace.Completed,
			Origin: trace.LeaderCrashed}},
		Outages: []trace.Outage{
			{Definition: "agreed", Begin: 1, Cause: 1, End: 12_500_000, Status: trace.Completed,
				Origin: trace.LeaderCrashed, Operation: 1},
			{Definition: "led", Spec: true, Begin: 1, Cause: 2_000_001, End: 4_000_001,
				Status: trace.Completed, Origin: trace.LeaderCrashed, Operation: 1},
			{Definition: "led", Spec: true, Begin: 10_000_000, Cause: 10_000_000, End: -1,
				Status: trace.Unasked, Origin: trace.Parted},
		},
		Kinds: []trace.MessageCount{{Name: "ELECTION", Sent: 12, Delivered: 11, Lost: 1, Bytes: 192},
			{Name: "COORDINATOR", Sent: 8, Delivered: 8, Bytes: 128}},
	}
	values := []string{"election", "election/bully", "bully", "sim", fmt.Sprint(2 + cell),
		"complete", "leader-crash", "constant", "2", "0", "0", "0", "fifo"}
	for i, name := range testHeader(1).Design {
		t.Design = append(t.Design, metric.Field{Name: name, Value: values[i]})
	}
	return t.With(metric.Operations.Of(1), metric.Completed.Of(1), metric.Duration.Of(10.5+float64(n)),
		metric.Messages.Of(float64(20*n)), metric.Delivered.Of(19), metric.Lost.Of(1), metric.BytesSent.Of(320),
		metric.LateShare.Of(nan), metric.SchedDelay.Of(nan),
		metric.Detection.Of(10), metric.Election.Of(1.25*float64(n)))
}

// only has a trial have no figures but these, and the fixed ones.
func only(t *Trial, values ...metric.Value) {
	t.own = append(slices.DeleteFunc(slices.Clone(t.own), func(v metric.Value) bool { return !v.Always() }), values...)
}

func create(t testing.TB, h Header) *Folder {
	t.Helper()
	f, err := Create(t.TempDir(), h, []byte(testConfig))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func finish(t testing.TB, f *Folder) *Manifest {
	t.Helper()
	m, err := f.Finish(End{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func readFile(t testing.TB, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func lines(t testing.TB, f *Folder, name string) []string {
	t.Helper()
	return strings.Split(strings.TrimSuffix(readFile(t, f.Dir(), name), "\n"), "\n")
}

// wantError fails unless err says every one of parts.
func wantError(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one that says %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q, want it to say %q", err, part)
		}
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	tests := []struct {
		v    float64
		want string
	}{
		{0, "0"}, {math.Copysign(0, -1), "0"}, {0.1, "0.1"}, {1e21, "1000000000000000000000"},
		{1e-7, "0.0000001"}, {-2.5, "-2.5"}, {1.0 / 3, "0.3333333333333333"},
		{nan, ""}, {math.Inf(1), ""}, {math.Inf(-1), ""},
	}
	for _, test := range tests {
		if got := Number(test.v); got != test.want {
			t.Errorf("Number(%v) = %q, want %q", test.v, got, test.want)
		}
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", textLimit)
	tests := []struct{ name, in, want string }{
		{"plain", "p3 granted, p7 inside", "p3 granted, p7 inside"},
		{"lines", "panic:\r\n\tgoroutine 1\n", "panic:   goroutine 1"},
		{"escape", "\x1b[31mred\x00", "[31mred"},
		{"separators", "a\u2028b\u2029c\uFEFFd\u0085e", "a b c d e"},
		{"not UTF-8", "a\xffb", "a\uFFFDb"},
		{"long", long, long[:textLimit-4] + "…"},
	}
	for _, test := range tests {
		if got := clean(test.in); got != test.want {
			t.Errorf("%s: clean(%.40q) = %.40q, want %.40q", test.name, test.in, got, test.want)
		}
		if len(clean(test.in)) > textLimit {
			t.Errorf("%s: %d bytes, want at most %d", test.name, len(clean(test.in)), textLimit)
		}
	}
}

func TestHeaderRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*Header)
		want   string
	}{
		{"path in name", func(h *Header) { h.Name = "../x" }, `name "../x"`},
		{"no name", func(h *Header) { h.Name = "" }, `name ""`},
		{"nothing planned", func(h *Header) { h.Planned = 0 }, "0 trials planned"},
		{"design cut", func(h *Header) { h.Design = h.Design[:3] }, "expected them to begin with"},
		{"design disordered", func(h *Header) { slices.Reverse(h.Design) }, "expected them to begin with"},
		{"dot in column", func(h *Header) { h.Design[12] = "a.b" }, "lower snake case"},
		{"design twice", func(h *Header) { h.Design[12] = "seed" }, `"seed" appears twice`},
		{"metric twice", func(h *Header) { h.Metrics = []string{"messages"} }, `"messages" appears twice`},
		{"summary column", func(h *Header) { h.Design[12] = "median" }, SummaryFile},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			h := testHeader(1)
			test.change(&h)
			_, err := Create(root, h, nil)
			wantError(t, err, test.want)
			if left, _ := os.ReadDir(root); len(left) > 0 {
				t.Errorf("%v was made, want nothing", left)
			}
		})
	}
}

func TestTrialRefused(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(3))
	tests := []struct {
		name   string
		change func(*Trial)
		want   string
	}{
		{"beyond the plan", func(t *Trial) { t.Trial = 4 }, "expected 1 to 3"},
		{"counts from nought", func(t *Trial) { t.Attempts = 0 }, "counts from 1"},
		{"large seed", func(t *Trial) { t.Seed = 1 << 53 }, "2^53"},
		{"status", func(t *Trial) { t.Status = "fine" }, `status "fine"`},
		{"design", func(t *Trial) { t.Design = t.Design[1:] }, "expected the columns"},
		{"metric", func(t *Trial) { t.Set(metric.Value{Name: "speed"}) }, `metric "speed"`},
		{"metric twice", func(t *Trial) { t.own[len(t.own)-2].Name = "election_ms" }, "twice"},
	}
	for _, test := range tests {
		trial := testTrial(3)
		test.change(&trial)
		err := f.AppendGroup([]Trial{testTrial(1), trial})
		wantError(t, err, "trial ", test.want)
	}
	if got, _ := ReadTrials(f.Dir()); len(got) != 0 {
		t.Errorf("%d trials were written, want none of a refused group", len(got))
	}
	if err := f.Append(testTrial(1)); err != nil {
		t.Errorf("after refusals: %v", err)
	}
}
