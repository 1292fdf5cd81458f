package experiment

import (
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/config"
)

// TestTemplate_ExplainsEveryKey: what "bench init" writes has every key of the file with its meaning.
func TestTemplate_ExplainsEveryKey(t *testing.T) {
	t.Parallel()
	text, words := Template(), strings.Join(strings.Fields(strings.ReplaceAll(Template(), "\n#", "\n")), " ")
	count := 0
	Every(func(n config.Nested) {
		count++
		if !strings.Contains(text, "\n# "+n.Path+":") {
			t.Errorf("no key %s", n.Path)
		}
		if n.Doc == "" || !strings.Contains(words, strings.Join(strings.Fields(n.Doc), " ")) {
			t.Errorf("%s is not explained", n.Path)
		}
	})
	for _, path := range []string{"bus.url", "costs.wake", "rounds", "thresholds[].max", "hosting.run_as",
		"network.links[].loss", "scenario.expect.sent", "algorithms[].set", "scenario.steps"} {
		if !strings.Contains(text, "\n# "+path+":") {
			t.Errorf("no key %s", path)
		}
	}
	if count < 150 {
		t.Errorf("%d keys", count)
	}
}
