package check

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func init() {
	live := func(name string, under algo.Connectivity, detector algo.Detector, service algo.Service) {
		learns := name == "test-forgetful"
		s := algo.Spec{
			Name: name, Summary: "never runs", Perpetual: detector == algo.NoDetector, Service: service,
			Paper:    algo.Paper{Authors: "test", Title: "test", Year: 2026},
			Messages: []algo.Message{Ping{}}, Needs: algo.Needs{Detector: detector},
			Promises: algo.Promises{Leadership: algo.PerGroup, Live: func(int, algo.Params) algo.Liveness {
				return algo.Liveness{Under: under, Timeouts: 5, Learns: learns}
			}},
		}
		if s.Perpetual {
			s.Params = []algo.Param{{Name: "beat", Type: algo.Duration, Doc: "the period",
				Default: algo.Const(10 * ms1)}}
			s.Periods = []algo.Period{{Param: "beat", Timer: "beat"}}
		}
		algo.RegisterElector(s, func(algo.Config) algo.Elector { return mute{} })
	}
	live("test-parts", algo.InParts, algo.NoDetector, algo.Agreed)
	live("test-majority", algo.MajorityConnected, algo.NoDetector, algo.Led)
	live("test-quorum", algo.QuorumConnected, algo.NoDetector, algo.Led)
	live("test-forgetful", algo.InParts, algo.NoDetector, algo.Led)
	live("test-suspicious", algo.InParts, algo.EventuallyPerfect, algo.Agreed)
}

