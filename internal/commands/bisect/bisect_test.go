package bisect

import (
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/report/diagram"
	"github.com/conclave-bench/conclave/internal/commands/replay"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// sideOf is a trial in which p1 sends one message.
func sideOf(holds string, metrics replay.Figures, kind string) *replay.Side {
	return &replay.Side{Design: map[string]string{"problem": "mutex"}, Metrics: metrics, Messages: 1,
		Events: []diagram.Event{{Number: 1, Type: "send", Process: 1, Message: kind, Holds: holds,
			Text: "p1 sends " + kind + holds + " to p2"}}}
}

// TestQuestion: what counts as a change, and that one comparison does not decide the next.
func TestQuestion(t *testing.T) {
	value := func(v float64) replay.Figures { return replay.Figures{"fairness": &v} }
	fair, none := sideOf("{1}", value(1), "ASK"), sideOf("{1}", nil, "ASK")
	unfair, blind := sideOf("{1}", value(0.5), "ASK"), sideOf("", value(1), "ASK")
	late, broken := sideOf("{1}", value(1), "ASK"), sideOf("{1}", value(1), "ASK")
	late.DurationMS, broken.Status = 7, trace.Violated
	for _, test := range []struct {
		metric string
		b      *replay.Side
		want   bool
	}{
		{"", fair, false}, {"", unfair, false}, {"", broken, true}, {"", blind, false},
		{"", sideOf("{2}", value(1), "ASK"), true}, // what it holds is still known
		{"fairness", fair, false}, {"fairness", unfair, true}, {"fairness", none, true}, {"fairness", broken, false},
		{"duration_ms", late, true}, {"duration_ms", unfair, false}, {"messages", unfair, false},
	} {
		if got := (&Question{Metric: test.metric}).changed(fair, test.b); got != test.want {
			t.Errorf("%q of %+v: %v", test.metric, test.b, got)
		}
	}
}
