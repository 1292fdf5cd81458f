package results

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func mustJSON(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The headers are a promise to everybody's scripts.
func TestHeaders(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(1))
	finish(t, f)
	const design = "problem,algorithm,label,transport,nodes,topology,scenario,latency_model," +
		"latency_ms,loss,duplication,crash_rate,network_order"
	for name, want := range map[string]string{
		TrialsFile: "trial,cell,repetition,round,run_order,seed," + design + "," +
			"status,reason,attempts,in_model,operations,completed,duration_ms," +
			"messages,delivered,lost,duplicated,undeliverable,bytes,detector_messages," +
			"late_share,sched_delay_p99_ms," +
			"detection_ms,election_ms,split_brain_ms,message_delays\n",
		OperationsFile: "trial,operation,process,cause_ms,begin_ms,end_ms,status,cause,phase\n",
		OutagesFile:    "trial,definition,outage,spec,begin_ms,cause_ms,end_ms,length_ms,status,cause,operation\n",
		MessagesFile:   "trial,kind,sent,delivered,lost,bytes\n",
		SummaryFile:    design + ",metric,n,censored,mean,sd,min,median,p90,p95,p99,max,ci_low,ci_high,ci_method,trials_with,events,exposure_s,share_ok,low,high,in_model\n",
	} {
		if got := readFile(t, f.Dir(), name); got != want {
			t.Errorf("%s of no trials:\n%swant\n%s", name, got, want)
		}
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(2))
	one := testTrial(1)
	one.Status, one.Reason = trace.Violated, "p3 \"inside\",\nand p7"
	one.Set(metric.LateShare.Of(0.25), metric.SchedDelay.Of(0.000012))
	one.InModel = false
	if err := f.Append(one); err != nil {
		t.Fatal(err)
	}
	finish(t, f)
	for name, want := range map[string]string{
		TrialsFile: `1,1,1,1,1,9007199254740991,` +
			`election,election/bully,bully,sim,3,complete,leader-crash,constant,2,0,0,0,fifo,` +
			`violation,"p3 ""inside"", and p7",1,false,1,1,11.5,20,19,1,0,0,320,0,` +
			`0.25,0.000012,10,1.25,,`,
		OperationsFile: "1,1,3,,0.000001,12.5,ok,leader-crash,",
		MessagesFile:   "1,ELECTION,12,11,1,192",
	} {
		if got := lines(t, f, name); len(got) < 2 || got[1] != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	// The last one lasts to the end of the trial, 11.5 ms.
	want := []string{"1,agreed,1,false,0.000001,0.000001,12.5,12.499999,ok,leader-crash,1",
		"1,led,1,true,0.000001,2.000001,4.000001,4,ok,leader-crash,1",
		"1,led,2,true,10,10,,1.5,other,partition,0"}
	if got := lines(t, f, OutagesFile); !slices.Equal(got[1:], want) {
		t.Errorf("%s: %q, want %q", OutagesFile, got[1:], want)
	}
}

// The order of appending, the grouping and earlier attempts leave no mark.
func TestTablesDependOnTheTrialsAlone(t *testing.T) {
	t.Parallel()
	const trials = 60
	var first map[string]string
	for round := range 3 {
		f := create(t, testHeader(trials))
		random := rand.New(rand.NewPCG(uint64(round), 0))
		var group []Trial
		for i, n := range random.Perm(trials) {
			last := randomTrial(n + 1)
			if round > 0 && n%7 == 0 {
				spoiled := testTrial(n + 1)
				spoiled.Status = trace.Invalid
				group = append(group, spoiled)
			}
			last.Attempts = 2
			group = append(group, last)
			if i%(round+5) == 0 || i == trials-1 {
				if err := f.AppendGroup(group); err != nil {
					t.Fatal(err)
				}
				group = nil
			}
		}
		finish(t, f)
		got := tableTexts(t, f.Dir())
		for name := range got {
			if first != nil && got[name] != first[name] {
				t.Errorf("%s differs between runs of the same trials", name)
			}
		}
		first = got
	}
}

// randomTrial is a pure function of n.
func randomTrial(n int) Trial {
	random := rand.New(rand.NewPCG(uint64(n), 7))
	t := testTrial(n)
	t.Status = trace.Statuses()[random.IntN(len(trace.Statuses()))]
	if t.Status == trace.Invalid {
		t.Status = trace.OK
	}
	t.Set(metric.Duration.Of(random.ExpFloat64()))
	only(&t, metric.Election.Of(random.ExpFloat64()))
	return t
}

func TestSummary(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(14))
	var trials []Trial
	add := func(cell, repetition int, status trace.Status, messages int64, metrics ...metric.Value) {
		trial := testTrial(2 * cell)
		trial.Trial, trial.Cell, trial.Repetition = len(trials)+1, cell, repetition
		trial.Status = status
		trial.Set(metric.Messages.Of(float64(messages)), metric.Duration.Of(float64(messages)))
		only(&trial, metrics...)
		trials = append(trials, trial)
	}
	for i := 1; i <= 6; i++ {
		add(1, i, trace.OK, int64(i), metric.Election.Of(float64(10*i)))
	}
	add(1, 7, trace.Violated, 1e6, metric.Election.Of(1e6), metric.MessageDelays.Of(3))
	add(1, 8, trace.Unknown, 1e6, metric.Election.Of(1e6))
	add(1, 9, trace.Failed, 1e6)
	add(2, 1, trace.TimedOut, 5000, metric.Detection.Of(10), metric.Election.Of(nan),
		metric.SplitBrain.Of(4000))
	add(2, 2, trace.OK, 7, metric.Detection.Of(20), metric.Election.Of(30))
	add(3, 1, trace.TimedOut, 5000, metric.Election.Of(nan)) // nothing was there to detect
	add(4, 1, trace.Violated, 9)
	trials[12].Design[0].Value = "mutex"
	if err := f.AppendGroup(trials); err != nil {
		t.Fatal(err)
	}
	finish(t, f)
	cell := func(nodes int) string {
		return "election,election/bully,bully,sim," + strconv.Itoa(nodes) +
			",complete,leader-crash,constant,2,0,0,0,fifo,"
	}
	want := []string{
		cell(3) + "duration_ms,6,0,3.5,1.8708286933869707,1,3.5,5.5,5.75,5.95,6,1,6,fixed-n,,,,0.6666666666666666,2,5,true",
		cell(3) + "messages,6,0,3.5,1.8708286933869707,1,3.5,5.5,5.75,5.95,6,1,6,fixed-n,,,,0.6666666666666666,2,5,true",
		cell(3) + "detection_ms,0,0,,,,,,,,,,,,,,,0.6666666666666666,,,true",
		cell(3) + "election_ms,6,0,35,18.708286933869708,10,35,55,57.5,59.5,60,10,60,fixed-n,,,,0.6666666666666666,20,50,true",
		cell(3) + "split_brain_ms,0,0,,,,,,,,,,,,,,,0.6666666666666666,,,true",
		cell(4) + "duration_ms,1,1,,,7,,,,,,,,,,,,0.5,,,true",
		cell(4) + "messages,1,0,7,,7,7,7,7,7,7,,,,,,,0.5,7,7,true",
		cell(4) + "detection_ms,2,0,15,7.0710678118654755,10,15,19,19.5,19.9,20,,,,,,,0.5,,,true",
		cell(4) + "election_ms,1,1,,,30,,,,,,,,,,,,0.5,,,true",
		cell(4) + "split_brain_ms,0,0,,,,,,,,,,,,,,,0.5,,,true",
		cell(5) + "duration_ms,0,1,,,,,,,,,,,,,,,0,,,true",
		cell(5) + "messages,0,0,,,,,,,,,,,,,,,0,,,true",
		cell(5) + "detection_ms,0,0,,,,,,,,,,,,,,,0,,,true",
		cell(5) + "election_ms,0,1,,,,,,,,,,,,,,,0,,,true",
		cell(5) + "split_brain_ms,0,0,,,,,,,,,,,,,,,0,,,true",
		strings.Replace(cell(6), "election", "mutex", 1) + "duration_ms,0,0,,,,,,,,,,,,,,,0,,,true",
		strings.Replace(cell(6), "election", "mutex", 1) + "messages,0,0,,,,,,,,,,,,,,,0,,,true",
	}
	got := lines(t, f, SummaryFile)[1:]
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("row %d missing: %s", i+1, want[i])
		case i >= len(want):
			t.Errorf("row %d too many: %s", i+1, got[i])
		case got[i] != want[i]:
			t.Errorf("row %d:\n%s, want\n%s", i+1, got[i], want[i])
		}
	}
}

