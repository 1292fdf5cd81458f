package results

import (
	"fmt"
	"path/filepath"
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
	return fmt.Sprintf("this is shard %v of a run, and no run: bench merge makes the run of all its shards, "+
		"and holds that against thresholds and what is allowed", s)
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

// Machines are those whose times the run has measured, each once.
func (m *Manifest) Machines() []Machine {
	if len(m.Parts)+len(m.Hosts) == 0 {
		return []Machine{m.Where()}
	}
	var out []Machine
	for _, h := range m.Hosts {
		out = append(out, h.Machine)
	}
	for _, p := range m.Parts {
		out = append(out, p.Machine)
	}
	return distinct(out)
}
