package advise

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/commands/rare"
	"github.com/conclave-bench/conclave/pkg/link"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

const msec = time.Millisecond

// little is an effort for tests.
var little = Effort{Outages: 1000, Paths: 60, Replications: 3, Search: 40, Levels: 10, Lengths: 4}

// ask is a request with little effort.
func ask(system string, change func(*Request)) *Request {
	q := &Request{System: system, Nodes: 3, Jitter: -1, Away: -1, Clocks: -1, Messages: 1, Seed: 1,
		Effort: little}
	if change != nil {
		change(q)
	}
	return q
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// inText is a document as a terminal shows it.
func inText(t *testing.T, d *answer.Document) string {
	t.Helper()
	var text strings.Builder
	if err := answer.Formats()[0].Write(&text, d); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("want %q in\n%s", part, text)
		}
	}
}

// TestSubjects: every system that was promised is there, and writes its defaults as its own documents do.
func TestSubjects(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"etcd":     "--heartbeat-interval=100 --election-timeout=1000",
		"etcd-3-4": "--heartbeat-interval=100 --election-timeout=1000",
		"rancher":  "etcd-arg: - heartbeat-interval=500 - election-timeout=5000",
		"consul":   "performance { raft_multiplier = 5 }",
		"nomad":    "server { raft_multiplier = 1 }",
		"kubernetes": "--leader-elect-lease-duration=15s --leader-elect-renew-deadline=10s " +
			"--leader-elect-retry-period=2s",
		"openshift": "leaderElection: leaseDuration: 137s renewDeadline: 107s retryPeriod: 26s",
		"patroni":   "patronictl edit-config --set ttl=30 --set loop_wait=10 --set retry_timeout=10",
		"mongodb": "cfg = rs.conf() cfg.settings.heartbeatIntervalMillis = 2000 " +
			"cfg.settings.electionTimeoutMillis = 10000 rs.reconfig(cfg)",
		"raft": "heartbeat interval 75ms election timeout drawn from 150ms to 300ms",
		"cockroachdb": "COCKROACH_RAFT_TICK_INTERVAL=500ms COCKROACH_RAFT_HEARTBEAT_INTERVAL_TICKS=2 " +
			"COCKROACH_RAFT_ELECTION_TIMEOUT_TICKS=4 COCKROACH_RAFT_ELECTION_TIMEOUT_JITTER_TICKS=4",
	}
	for name, lines := range want {
		w, err := newModel(ask(name, func(q *Request) { q.RoundTrip = 2 * msec }))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := w.words(&w.base); got != lines {
			t.Errorf("%s writes %q, want %q", name, got, lines)
		}
	}
	if len(Names()) != len(want) {
		t.Errorf("systems: %v", Names())
	}
}

// TestSetting: whatever is asked for, a setting is one that the system takes.
func TestSetting(t *testing.T) {
	t.Parallel()
	for _, s := range Subjects() {
		w, err := newModel(ask(s.Set.Name, func(q *Request) { q.RoundTrip = 2 * msec }))
		if err != nil {
			t.Fatal(err)
		}
		for _, beat := range []time.Duration{3 * msec, 170 * msec, 3 * time.Second} {
			for _, patience := range []time.Duration{10 * msec, 777 * msec, 19 * time.Second} {
				x := w.setting(w.base.Params, beat, patience, 0)
				if text := w.Set.Refusal(x.Params); text != "" {
					t.Errorf("%s: beat %v, patience %v: %s", s.Set.Name, beat, patience, text)
				}
				if _, err := w.crash(&x); err != nil {
					t.Errorf("%s: beat %v, patience %v: %v", s.Set.Name, beat, patience, err)
				}
			}
		}
	}
}

