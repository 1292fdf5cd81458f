package cli

import "testing"

// TestTwin: each real trial has a twin with its seed, without which there would be nothing to print.
func TestTwin(t *testing.T) {
	file, root := write(t, "few.yaml", few), t.TempDir()
	bench(t, "run", file, "--out", root).want(t, Good)
	r := bench(t, "twin", latest(t, root, "few"), "--more", "3").want(t, Good)
	has(t, r.out, "correlation", "election_ms  5  ", "downtime_ms  5  ", "20 trials simulated")
}

const few = `
name: few
problem: election
algorithms: [bully]
nodes: 3
network: {latency: {distribution: uniform, min: 1ms, max: 9ms}}
scenario: {kind: leader-crash}
repetitions: 5
`

// TestTwin_Simulated: a run that was simulated is its own twin.
func TestTwin_Simulated(t *testing.T) {
	file, root := write(t, "few.yaml", few), t.TempDir()
	bench(t, "run", file, "--out", root, "--transport", "sim").want(t, Good)
	has(t, bench(t, "twin", latest(t, root, "few")).want(t, Usage).errors, "was simulated itself")
}
