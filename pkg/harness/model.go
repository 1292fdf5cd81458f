package harness

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/fault"
)

// Beyond says, a sentence each, in what the plan goes beyond what its algorithm needs and
// survives: in what happens to it, and in its parameters. What breaks there is a finding, not
// an error of the algorithm.
func (p *Plan) Beyond() (faults, params []string) {
	a, err := algo.Lookup(p.Algorithm)
	if err != nil {
		return []string{err.Error()}, nil
	}
	net := p.Known()
	if err := timing(&a.Spec.Needs, net, p.Params); err != nil {
		params = []string{err.Error()}
	}
	return p.beyond(a, net), params
}

// beyond is what Beyond says of everything but the parameters.
func (p *Plan) beyond(a *algo.Algorithm, net algo.Network) (why []string) {
	needs, survives := &a.Spec.Needs, &a.Spec.Survives
	say := func(ok bool, format string, args ...any) {
		if !ok {
			why = append(why, fmt.Sprintf(format, args...))
		}
	}
	hazard := func(cause string, ok bool, what string) {
		say(cause == "" || ok, "%s (%s)", what, cause)
	}
	h := p.hazards()
	hazard(*h.of(fault.Loss), survives.Loss, "does not survive message loss")
	say(p.Network.Duplication == 0 || p.Network.Wire || survives.Duplication,
		"does not survive duplicated messages (network.duplication %v)",
		decimal(p.Network.Duplication))
	hazard(*h.of(fault.Duplication), survives.Duplication, "does not survive duplicated messages")
	hazard(*h.of(fault.Partition), survives.Partition, "does not survive a partition")
	why = append(why, p.unconnected(&a.Spec, *h.of(fault.Partition))...)
	most, down := survives.CrashesOf(p.Nodes, p.Params), p.down(&a.Spec)
	say(down <= most, "survives %d of %d processes crashed, not %d%s", most, p.Nodes, down,
		unlike(most, survives.CrashesOf(p.Nodes, a.Spec.Defaults(net))))
	anchor := survives.AnchorOf(p.Params)
	say(anchor == algo.None || !p.lost(anchor), "does not survive that process %d, which the others "+
		"need, crashes forever", anchor)
	say(anchor == algo.None || anchor != p.Leader, "process %d, which the others need, does not lead, "+
		"but the scenario makes it lead", anchor)
	hazard(*h.of(fault.Recovery), survives.Recovery, "does not survive the return of a crashed process")
	say(!p.Network.Unordered || p.Network.Wire || !needs.FIFO, "needs FIFO links (network.order unordered)")
	synchronous := needs.Synchrony == algo.Synchronous
	latency := "latency " + p.Network.Latency.Distribution()
	if p.Network.AtMost > 0 {
		latency = "at_most is no promise"
	}
	if p.Network.Wire {
		latency = "wire: TCP sends again what is lost"
	}
	say(!synchronous || net.Bounded, "is synchronous, and the latency is unbounded (network.%s)", latency)
	hazard(*h.of(fault.LinkDelay), !synchronous, "is synchronous, and a latency is larger than d for a while")
	hazard(*h.of(fault.Speed), !synchronous, "is synchronous, and processes stand still or slow down")
	hazard(*h.of(fault.ClockRates), !synchronous, "is synchronous, and a clock runs at a rate of its own")
	hazard(*h.of(fault.ClockReads), !synchronous, "is synchronous, and a clock is off")
	hazard(*h.of(fault.Storage), false, "does not survive that what it wrote is gone")
	have := p.Detector.Class()
	// In a script the suspicions are lines of the script.
	say(have >= needs.Detector || p.Scenario.Declared().Scripted && have == algo.NoDetector,
		"needs a detector that is %s (detector.kind %s)", needs.Detector, p.Detector.Kind())
	say(!p.Detector.LeaderOnly() || needs.Detector == algo.NoDetector,
		"needs a detector that is %s of all, not of the leader alone (detector.scope leader)",
		needs.Detector)
	return why
}

// unlike says that it is the parameters that change how many crashes are survived.
func unlike(most, usual int) string {
	if most == usual {
		return ""
	}
	return fmt.Sprintf(" (with these parameters; with the defaults %d)", usual)
}

// hazards is which assumptions a plan breaks: of each, where the experiment first says so.
type hazards [16]string