func TestManifest(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(2))
	f.now = func() time.Time { return time.Date(2026, 11, 20, 10, 15, 0, 1, time.UTC) }
	writeTrace(t, f, Trace{Trial: 1})
	if err := f.AppendGroup([]Trial{testTrial(1), testTrial(2)}); err != nil {
		t.Fatal(err)
	}
	end := End{Bus: map[string]any{"ping_us": 12.5}, Notes: []string{"<busy> machine"}}
	m, err := f.Finish(end)
	if err != nil {
		t.Fatal(err)
	}
	if !m.Complete || m.Finished != 2 || m.Finish != "2026-11-20T10:15:00.000000001Z" ||
		m.Notes[0] != "<busy> machine" || len(m.Statuses) != 7 || m.Tool.Go == "" || m.Machine.Cores < 1 {
		t.Errorf("manifest %+v", m)
	}
	text := readFile(t, f.Dir(), ManifestFile)
	for _, part := range []string{`"complete": true`, `"<busy> machine"`, `"percentiles": "type 7 `,
		`"traces/trial-1.ndjson": "`, `"journal.ndjson": "`, `"ping_us": 12.5`} {
		if !strings.Contains(text, part) {
			t.Errorf("no %s in %s", part, text)
		}
	}
	if strings.Contains(text, lockFile) || len(m.Files) != 8 {
		t.Errorf("files %v, want eight, without the lock", m.Files)
	}
	if host, err := os.Hostname(); err == nil && len(host) > 3 && strings.Contains(text, host) {
		t.Errorf("the manifest names the host %q", host)
	}
	back, err := ReadManifest(f.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := seal(back); err != nil || string(again) != text {
		t.Errorf("a manifest read and encoded again differs: %v", err)
	}
	if err := Verify(f.Dir()); err != nil {
		t.Error(err)
	}
	write(t, f.path(SummaryFile), "edited\n")
	wantError(t, Verify(f.Dir()), SummaryFile, "of manifest.json")
	// Nothing but the files of the run, and the lock.
	entries, err := os.ReadDir(f.Dir())
	if err != nil || len(entries) != 10 {
		t.Errorf("folder holds %v, %v, want ten entries", entries, err)
	}
}