// TestAnswer: the advice is within the constraints and the budget, faster than the defaults, and all of
// it is in the document and on the page.
func TestAnswer(t *testing.T) {
	t.Parallel()
	done := 0.0
	d, page, err := Answer(t.Context(), ask("etcd", func(q *Request) {
		q.RoundTrip, q.Loss, q.Why, q.HTML = 12*msec, 0.01, true, "advice.html"
		q.Share = func(_ string, share float64) { done = share }
	}))
	if err != nil {
		t.Fatal(err)
	}
	text := inText(t, d)
	has(t, text, "flags of etcd:", "ETCD_HEARTBEAT_INTERVAL=100",
		"today's defaults: --heartbeat-interval=100 --election-timeout=1000",
		"defaults", "fastest", "split votes", "does not hold where", "members never pause (--pauses)",
		"rule of thumb: the advice",
		"5 heartbeat <= t_election")
	rows := map[string][]answer.Value{}
	for _, b := range d.Blocks {
		if table, is := b.(*answer.Table); is && table.Name == "settings" {
			for _, row := range table.Rows {
				for role := range strings.SplitSeq(row[1].(string), "+") {
					rows[role] = row
				}
			}
		}
	}
	figure := func(role string, column int) float64 { return rows[role][column].(float64) }
	const median, high = 6, 18
	if !(figure(Advice, median) < figure(Defaults, median) && figure(Fastest, median) < figure(Advice,
		median)) {
		t.Errorf("medians %v, %v, %v", figure(Defaults, median), figure(Advice, median), figure(Fastest,
			median))
	}
	if figure(Advice, high) > 1 || figure(Fastest, high) > 1 || done != 1 {
		t.Errorf("false elections %v and %v, done %v", figure(Advice, high), figure(Fastest, high), done)
	}
	has(t, string(page), "<input id=\"slider\"", "<svg", "--election-timeout=1000",
		"default-src &#39;none&#39;")
	for _, beyond := range []string{"http://", "https://", "src="} {
		if rest := strings.ReplaceAll(strings.ReplaceAll(string(page), "http://www.w3.org", ""),
			"etcd.io", ""); beyond != "src=" && strings.Contains(rest, beyond) {
			t.Errorf("the page names %s", beyond)
		}
	}
}

// TestAnswer_Repeats: equal requests have equal answers, whatever the number of workers.
func TestAnswer_Repeats(t *testing.T) {
	t.Parallel()
	var texts []string
	for _, workers := range []int{1, 3} {
		d, _, err := Answer(t.Context(), ask("raft", func(q *Request) {
			q.RoundTrip, q.Loss, q.Workers, q.False = 10*msec, 0.02, workers, "1/hour"
			q.Effort = Effort{Outages: 100, Paths: 20, Replications: 2, Search: 10, Levels: 4}
		}))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, inText(t, d))
	}
	if texts[0] != texts[1] {
		t.Errorf("with one worker\n%s\nwith three\n%s", texts[0], texts[1])
	}
}

// TestAnswer_OpenShift: what OpenShift works out by hand, and how often its worst is exceeded; its own
// code exceeds it in 35 % of takeovers. What tolerates as much is no slower.
func TestAnswer_OpenShift(t *testing.T) {
	t.Parallel()
	d, _, err := Answer(t.Context(), ask("openshift", func(q *Request) {
		q.RoundTrip, q.Away, q.Clocks = 5*msec, time.Minute, 30*time.Second
	}))
	if err != nil {
		t.Fatal(err)
	}
	text := inText(t, d)
	has(t, text, "leaseDuration: 134s", "renewDeadline: 104s", "retryPeriod: 26s")
	values := map[string]float64{}
	for _, b := range d.Blocks {
		if table, is := b.(*answer.Table); is && table.Name == "computed" {
			for _, row := range table.Rows {
				if row[0] == Defaults {
					values[row[1].(string)] = row[3].(float64)
					if beyond, is := row[4].(answer.Shown); is && (beyond.Value.(float64) < 0.31 ||
						beyond.Value.(float64) > 0.41) {
						t.Errorf("%s: exceeded by %v of the outages, want about 36 %%", row[1], beyond.Value)
					}
				}
			}
		}
	}
	for name, want := range map[string]float64{"clock skew tolerance": 30,
		"API server downtime tolerance":        78,
		"worst non-graceful lease acquisition": 163, "worst graceful lease acquisition": 26} {
		if values[name] != want {
			t.Errorf("%s: %v s, want %v", name, values[name], want)
		}
	}
}

