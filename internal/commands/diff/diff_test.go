package diff

import (
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/report/diagram"
	"github.com/conclave-bench/conclave/internal/commands/replay"
)

// sideOf is a trial in which processes send messages, as "1>2 ASK": one each millisecond, with what it holds.
func sideOf(holds string, metrics replay.Figures, words ...string) *replay.Side {
	s := &replay.Side{Name: holds, Design: map[string]string{"problem": "mutex"}, Metrics: metrics}
	for i, word := range words {
		kind, isSend := strings.CutPrefix(word, "send ")
		e := diagram.Event{Number: i + 1, At: int64(i) * 1e6, Type: "request", Process: 1, Text: word}
		if isSend {
			e.Type, e.Message, e.Holds, e.Text = "send", kind, holds, "p1 sends "+kind+holds+" to p2"
			s.Messages++
		}
		s.Events = append(s.Events, e)
	}
	return s
}

// TestDifference: what is said where sides part in another way than by a message each.
func TestDifference(t *testing.T) {
	value := func(v float64) replay.Figures { return replay.Figures{"fairness": &v} }
	for name, test := range map[string]struct {
		a, b *replay.Side
		says []string
		same bool
	}{
		"what a message holds": {sideOf("{1}", nil, "send ASK"), sideOf("{2}", nil, "send ASK"),
			[]string{"they diverge at the first event", "p1 sends ASK{1} to p2", "p1 sends ASK{2} to p2"}, false},
		"what one holds is not known": {sideOf("{1}", nil, "send ASK"), sideOf("", nil, "send ASK"),
			[]string{"the same: 1 event, to the last"}, true},
		"one ends": {sideOf("", nil, "send ASK", "send ASK"), sideOf("", nil, "send ASK"),
			[]string{"they diverge at message 2", "A  2          1ms  p1 sends ASK to p2", "B  sends no more", "B  nothing",
				"messages  2  1"}, false},
		"no message": {sideOf("", nil, "send ASK", "enters"), sideOf("", nil, "send ASK", "leaves"),
			[]string{"they send the same messages, 1", "A  2          1ms  enters"}, false},
		"the judge": {sideOf("", value(0.5), "send ASK"), sideOf("", value(1), "send ASK"),
			[]string{"the same: 1 event, to the last", "fairness  0.5  1"}, false},
		"the end": {sideOf("", value(0.5), "send ASK"), sideOf("", nil, "send ASK"),
			[]string{"fairness  0.5  -"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := New([2]*replay.Side{test.a, test.b})
			out := answer.New("diff", "")
			d.Describe(out, "", "a trial", 10)
			text, err := out.In("text")
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range test.says {
				if !strings.Contains(string(text), part) {
					t.Errorf("no %q in\n%s", part, text)
				}
			}
			if d.Differ() == test.same {
				t.Errorf("differ: %v", d.Differ())
			}
		})
	}
}