// TestLiveness: five processes, of which 5 leads at first and crashes at 10 ms; a leader may
// be missing for 20 ms.
func TestLiveness(t *testing.T) {
	t.Parallel()
	const quorum, majority, parts = "election/test-quorum", "election/test-majority", "election/test-parts"
	const forgetful = "election/test-forgetful"
	crash := at(10, trace.Crash, 5)
	lost := at(25, trace.Lose, 1, 2)
	severed := lost
	severed.Arg = trace.Severed
	late := at(25, trace.Timeout, 1)
	late.Due = late.At - room - 1
	slow := at(12, trace.Send, 1, 2)
	slow.Sent, slow.Due = slow.At, 40*ms1
	usual := slow
	usual.Due = slow.At + ms1
	star := "2>3 3>2 2>4 4>2 3>4 4>3" // 1 alone reaches the three others
	for name, test := range map[string]struct {
		id      string
		records []trace.Record
		change  func(*harness.Plan)
		real    bool
		end     float64
		want    string // how long it was missing; "": nothing is broken
	}{
		"never again":             {quorum, join(crash), nil, false, 31, "from 10ms to 31ms"},
		"just in time":            {quorum, join(crash), nil, false, 30, ""},
		"seen at the next record": {quorum, join(crash, at(40, trace.Timeout, 1)), nil, false, 50, "from 10ms to 40ms"},
		"elected":                 {quorum, join(crash, all(26, 4, 1, 2, 4, 3)), nil, false, 90, ""},
		"for an instant": {quorum, join(crash, all(26, 4, 1, 2, 4), at(29, trace.Elected, 4, 0)), nil, false,
			49, ""},
		"and then no more": {quorum, join(crash, all(26, 4, 1, 2, 4), at(29, trace.Elected, 4, 0)), nil, false,
			50, "from 29ms to 50ms"},
		"no majority":                {quorum, join(crash, at(11, trace.Crash, 4), at(12, trace.Crash, 3)), nil, false, 90, ""},
		"a bare one":                 {quorum, join(crash, at(12, trace.Crash, 4)), nil, false, 33, "from 12ms to 33ms"},
		"in a star":                  {quorum, join(crash, cut(12, star)), nil, false, 33, "from 12ms to 33ms"},
		"no star is promised":        {majority, join(crash, cut(12, star)), nil, false, 90, ""},
		"one link is cut":            {majority, join(crash, cut(12, "3>4 4>3")), nil, false, 33, "from 12ms to 33ms"},
		"then it is not in parts":    {parts, join(crash, cut(12, "3>4 4>3")), nil, false, 90, ""},
		"in parts":                   {parts, join(crash, cut(12, "1 2|3 4 5")), nil, false, 33, "from 12ms to 33ms"},
		"healed meanwhile":           {parts, join(crash, cut(12, "1>2"), heal(25)), nil, false, 46, "from 25ms to 46ms"},
		"a lost message":             {quorum, join(crash, lost), nil, false, 45, ""},
		"a message long on its way":  {quorum, join(crash, slow), nil, false, 60, ""},
		"it has arrived":             {quorum, join(crash, slow), nil, false, 61, "from 40ms to 61ms"},
		"a message as long as usual": {quorum, join(crash, usual), nil, false, 31, "from 10ms to 31ms"},
		"on a link that is cut":      {quorum, join(crash, severed), nil, false, 31, "from 10ms to 31ms"},
		"while one is paused":        {quorum, join(crash, at(12, trace.Pause, 1)), nil, false, 90, ""},
		"or slow":                    {quorum, join(crash, slowed(12, 1, ms1)), nil, false, 90, ""},
		"or a link flaky":            {quorum, join(crash, flaky(12, "1>2 loss 0.5")), nil, false, 90, ""},
		"one comes back":             {quorum, join(crash, back(25, 5)), nil, false, 45, ""},
		"slow no longer": {quorum, join(crash, slowed(12, 1, ms1), slowed(25, 1, 0)), nil, false, 46,
			"from 25ms to 46ms"},
		"its clock is off": {quorum, join(crash, faulted(12, 1, "skew by 5ms")), nil, false, 90, ""},
		"and right again": {quorum, join(crash, faulted(12, 1, "skew by 5ms"), faulted(25, 1, "skew")),
			nil, false, 46, "from 25ms to 46ms"},
		"and too fast, which it is still": {quorum, join(crash, faulted(12, 1, "skew by 5ms"),
			faulted(13, 1, "drift factor 2"), faulted(25, 1, "skew")), nil, false, 90, ""},
		"and neither any more": {quorum, join(crash, faulted(12, 1, "skew by 5ms"),
			faulted(13, 1, "drift factor 2"), faulted(25, 1, "skew"), faulted(26, 1, "drift")),
			nil, false, 47, "from 26ms to 47ms"},
		"off more and more, and right again": {quorum, join(crash, faulted(12, 1, "skew by 5ms"),
			faulted(13, 1, "skew by 6ms"), faulted(25, 1, "skew")), nil, false, 46, "from 25ms to 46ms"},
		"its clock died with it": {quorum, join(crash, faulted(12, 1, "skew by 5ms"), at(25, trace.Crash, 1)),
			nil, false, 46, "from 25ms to 46ms"},
		"of a fault unheard of": {quorum, join(crash, faulted(25, 1, "rain")), nil, false, 46,
			"from 25ms to 46ms"},
		"one who came back": {quorum, join(crash, at(11, trace.Crash, 1), at(12, trace.Crash, 2), back(13, 1)),
			nil, false, 90, "from 13ms to 90ms"},
		"who has to learn": {forgetful, join(crash, at(11, trace.Crash, 1), at(12, trace.Crash, 2), back(13, 1)),
			nil, false, 90, ""},
		"who has learnt": {forgetful, join(crash, at(11, trace.Crash, 1), at(12, trace.Crash, 2), back(13, 1),
			all(14, 3, 1)), nil, false, 90, "from 14ms to 90ms"},
		"who has, and links are cut": {forgetful, join(crash, at(11, trace.Crash, 1), back(13, 1),
			cut(14, "2|1 3 4")), nil, false, 90, ""},
		"asked to elect": {quorum, join(crash, at(25, trace.Elect, 1)), nil, false, 45, ""},
		"beyond its model": {quorum, join(crash), func(p *harness.Plan) { p.InModel = false }, false,
			90, ""},
		"a busy machine":  {quorum, join(crash, late), nil, true, 45, ""},
		"in simulation":   {quorum, join(crash, late), nil, false, 45, "from 10ms to 45ms"},
		"nobody suspects": {"election/test-suspicious", join(crash), nil, false, 90, ""},
		"no detector, and some of that": {"election/test-suspicious", join(crash, at(12, trace.Elected, 1, 0)),
			nil, false, 90, ""},
		"suspected": {"election/test-suspicious", join(crash, at(12, trace.Elected, 1, 0)),
			func(p *harness.Plan) { p.Detector = harness.PerfectDetector(ms1) }, false, 90, "from 12ms to 90ms"},
		"never suspects the living": {"election/test-suspicious",
			join(cut(10, "5|1 2 3 4"), at(12, trace.Elected, 1, 0)),
			func(p *harness.Plan) { p.Detector = harness.PerfectDetector(ms1) }, false, 90, ""},
		"no promise": {"election/test-restless", join(crash), nil, false, 90, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trial{id: test.id, nodes: 5, real: test.real, records: test.records,
				change: func(p *harness.Plan) {
					p.Leader = 5
					p.Scenario.Plot = &harness.Script{}
					if test.change != nil {
						test.change(p)
					}
				},
				end: harness.End{At: time.Duration(test.end) * ms1, Reason: harness.TimeLimit}}.judge(t)
			says := func(text string) bool { return strings.HasPrefix(text, liveness+": no leader (") }
			i := slices.IndexFunc(v.Violations, says)
			if (i >= 0) != (test.want != "") || i >= 0 && !strings.Contains(v.Violations[i], test.want) {
				t.Errorf("%s: %q, want %q", v.Status, v.Violations, test.want)
			}
		})
	}
}