// TestMistakes: the splitting and plain counting agree where both can tell.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, system := range []string{"raft", "kubernetes", "etcd"} {
		w, err := newModel(ask(system, func(q *Request) { q.RoundTrip, q.Loss = 10*msec, 0.05 }))
		if err != nil {
			t.Fatal(err)
		}
		x := w.base
		if system == "etcd" { // whose defaults are too good for counting
			w.network.Loss = 0.5
		}
		rate, err := w.mistakes(t.Context(), &x, true)
		if err != nil {
			t.Fatal(err)
		}
		from, to := x.window()
		p, err := w.quiet(&x, to+time.Second, -1)
		if err != nil {
			t.Fatal(err)
		}
		p.Network = w.network
		hits := make([]float64, 3000)
		if err := w.each(t.Context(), len(hits), func(i int) error {
			own := p
			own.Seed = uint64(i + 1)
			n, err := rare.Count(&own, from, to)
			hits[i] = float64(min(n, 1))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, h := range hits {
			sum += h
		}
		share := sum / float64(len(hits))
		counted := -math.Log1p(-share) * year / float64(to-from)
		spread := 4 * counted / math.Sqrt(sum)
		if sum < 20 || counted+spread < rate.Low || counted-spread > rate.High {
			t.Errorf("%s: %v [%v, %v] a year by splitting, %v by %v counts", system, rate.Year, rate.Low,
				rate.High, counted, sum)
		}
	}
}