func (h *hazards) of(a fault.Assumption) *string { return &h[bits.TrailingZeros16(uint16(a))] }

// Parted is where the plan first says that links are cut; "": nowhere.
func (p *Plan) Parted() string {
	h := p.hazards()
	return *h.of(fault.Partition)
}

func (p *Plan) hazards() (h hazards) {
	note := func(a fault.Assumption, cause string, is bool) {
		if at := h.of(a); is && *at == "" {
			*at = cause
		}
	}
	if !p.Network.Wire { // else packets are lost, and messages are late
		note(fault.Loss, "network.loss "+decimal(p.Network.Loss), p.Network.Loss > 0)
		note(fault.Loss, "bursts of network.loss", p.Network.LossRate() > 0)
		note(fault.Loss, "network.links", p.Network.Loses())
	}
	does := p.Scenario.Does()
	d, _ := p.Network.Bound()
	for _, e := range does.Happens(p, p.Scenario.Settle()) {
		for a := range e.Broken(d).Each() {
			note(a, "scenario "+p.Scenario.Kind(), true)
		}
	}
	cause := does.Returns()
	note(fault.Recovery, cause, cause != "")
	if down := &p.Faults.Downtime; p.Faults.CrashRate > 0 && down.Law != nil {
		note(fault.Recovery, "faults.downtime "+down.Literal(), true)
	}
	each := func(where string, events []Event) {
		for i := range events {
			e := &events[i]
			for a := range e.Broken(d).Each() {
				if at := h.of(a); *at == "" {
					*at = where + " " + e.Do
				}
			}
		}
	}
	each("scenario", does.Lines())
	each("faults", p.Faults.Events)
	return h
}

// lost says whether q may crash and never come back.
func (p *Plan) lost(q algo.ID) bool {
	all := slices.Concat(p.Scenario.Does().Lines(), p.Faults.Events)
	back := func(from time.Duration) bool { // after all crashes from then on that are for good
		return slices.ContainsFunc(all, func(e Event) bool {
			return e.Do == fault.Restart && e.At >= from && (e.Node == q || slices.Contains(e.Nodes, q) ||
				e.Node == algo.None && e.Nodes == nil)
		})
	}
	if p.Faults.CrashRate > 0 && p.Faults.Downtime.Law == nil ||
		slices.Contains(p.Crashed, q) && !back(0) {
		return true
	}
	return slices.ContainsFunc(all, func(e Event) bool {
		return e.Do == fault.Crash && e.For == 0 && !back(e.At) &&
			(e.Node == q || slices.Contains(e.Nodes, q) || e.Who != "" && e.Who != "leader")
	})
}

// strikes is how often an event happens at most before what it did the first time is
// undone. What waits for a trigger and is undone after a while is undone before the next.
func strikes(e *Event) int {
	switch {
	case e.On != "" && e.For > 0:
		return 1
	case e.Every > 0 && e.For > 0:
		overlap := int((e.For + e.Every - 1) / e.Every)
		return min(overlap, cmp.Or(e.Times, overlap))
	case e.Times > 0:
		return e.Times
	case e.Every > 0 || e.Rate > 0:
		return math.MaxInt
	}
	return 1
}

// victims is how many of n processes a word stands for.
func victims(who string, n int) int {
	if c := fault.Choices.Named(who); c != nil && c.Size != nil {
		return c.Size(n)
	}
	return 1
}

// timing asks the Spec about the time-outs, of each process where they differ.
func timing(needs *algo.Needs, net algo.Network, params algo.Params) error {
	if needs.Params == nil {
		return nil
	}
	differ := false
	for _, v := range params {
		_, isList := v.([]any)
		differ = differ || isList
	}
	if !differ {
		return needs.Params(net, params)
	}
	for id := range algo.ID(net.Nodes) {
		if err := needs.Params(net, params.Of(id+1)); err != nil {
			return fmt.Errorf("process %d: %w", id+1, err)
		}
	}
	return nil
}

// MostDown is how many processes can be down at once by crashes at a rate.
func (p *Plan) MostDown() int {
	if p.Faults.MaxDown > 0 {
		return p.Faults.MaxDown
	}
	return (p.Nodes - 1) / 2
}

// decimal writes a number in plain decimal digits.
func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
