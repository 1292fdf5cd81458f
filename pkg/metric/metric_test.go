package metric

import (
	"regexp"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// TestDeclarations: whatever is declared is whole, its name says its unit, and nothing has
// two names or one that another had.
func TestDeclarations(t *testing.T) {
	t.Parallel()
	seen, titled := map[string]bool{}, map[string]string{}
	for _, m := range All() {
		if !regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`).MatchString(m.Name) {
			t.Errorf("%s: want lower snake case", m.Name)
		}
		for _, name := range []string{m.Name, m.Was} {
			if name != "" && seen[name] {
				t.Errorf("%s: another metric is, or was, called %s", m.Name, name)
			}
			seen[name] = true
		}
		if m.Doc == "" || strings.HasSuffix(m.Doc, ".") || m.Unit == "" {
			t.Errorf("%s: doc %q, unit %q, want a phrase and a unit", m.Name, m.Doc, m.Unit)
		}
		if got := strings.HasSuffix(m.Name, "_ms"); got != (m.Unit == Milliseconds) {
			t.Errorf("%s in %s: times, and nothing else, are milliseconds and end in _ms", m.Name, m.Unit)
		}
		time, times := m.Unit == Milliseconds || m.Unit == Microseconds, m.Kind == SinceCause || m.Kind == InState
		if times && !time || time && !times && m.Kind != Level {
			t.Errorf("%s in %s: kind %d", m.Name, m.Unit, m.Kind)
		}
		for _, name := range m.Exposure {
			if of := Named(name); of == nil || !m.Kind.Pooled() || of.Kind.Pooled() {
				t.Errorf("%s: of kind %d, and a part of %s", m.Name, m.Kind, name)
			}
		}
		title := m.Title()
		if titled[title] != "" || strings.ContainsAny(title, ",_") || len(title) > 60 {
			t.Errorf("%s is titled %q, want a short phrase of its own, not that of "+
				"%q", m.Name, title, titled[title])
		}
		titled[title] = m.Name
		if strings.Contains(title, "(ms)") != (m.Unit == Milliseconds) {
			t.Errorf("%s is titled %q, want words and a unit of time", m.Name, title)
		}
		if m.Early && m.Kind != SinceCause || (m.From == 0) != (m.To == 0) || m.From > m.To {
			t.Errorf("%s: early of kind %d, or from %d to %d", m.Name, m.Kind, m.From, m.To)
		}
		if m.In(Brief|Lasting) && !m.In(Main) {
			t.Errorf("%s: who is in the table of bench run is a main metric", m.Name)
		}
		if Named(m.Name) != m || m.Was != "" && Renamed(m.Was) != m.Was+" is called "+m.Name+" now" {
			t.Errorf("%s is not found", m.Name)
		}
	}
	for _, f := range families()[1:] {
		for _, m := range f.members {
			if m.In(Summary) {
				t.Errorf("%s: all but fixed columns stand in summary.csv", m.Name)
			}
		}
	}
}

// TestKinds: of metrics of every sort, what was decided.
func TestKinds(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		kind   Kind
		better Direction
	}{
		"availability": {Share, Higher}, "throughput_per_s": {Level, Higher}, "fairness": {Level, Higher},
		"completed": {Count, Higher}, "messages": {Count, Lower}, "messages_per_entry": {Count, Lower},
		"bytes_per_election": {Count, Lower}, "message_delays": {Count, Lower}, "violations": {Event, Lower},
		"election_ms": {SinceCause, Lower}, "late_share": {Share, Lower}, "loss_achieved": {Share, Neither},
		"split_brain_ms": {InState, Lower}, "duration_ms": {SinceCause, Lower}, "crashes": {Event, Neither},
		"unneeded_elections_per_s": {Rate, Lower},
		"throttled_ms":             {Level, Lower},
	} {
		if m := Named(name); m.Kind != want.kind || m.Better != want.better {
			t.Errorf("%s: kind %d, better %d, want %v", name, m.Kind, m.Better, want)
		}
	}
}

// TestShown: the tables that nobody asked anything else of.
func TestShown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		problem algo.Problem
		table   Tables
		want    string
	}{
		{algo.Election, Brief, "election_ms downtime_ms messages"},
		{algo.Election, Lasting, "downtime_ms availability split_brain_ms messages"},
		{algo.Election, Main, "election_ms downtime_ms availability split_brain_ms messages_per_election " +
			"messages"},
		{algo.MutualExclusion, Brief, "waiting_ms messages_per_entry messages"},
		{algo.MutualExclusion, Main, "waiting_ms sync_delay_ms standstill_ms split_ownership_ms throughput_per_s fairness knee_per_s " +
			"violations messages_per_entry messages"},
		{algo.MutualExclusion, Rising, "knee_per_s kept_up_per_s messages_per_entry"},
	} {
		if got := strings.Join(Names(Shown(c.problem, c.table)), " "); got != c.want {
			t.Errorf("%s %d: %s, want %s", c.problem, c.table, got, c.want)
		}
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	const all = ` ("bench list" has them all)`
	for name, want := range map[string]string{
		"election_ms": "", "messages": "", "skew": "",
		"rounds":     "rounds is called message_delays now",
		"eletion_ms": `"eletion_ms" is no metric; did you mean "election_ms"?` + all,
		"speed":      `"speed" is no metric` + all,
		"waiting_ms": "waiting_ms is a metric of problem mutex, not of election" + all,
	} {
		if got := Missing(name, algo.Election); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestDoubt: both ends of a time between processes can be wrong, and nothing else.
func TestDoubt(t *testing.T) {
	t.Parallel()
	for m, want := range map[*Metric]float64{
		Election: 0.06, SyncDelay: 0.06, LatencyAchieved: 0.06, Agreed.Downtime: 0.06, SplitBrain: 0.06,
		Waiting: 0, Turnaround: 0, LatencyDrawn: 0, CPU: 0, MessagesPerElection: 0, Availability: 0, ClockError: 0,
	} {
		if got := m.Doubt(30); got != want {
			t.Errorf("%s: %v ms, want %v", m.Name, got, want)
		}
	}
	for _, m := range All() {
		if m.OneClock && m.Unit != Milliseconds {
			t.Errorf("%s in %s: who reads a clock is a time", m.Name, m.Unit)
		}
	}
}