func TestFinishAgain(t *testing.T) {
	t.Parallel()
	f := create(t, testHeader(2))
	if err := f.Append(testTrial(2)); err != nil {
		t.Fatal(err)
	}
	if m := finish(t, f); m.Complete || m.Planned != 2 || m.Finished != 1 {
		t.Errorf("manifest %+v, want one of two finished", m)
	}
	// A rule may find that fewer are enough.
	rule := &Stopping{Rule: Rule{Metric: "election_ms"}, Cells: []Stopped{{Cell: 1, Repetitions: 1, Stopped: Precise}}}
	if _, err := f.Finish(End{Planned: 1, Stopping: rule}); err != nil {
		t.Fatal(err)
	}
	m, err := ReadManifest(f.Dir())
	if err != nil || !m.Complete || m.Planned != 1 || !reflect.DeepEqual(m.Stopping, rule) {
		t.Errorf("manifest %+v, %v, want the one trial that was needed, and the rule", m, err)
	}
	if err := f.Append(testTrial(1)); err != nil {
		t.Fatal(err)
	}
	if m := finish(t, f); !m.Complete {
		t.Errorf("manifest %+v, want it complete", m)
	}
	if got := lines(t, f, TrialsFile); len(got) != 3 || !strings.HasPrefix(got[1], "1,") {
		t.Errorf("rows %q, want trials 1 and 2", got)
	}
}

// TestFinishAgain_NothingRan: a resume with nothing left to run forgets neither the hosts nor
// what was measured of the bus.
func TestFinishAgain_NothingRan(t *testing.T) {
	t.Parallel()
	for _, hosts := range [][]string{nil, {"lab1", "lab2"}} {
		h := testHeader(1)
		h.Hosts = hosts
		f := create(t, h)
		if err := f.Append(testTrial(1)); err != nil {
			t.Fatal(err)
		}
		sites := []Site{{Name: "lab1", Machine: Machine{OS: "plan9"}}, {Name: "lab2"}}
		first, err := f.Finish(End{Bus: map[string]any{"round_trips": 200.0}, Sites: sites})
		if err != nil {
			t.Fatal(err)
		}
		again, err := f.Finish(End{})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(again.Bus, first.Bus) || !reflect.DeepEqual(again.Host, first.Host) ||
			!reflect.DeepEqual(again.Hosts, first.Hosts) || (again.Host == nil) == (hosts == nil) {
			t.Errorf("%v: %+v, want what there was: %+v", hosts, again, first)
		}
	}
}

