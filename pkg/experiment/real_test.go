package experiment_test

import (
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/experiment"
)

// TestReal: a network that is real has no other properties, and none in simulation.
func TestReal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"network: {real: true}":                   "",
		"network: {real: true, at_most: 30ms}":    "",
		"network: {real: true, latency: 3ms}":     "x.yaml:2: network.latency: with network.real, which injects nothing",
		"network: {real: true, loss: 0.1}":        "network.loss: with network.real",
		"network: {real: true, order: unordered}": "network.order: with network.real",
		"network: {real: true, duplication: 0.1}": "network.duplication: with network.real",
		"network: {at_most: 30ms}":                "network.at_most: without real or recorded",
		"transport: sim\nnetwork: {real: true}":   "write network: {recorded: {run: FOLDER}}",
		"network: {recorded: {run: nowhere}}":     "nowhere",
		"network: {real: true}\nfaults: {events: [{at: 1s, do: flaky, latency: 9ms, for: 1s}]}": "network.real: an event sets the latency",
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
