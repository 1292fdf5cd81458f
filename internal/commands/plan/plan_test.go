package plan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/experiment"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

// loaded is an experiment in which all of a thousand processes request at once, with settings.
func loaded(t *testing.T, settings ...string) *experiment.Experiment {
	t.Helper()
	file := filepath.Join(t.TempDir(), "burst.yaml")
	text := "problem: mutex\nalgorithms: [ricart-agrawala, central]\ntransport: sim\n" +
		"scenario: {kind: burst}\nnodes: 1000\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := experiment.Load(file, experiment.Overrides{Set: settings})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The plan says of which algorithms the messages grow with the square of the processes, and the estimate
// follows. docs/evidence/large-runs.md holds it against runs.
func TestBursts(t *testing.T) {
	burst := loaded(t)
	text := bursts(burst)
	for _, want := range []string{"careful: ricart-agrawala: messages", "up to about 1998000 where nodes is 1000"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q has no %q", text, want)
		}
	}
	if times := loaded(t, "nodes=2000").Memory() / burst.Memory(); times < 3.5 || times > 4.1 {
		t.Errorf("twice the processes take %.2f times the memory", times)
	}
	for _, setting := range []string{"nodes=20", "scenario={kind: sequential}", "algorithms=[central]"} {
		e := loaded(t, setting)
		if text := bursts(e); text != "" || e.Memory() > burst.Memory()/5 {
			t.Errorf("%s: %v bytes, %q", setting, e.Memory(), text)
		}
	}
	apart := loaded(t, "transport=nats", "nodes=40", "hosting.run_as=process").Memory()
	if shared := loaded(t, "transport=nats", "nodes=40", "hosting.run_as=goroutine").Memory(); apart < 2*shared {
		t.Errorf("40 processes take %v, in one process %v", apart, shared)
	}
}