// TestManifest_RoundTrips: by way of each host and each two of a run over hosts, of each shard, and
// of the one machine of any other run.
func TestManifest_RoundTrips(t *testing.T) {
	t.Parallel()
	const trip = `"round_trips":50,"round_trip_p50_us":300.5,"round_trip_p99_us":900`
	for text, want := range map[string]string{
		`{}`:                     "[]",
		`{"bus":{` + trip + `}}`: "[{[] 300.5 900 50}]",
		`{"bus":{` + trip + `,"pairs":[{"hosts":["lab1","lab1"],` + trip + `},{"hosts":["lab1","lab2"],` + trip + `}]}}`: "[{[lab1] 300.5 900 50} {[lab1 lab2] 300.5 900 50}]",
		`{"bus":{},"shards":[{"host":"lab1","bus":{` + trip + `}},{"host":"lab2","bus":{}}]}`:                            "[{[lab1] 300.5 900 50}]",
		`{"bus":{},"workers":[{"host":"lab3","bus":{` + trip + `}}]}`:                                                    "[{[lab3] 300.5 900 50}]",
	} {
		var m Manifest
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(m.RoundTrips()); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestLargeSweep(t *testing.T) {
	t.Parallel()
	const trials = 10_000
	f := create(t, testHeader(trials))
	for from := 1; from <= trials; from += 1000 {
		var group []Trial
		for n := from; n < from+1000; n++ {
			group = append(group, testTrial(n))
		}
		if err := f.AppendGroup(group); err != nil {
			t.Fatal(err)
		}
	}
	start := time.Now()
	finish(t, f)
	t.Logf("tables of %d trials took %v", trials, time.Since(start))
	if got := lines(t, f, TrialsFile); len(got) != trials+1 {
		t.Errorf("%d lines, want %d", len(got), trials+1)
	}
}

func TestLargeTrial(t *testing.T) {
	t.Parallel()
	const operations = 20_000
	f := create(t, testHeader(1))
	trial := testTrial(1)
	trial.Ops = nil
	for i := range operations {
		at := time.Duration(i) * time.Millisecond / 7
		trial.Ops = append(trial.Ops, trace.Operation{Process: uint32(i%50 + 1), Cause: at,
			Begin: at + time.Millisecond/10, End: at + time.Millisecond, Status: trace.Completed})
	}
	if err := f.Append(trial); err != nil {
		t.Fatal(err)
	}
	finish(t, f)
	file, err := os.Open(filepath.Join(f.Dir(), OperationsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) != operations+1 || rows[operations][3] != "2857" {
		t.Errorf("%d rows, %v, want %d", len(rows), err, operations+1)
	}
}

func BenchmarkFinish(b *testing.B) {
	f := create(b, testHeader(1000))
	var group []Trial
	for n := 1; n <= 1000; n++ {
		group = append(group, testTrial(n))
	}
	if err := f.AppendGroup(group); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		finish(b, f)
	}
}

// TestSummary_TimedOut: of a trial that the time limit ended, the times that it waited
// for are censored; what it had seen before is a value, and what does not apply to it
// is neither.
func TestSummary_TimedOut(t *testing.T) {
	t.Parallel()
	trial := testTrial(1)
	trial.Status = trace.TimedOut
	only(&trial, metric.Detection.Of(3), metric.Suspicion.Of(4), metric.Election.Of(nan), metric.Heal.Of(5),
		metric.SplitBrain.Of(6), metric.MessageDelays.Of(7)) // and no recovery
	c := Cell{Trials: []*Trial{&trial}}
	for name, want := range map[string][2]int{
		"detection_ms": {1, 0}, "suspicion_ms": {1, 0}, "election_ms": {0, 1}, "heal_ms": {0, 1},
		"recovery_ms": {0, 0}, "split_brain_ms": {0, 0}, "message_delays": {0, 0},
	} {
		d := c.Describe(name)
		if got := [2]int{d.N, d.Censored}; got != want {
			t.Errorf("%s: %d values and %d censored, want %v", name, got[0], got[1], want)
		}
	}
}

// TestPrecision: a half-width has three digits, and more only before the point.
func TestPrecision(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{
		0: "±0 %", 0.000123: "±0.0123 %", 0.04567: "±4.57 %", 0.5: "±50 %", 0.99951: "±100 %", 2.5: "±250 %",
		9.999: "±1000 %", 12.345: "±1234 %",
	} {
		if got := (&Stopped{HalfWidth: &v}).Precision(); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
	if got := new(Stopped).Precision(); got != "no interval" {
		t.Errorf("without an interval: %q", got)
	}
}