// TestMistakes_Bursts: of bursts, of which two at once lead to a mistake, the bound is above what is counted, and not
// by far.
func TestMistakes_Bursts(t *testing.T) {
	t.Parallel()
	w, err := newModel(ask("etcd", func(q *Request) { q.RoundTrip = 7 * msec }))
	if err != nil {
		t.Fatal(err)
	}
	w.network.Burst = &link.Burst{Enter: 0.005, Leave: 0.25, Good: 0.001, Bad: 1}
	x := w.setting(w.base.Params, w.base.Beat, 500*msec, 0)
	rate, err := w.mistakes(t.Context(), &x, true)
	if err != nil {
		t.Fatal(err)
	}
	const each, trials = 10 * time.Minute, 300
	from, _ := x.window()
	p, err := w.quiet(&x, from+each+time.Second, -1)
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]int, trials)
	if err := w.each(t.Context(), trials, func(i int) (err error) {
		own := p
		own.Seed = uint64(i + 1)
		counts[i], err = rare.Count(&own, from, from+each)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, n := range counts {
		sum += n
	}
	counted := float64(sum) * year / float64(trials*each)
	if sum < 30 || rate.High < counted || rate.High > 10*counted {
		t.Errorf("at most %v a year, %v by %v counts", rate.High, counted, sum)
	}
}

// TestPauses: pauses that are longer than the time-out lead to false elections as often as they come,
// shorter ones do not.
func TestPauses(t *testing.T) {
	t.Parallel()
	lengths := file(t, "gc.txt", strings.Repeat("20ms\n", 9)+"5s\n5s\n")
	w, err := newModel(ask("etcd", func(q *Request) {
		q.RoundTrip, q.Pauses, q.PausesOver = 2*msec, lengths, 11*24*time.Hour
	}))
	if err != nil {
		t.Fatal(err)
	}
	rate, err := w.mistakes(t.Context(), &w.base, false)
	if err != nil {
		t.Fatal(err)
	}
	// One pause a day and member; about a tenth to two tenths of them are long, by straight lines between
	// the lengths, and a third of those are the leader's.
	if pauses := 3 * 365.25; rate.Pauses < 0.03*pauses || rate.Pauses > 0.1*pauses ||
		rate.Low > rate.Pauses || rate.High < rate.Pauses {
		t.Errorf("%+v of %v pauses a year", rate, pauses)
	}
	long := w.setting(w.base.Params, w.base.Beat, 6*time.Second, 0)
	if rate, err = w.mistakes(t.Context(), &long, false); err != nil || rate.Pauses != 0 {
		t.Errorf("with a time-out of 6 s: %+v, %v", rate, err)
	}
}

// TestRecords: what a record has shows in the rate, and what it cannot show is said.
func TestRecords(t *testing.T) {
	t.Parallel()
	calm, outage := &strings.Builder{}, &strings.Builder{}
	for i := range 400 {
		fmt.Fprintf(calm, "%d.5\n", 5+i%2)
		if i > 100 && i < 110 {
			fmt.Fprintln(outage, "lost")
		} else {
			fmt.Fprintln(outage, "6")
		}
	}
	for text, want := range map[string]bool{calm.String(): false, outage.String(): true} {
		dir := t.TempDir()
		for _, pair := range []string{"1-2", "1-3", "2-3"} {
			if err := os.WriteFile(filepath.Join(dir, pair+".txt"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		w, err := newModel(ask("etcd", func(q *Request) { q.Pings = dir }))
		if err != nil {
			t.Fatal(err)
		}
		rate, err := w.mistakes(t.Context(), &w.base, true)
		if err != nil || (rate.Year > 0) != want || rate.How != byCount && want {
			t.Errorf("lost %v: %+v, %v", want, rate, err)
		}
		f := &Finding{model: w, Defaults: &Point{Setting: w.base}}
		has(t, f.caveat(), "rarer than once in the 6m40s of the record")
	}
}

// TestWrites: slow disks make outages longer by what the term says.
func TestWrites(t *testing.T) {
	t.Parallel()
	slow := file(t, "fio.json", `{"jobs": [{"sync": {"lat_ns": {"percentile": {"1.000000": 40000000, "99.000000": 60000000}}}}]}`)
	outages := map[string]*Outage{}
	for _, path := range []string{"", slow} {
		w, err := newModel(ask("etcd", func(q *Request) { q.RoundTrip, q.Fsync = 2*msec, path }))
		if err != nil {
			t.Fatal(err)
		}
		if outages[path], err = w.outages(t.Context(), &w.base, 1000, "crashes"); err != nil {
			t.Fatal(err)
		}
	}
	fast, slower := outages[""], outages[slow]
	if slower.Terms.Writes < 30 || fast.Terms.Writes != 0 || slower.Median < fast.Median+30 {
		t.Errorf("writes take %v ms of %v, and without disks %v", slower.Terms.Writes, slower.Median,
			fast.Median)
	}
	for _, o := range []*Outage{fast, slower} {
		sum, mean := o.Terms.sum(), 0.0
		for _, v := range o.values {
			mean += v / float64(len(o.values))
		}
		if math.Abs(sum-mean) > 0.02*mean || o.P99 < o.Median || o.Worst < o.P99 || o.MedianLow > o.Median {
			t.Errorf("terms %+v, of %v ms, outage %+v", o.Terms, mean, o.Median)
		}
	}
}

// TestFiles: times of writes in three forms.
func TestFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want time.Duration // median
	}{
		"etcd": {"Summary:\n  Total: 1 secs.\n\nLatency distribution:\n  10% in 0.0010 secs.\n  50% in " +
			"0.0030 secs.\n  99% in 0.0090 secs.\n", 3 * msec},
		"list": {"# ms\n1\n2ms\n3\n4\n5\n", 3 * msec},
		"fio":  {`{"jobs": [{"write": {"clat_ns": {"percentile": {"50.000000": 2000000, "99.9": 9000000}}}}]}`, 2 * msec},
	} {
		got, err := writes(file(t, name, c.text))
		if err != nil || len(got) != 101 || got[50] != c.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestRefused: each mistake is one sentence that says what to do.
func TestRefused(t *testing.T) {
	t.Parallel()
	german := "PING a (10.0.0.1) 56(84) bytes of data.\n64 Bytes von a: icmp_seq=1 ttl=57 Zeit=4,00 ms\n"
	foreign, single := filepath.Dir(file(t, "1-2.txt", german)), filepath.Dir(file(t, "1-2.txt", "4.2\n"))
	some := filepath.Dir(file(t, "1-2.txt", "4.2\n4.3\n"))
	for want, change := range map[string]func(*Request){
		"unknown system \"etdc\"; did you mean \"etcd\"?": func(q *Request) { q.System = "etdc" },
		"no network: say how far apart":                   func(q *Request) { q.RoundTrip = 0 },
		"--pings and --rtt: each says":                    func(q *Request) { q.Pings = "x" },
		"--nodes 1, expected 2 to 15":                     func(q *Request) { q.Nodes = 1 },
		"--false \"often\", expected a number":            func(q *Request) { q.False = "often" },
		"--false and --minutes": func(q *Request) {
			q.False,
				q.Minutes = "1/year", 3
		},
		"--away and --clocks are for systems that lead": func(q *Request) { q.Away = time.Second },
		"patroni does not compare clocks": func(q *Request) {
			q.System,
				q.Clocks = "patroni", time.Second
		},
		"--pauses and --pauses-over belong together": func(q *Request) { q.Pauses = "x" },
		"repeat it with LC_ALL=C ping": func(q *Request) {
			q.RoundTrip, q.Pings = 0,
				foreign
		},
		"one delay is no record": func(q *Request) {
			q.RoundTrip, q.Pings = 0,
				single
		},
		"no record from 1 to 3, and 3 processes need one": func(q *Request) {
			q.RoundTrip, q.Pings = 0,
				some
		},
		"from a to b: \"-1\", expected a round trip in ms": func(q *Request) {
			q.RoundTrip, q.Matrix = 0, file(t, "m.csv", "x,a,b\na,0,-1\nb,3,0\n")
		},
		"--fsync: ": func(q *Request) { q.Fsync = "nowhere.json" },
		"line 2: \"-4\", expected a time above 0": func(q *Request) {
			q.Fsync = file(t, "list", "3\n-4\n")
		},
		"--places: ": func(q *Request) { q.RoundTrip, q.Places = 0, []string{"Nowhere Town"} },
		"--check: election/etcd runs in bench-systems alone; repeat this with it": func(q *Request) {
			q.Check = 20
		},
		"--check: nothing runs mongodb here": func(q *Request) { q.System, q.Check = "mongodb", 20 },
		"--check 1, expected 2 to 10000":     func(q *Request) { q.Check = 1 },
		"--loss 1, expected":                 func(q *Request) { q.Loss = 1 },
		"--jitter and --loss":                func(q *Request) { q.RoundTrip, q.Pings, q.Loss = 0, some, 0.1 },
	} {
		q := ask("etcd", func(q *Request) { q.RoundTrip = 2 * msec })
		change(q)
		_, _, err := Answer(t.Context(), q)
		if err == nil || !strings.Contains(err.Error(), want) || answer.ExitOf(err) != answer.Usage ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestUnreachable: what nothing meets is said with the best that there is.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*Request){
		"is contradictory on this network; the best is --heartbeat-interval=100 --election-timeout=": func(q *Request) { q.Outage = 50 * msec },
		"no setting that kubernetes takes tolerates a store that is away for 23h0m0s": func(q *Request) {
			q.System, q.Away = "kubernetes", 23*time.Hour
		},
	} {
		q := ask("etcd", func(q *Request) { q.RoundTrip, q.Effort.Outages = 20*msec, 200 })
		change(q)
		_, _, err := Answer(t.Context(), q)
		if err == nil || !strings.Contains(err.Error(), want) || answer.ExitOf(err) != answer.Usage {
			t.Errorf("%v, want %q", err, want)
		}
	}
	// which gives up at one request without an answer
	_, _, err := Answer(t.Context(), ask("patroni", func(q *Request) {
		q.RoundTrip, q.Loss, q.Effort = 20*msec, 0.2, Effort{Outages: 60, Paths: 20, Replications: 2,
			Search: 10, Levels: 4}
	}))
	if err == nil || !strings.Contains(err.Error(), "not reachable: the best is patronictl") ||
		!strings.Contains(err.Error(), "are round trips") {
		t.Errorf("with a fifth lost: %v", err)
	}
}

// TestAnswer_Interrupted: an interruption leaves what is known.
func TestAnswer_Interrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	d, page, err := Answer(ctx, ask("raft", func(q *Request) {
		q.RoundTrip, q.Loss, q.HTML = 10*msec, 0.02, "x"
		q.Share = func(_ string, done float64) {
			if done > 0.1 {
				cancel(stopped)
			}
		}
	}))
	if !errors.Is(err, stopped) || d == nil || page != nil {
		t.Fatalf("%v: %v", err, d)
	}
	has(t, inText(t, d), "defaults", "no advice yet")
}

// TestAlone: without leases one follower that hears nothing deposes a leader; with them it does not.
func TestAlone(t *testing.T) {
	t.Parallel()
	for system, want := range map[string]bool{"raft": true, "etcd": false} {
		w, err := newModel(ask(system, func(q *Request) { q.RoundTrip = 2 * msec }))
		if err != nil {
			t.Fatal(err)
		}
		_, to := w.base.window()
		p, err := w.quiet(&w.base, to+time.Second, -1)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := rare.Alone(&p, to); err != nil || got != want {
			t.Errorf("%s: %v, %v", system, got, err)
		}
	}
}
