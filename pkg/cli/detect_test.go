package cli

import (
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
)

// TestPlan_Detect: a pilot, simulated or given, says how many repetitions find a change.
func TestPlan_Detect(t *testing.T) {
	t.Parallel()
	here := newFolder(t)
	file := write(t, "small.yaml", small)
	r := here.bench(t, "plan", file, "--detect", "5%").want(t, Good)
	golden(t, "plan-detect.txt", r.out)
	has(t, r.out, "30 simulated repetitions", "repetitions: planned 7, needed ", "exact: counts")

	here.bench(t, "run", file, "--out", "pilot", "--set", "repetitions=12", "--set", "sweep=[{vary: nodes, over: [3]}]").want(t, Good)
	var d struct {
		Tests   int      `json:"detect_tests"`
		Pilot   string   `json:"detect_pilot"`
		Needed  int      `json:"detect_needed"`
		Without []string `json:"detect_not_in_pilot"`
		Needs   []struct{ N, Pairs, Ranks int }
	}
	text := here.bench(t, "plan", file, "--set", "transport=nats", "--detect", "5%", "--pilot", "pilot/small", "--metrics", "downtime_ms", "--json").
		want(t, Good).out
	if err := answer.Unmarshal([]byte(text), &d); err != nil || d.Pilot != "the run in pilot/small" {
		t.Fatalf("%v: %s", err, text)
	}
	if len(d.Needs) != 2 || d.Tests != 2 || d.Needed != d.Needs[0].Ranks || d.Needs[0].Pairs != 0 || d.Needs[0].N != 12 {
		t.Errorf("%+v", d)
	}
	if len(d.Without) != 6 { // of 8 cells
		t.Errorf("not in the pilot: %q", d.Without)
	}
	has(t, here.bench(t, "plan", file, "--set", "transport=nats", "--detect", "5%").want(t, Good).out, "careful: a simulated pilot")
	for _, c := range [][]string{
		{"--detect", "5", "expected a percentage"}, {"--detect", "0%", "expected a percentage"},
		{"--pilot", "pilot/small", "go with --detect"}, {"--detect", "5%", "--metrics", "waiting_ms", `no metric "waiting_ms"`},
	} {
		says := c[len(c)-1]
		has(t, here.bench(t, append([]string{"plan", file}, c[:len(c)-1]...)...).want(t, Usage).errors, says)
	}
	has(t, here.bench(t, "plan", file, "--detect", "5%", "--pilot", "nowhere").want(t, Usage).errors, "nowhere")
	has(t, here.bench(t, "plan", write(t, "until.yaml", until), "--detect", "5%").want(t, Good).out, "30 simulated repetitions",
		"planned 20")
}
