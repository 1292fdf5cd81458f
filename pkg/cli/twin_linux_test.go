package cli

import "testing"

// TestTwin: each real trial has a twin with its seed, without which there would be nothing to print.
func TestTwin(t *testing.T) {
	file, root := write(t, "few.yaml", few), t.TempDir()
	bench(t, "run", file, "--out", root).want(t, Good)
	r := bench(t, "twin", latest(t, root, "few"), "--more", "3").want(t, Good)
	has(t, r.out, "correlation", "bully  election_ms  ", "bully  downtime_ms  ", "all: n 6", "24 trials simulated")
}

// few is slow, and tries often: other tests may keep the machine busy.
const few = `
name: few
problem: election
algorithms: [bully]
nodes: 3
network: {latency: {distribution: uniform, min: 10ms, max: 50ms}}
scenario: {kind: leader-crash}
repetitions: 6
retries: 20
`

// TestTwin_Simulated: a run that was simulated is its own twin.
func TestTwin_Simulated(t *testing.T) {
	file, root := write(t, "few.yaml", few), t.TempDir()
	bench(t, "run", file, "--out", root, "--transport", "sim").want(t, Good)
	has(t, bench(t, "twin", latest(t, root, "few")).want(t, Usage).errors, "was simulated")
}
