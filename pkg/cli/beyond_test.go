package cli

import "testing"

// TestBeyondByItsRecords: whether a leader is back before the next one crashes is seen only when the
// trial has run. With three of five processes down at once it is beyond the model, and all commands
// that show it say so.
func TestBeyondByItsRecords(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	file := write(t, "toppled.yaml", `
name: toppled
problem: election
algorithms: [raft]
transport: sim
nodes: 5
network: {latency: 1ms}
scenario:
  kind: script
  until: 5s
  leader: 5
  events:
    - {at: 50ms, do: elect, node: 1}
    - {on: elected, do: crash, who: leader, for: 4s, times: 3}
repetitions: 2
`)
	has(t, bench(t, "plan", file).want(t, Good).out, "raft            2  true")
	r := bench(t, "run", file, "--out", out).want(t, Good)
	has(t, r.out, "\nraft *  ", "*: in_model=false: conditions exceed what")
	dir := latest(t, out, "toppled")
	r = bench(t, "replay", dir, "--trial", "1").want(t, Good)
	has(t, r.out, "in_model=false: survives 2 of 5 processes down at once, not 3 as at ")
	has(t, bench(t, "replay", dir, "--trial", "1", "--json").want(t, Good).out, `"in_model": false`)
	has(t, bench(t, "run", file, "--out", t.TempDir(), "--json").want(t, Good).out, `"in_model": false`)
}
