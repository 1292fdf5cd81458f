package search

import (
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestPrintEnds: of what is too long to print, the beginning and the end are, with their numbers, and
// how much is between them.
func TestPrintEnds(t *testing.T) {
	all := make(trace.List, 100)
	for i := range all {
		all[i] = trace.Record{At: time.Duration(i) * time.Millisecond, Type: trace.Crash, Process: 1}
	}
	var text strings.Builder
	printEnds(&text, all, nil, 7)
	lines := strings.Split(text.String(), "\n")
	if len(lines) != 8 || !strings.HasPrefix(lines[2], "  3 ") || !strings.HasPrefix(lines[4], " 98 ") {
		t.Errorf("%q", lines)
	}
	if !strings.Contains(text.String(), "... 94 events omitted") {
		t.Error(text.String())
	}
	text.Reset()
	if printEnds(&text, all, nil, 100); strings.Contains(text.String(), "left out") {
		t.Errorf("left out of as many as there may be: %s", &text)
	}
}
