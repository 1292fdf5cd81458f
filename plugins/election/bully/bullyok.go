// bully-ok is the bully election as operating-system courses teach it, after
// Garcia-Molina (IEEE ToC 1982) and Tanenbaum: with the message OK, and with an
// announcement to everybody. Its rules are those of bully, primed where they differ.
//
// A process that misses the coordinator asks everybody of higher number. If
// nobody says OK within T it has won and announces itself to all others. If
// somebody does, that one takes the election over, and its own part ends. In
// the course's text it then waits forever: if all that said OK die before they
// announce themselves, no process leads. So here it waits for T' at most.

package bully

import (
	"errors"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/plugins/election/timeout"
)

func init() {
	algo.RegisterElector(algo.Spec{
		Name:    "bully-ok",
		Summary: "bully as taught: the sender of OK takes the election over, the winner tells all others",
		Paper: algo.Paper{
			Authors: "H. Garcia-Molina",
			Title:   "Elections in a distributed computing system",
			Venue:   "IEEE Transactions on Computers C-31(1), 48-59", Year: 1982,
			DOI: "10.1109/TC.1982.1675885",
			Deviations: "This is the textbook form (Tanenbaum and van Steen, section 6.5.1; lecture " +
				"notes), and messages are counted by it: all of higher number are asked at once, a " +
				"process that says OK holds an election of its own, and COORDINATOR goes to all others. " +
				"The paper's asks them in turn and stops at the first that answers, which holds none " +
				"because of that; a process that finds none HALTs all of lower number, announces itself, " +
				"and makes them READY: states Election, Reorganization and Normal are missing here. The " +
				"notes wait without bound after an OK (t_coordinator: 0); here it is for T', then the " +
				"election starts again. An OK names the attempt that it answers. A coordinator of lower " +
				"number that announces itself is bullied; if it does so within T after one of higher " +
				"number, a process that hears both holds an election: the two may be a race between a " +
				"process that came back and one that did not know of it.",
		},
		Messages: []algo.Message{Election{}, OK{}, Coordinator{}},
		Params: []algo.Param{
			{Name: "t_ok", Type: algo.Duration, Min: time.Duration(0),
				Doc:     "T, how long to wait for an OK; default 3d + 20 ms, d the largest latency",
				Default: timeout.RoundTrip},
			{Name: "t_coordinator", Type: algo.Duration, Min: time.Duration(0),
				Doc: "T', how long to wait for the announcement after an OK; 0: without limit, as in " +
					"lecture notes; default T + 3d + 20 ms",
				Default: timeout.RoundTripAfter("t_ok")},
		},
		Needs: algo.Needs{
			Synchrony: algo.Synchronous, Detector: algo.EventuallyPerfect, Params: timingOK,
		},
		Survives: algo.Faults{Crashes: func(n int, _ algo.Params) int { return n - 1 }, Recovery: true},
		Promises: algo.Promises{Announced: true, Leadership: algo.Eventual, Highest: true, Live: algo.Steady},
		Claims: []algo.Claim{{
			Metric: "messages/election", Load: "one begins", Source: algo.Derived,
			Text:  "N²-N when the lowest detects alone",
			Bound: algo.Exactly(func(n int) float64 { return float64(n*n - n) }),
		}, {
			Metric: "messages/election", Load: "best", Source: algo.Derived,
			Text:  "N when the second highest detects alone",
			Bound: algo.Exactly(func(n int) float64 { return float64(n) }),
		}},
		Breaks: "An OK that is later than T, or a partition, makes several coordinators. Late ones cost " +
			"messages, since each announces itself to all and is bullied by those of higher number. With " +
			"t_coordinator 0, the notes' text, all wait forever if those that said OK die.",
	}, NewOK)
}

// timingOK is T >= 2d and T' >= T + 2d.
func timingOK(net algo.Network, p algo.Params) error {
	if err := timeout.Covers(net, p, "t_ok"); err != nil {
		return err
	}
	if p.Duration("t_coordinator") == 0 {
		return errors.New("t_coordinator 0: waits forever if all that said OK die")
	}
	return timeout.CoversAfter(net, p, "t_ok", "t_coordinator")
}

// NewOK is New for this form.
func NewOK(c algo.Config) algo.Elector {
	return &node{
		Config: c, coordinator: c.Leader, ok: true, suppress: true,
		t: c.Params.Duration("t_ok"), tPrime: c.Params.Duration("t_coordinator"),
	}
}
