package results

import (
	"fmt"
	"path/filepath"
	"slices"
)

// A Shard is the part of a plan that a run is: number Index of the Of shards, from 1.
type Shard struct {
	Index int    `json:"index"`
	Of    int    `json:"of"`
	Host  string `json:"host,omitempty"` // name of the machine, where trials are on real nodes
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// Note says what a reader of the shard alone should know.
func (s Shard) Note() string {
	return fmt.Sprintf("this is only shard %v of a run: bench merge merges all shards, "+
		"and checks the run against thresholds and allow", s)
}

// ShardDir is the folder of a shard of the experiment of that name.
func ShardDir(root, name string, s Shard) string {
	return filepath.Join(root, name, fmt.Sprintf("shard-%d-of-%d", s.Index, s.Of))
}

// shardPattern matches the names that ShardDir gives.
const shardPattern = "shard-*-of-*"

// A Part is a shard of a run that was merged, and where and when it ran.
type Part struct {
	Shard
	Started  string         `json:"started"` // as in its manifest, like all that follows
	Finish   string         `json:"finished_at"`
	Argv     []string       `json:"argv"`
	Machine  Machine        `json:"machine"` // whose times it has measured
	LoadThen string         `json:"load_at_start,omitempty"`
	LoadNow  string         `json:"load_at_end,omitempty"`
	Bus      map[string]any `json:"bus"`
	Self     string         `json:"manifest_sha256"`
}

// A Worker is a machine that ran trials of a run on real nodes that was divided by a queue.
type Worker struct {
	Host    string         `json:"host"` // its name, as in column host
	Machine Machine        `json:"machine"`
	Bus     map[string]any `json:"bus"` // as of a run, measured before its last blocks
}

// A RoundTrip is what the bus alone takes on a machine, or by way of two.
type RoundTrip struct {
	Hosts    []string `json:"hosts"` // by name; none: the one machine of the run
	Median   float64  `json:"median_us"`
	P99      float64  `json:"p99_us"`
	Measured int      `json:"round_trips"`
}

// RoundTrips are what the run, its shards and its workers measured of the bus alone.
func (m *Manifest) RoundTrips() (out []RoundTrip) {
	add := func(bus map[string]any, hosts ...string) {
		median, known := bus["round_trip_p50_us"].(float64)
		p99, _ := bus["round_trip_p99_us"].(float64)
		trips, _ := bus["round_trips"].(float64) // as JSON has it
		if known {
			out = append(out, RoundTrip{hosts, median, p99, int(trips)})
		}
	}
	pairs, _ := m.Bus["pairs"].([]any)
	for _, one := range pairs {
		pair, _ := one.(map[string]any)
		names, _ := pair["hosts"].([]any)
		var hosts []string
		for _, name := range names {
			hosts = append(hosts, fmt.Sprint(name))
		}
		add(pair, slices.Compact(hosts)...)
	}
	if len(pairs) == 0 {
		add(m.Bus)
	}
	for _, p := range m.Parts {
		add(p.Bus, p.Host)
	}
	for _, w := range m.Workers {
		add(w.Bus, w.Host)
	}
	return out
}

// Machines are those whose times the run has measured, each once.
func (m *Manifest) Machines() []Machine {
	if len(m.Parts)+len(m.Hosts)+len(m.Workers) == 0 {
		return []Machine{m.Where()}
	}
	var out []Machine
	for _, h := range m.Hosts {
		out = append(out, h.Machine)
	}
	for _, p := range m.Parts {
		out = append(out, p.Machine)
	}
	for _, w := range m.Workers {
		out = append(out, w.Machine)
	}
	return distinct(out)
}
