package experiment_test

import (
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/experiment"
)

// TestWire: a wire takes the other keys of network, and is for real processes, each by itself.
func TestWire(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"network: {wire: true, latency: 3ms, loss: 0.1, duplication: 0.1, order: unordered}": "",
		"network: {wire: true, bandwidth: 1MB/s, links: [{links: [[1, 2]], loss: 0.5}]}":     "",
		"transport: sim\nnetwork: {wire: true}": "x.yaml:3: network.wire: transport sim has no packets; write " +
			"transport: nats, or remove wire",
		"network: {wire: true, real: true}":                   "network.wire: with network.real",
		"network: {wire: true}\nhosting: {run_as: goroutine}": "network.wire: with hosting.",
		"network: {wire: true}\nhosting: {reuse: true}":       "network.wire: with hosting.reuse",
		"network: {wire: yes please}":                         "network.wire",
	} {
		_, err := experiment.Parse("x.yaml", []byte("algorithms: [election/bully]\n"+text), experiment.Overrides{})
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestWire_Model: over a wire no message is lost, so that an algorithm that survives no loss is in its
// model, and a synchronous one is not, since TCP sends again what is lost.
func TestWire_Model(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		algorithm, network string
		in                 bool
	}{
		{"mutex/naimi-trehel", "{latency: 3ms, loss: 0.1}", false},
		{"mutex/naimi-trehel", "{latency: 3ms, loss: 0.1, wire: true}", true},
		{"mutex/naimi-trehel", "{latency: 3ms, duplication: 0.1, order: unordered, wire: true}", true},
		{"election/bully", "{latency: 3ms, loss: 0.1, wire: true}", false},
		{"election/bully", "{latency: 3ms, wire: true}", true},
	} {
		problem, _, _ := strings.Cut(c.algorithm, "/")
		text := "problem: " + problem + "\nalgorithms: [" + c.algorithm + "]\nnetwork: " + c.network
		e, err := experiment.Parse("x.yaml", []byte(text), experiment.Overrides{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if p := e.Cells[0].Plan; p.InModel != c.in {
			t.Errorf("%s over %s: in the model %v (%v), want %v", c.algorithm, c.network, p.InModel, p.OutOfModel, c.in)
		}
	}
}
