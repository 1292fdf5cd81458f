package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestJSONProgress(t *testing.T) {
	r := bench(t, "run", write(t, "small.yaml", small), "--out", t.TempDir(), "--progress", "json").
		want(t, Good)
	seen, ended := 0, 0
	for line := range strings.Lines(r.errors) {
		var p struct {
			Finished, Planned, Trial int
			Status                   string
			Ended                    bool `json:"cell_ended"`
			Metrics                  map[string]figureAnswer
		}
		if strings.HasPrefix(line, "{") {
			seen++
			if err := json.Unmarshal([]byte(line), &p); err != nil || p.Planned != 56 || p.Status == "" ||
				p.Metrics["messages"].N == 0 && p.Status == "ok" {
				t.Errorf("%s: %v", line, err)
			}
			if p.Ended {
				ended++
			}
		}
	}
	if seen != 56 || ended != 8 {
		t.Errorf("%d objects, of which %d end a cell, want 56 and 8", seen, ended)
	}
}
