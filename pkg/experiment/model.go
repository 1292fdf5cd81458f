package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// outOfModel says, a sentence each, in what a plan goes beyond what the
// algorithm needs and survives. What breaks there is a finding, not an error of
// the algorithm.
func outOfModel(a *algo.Algorithm, p *harness.Plan, net algo.Network) []string {
	why := beyond(a, p, net)
	if err := timing(&a.Spec.Needs, net, p.Params); err != nil {
		why = append(why, err.Error())
	}
	return why
}

// Beyond is outOfModel of a plan from elsewhere: faults is what goes beyond the
// algorithm's model in what happens to it, and params what does in its parameters.
func Beyond(p *harness.Plan) (faults, params []string) {
	a, err := algo.Lookup(p.Algorithm)
	if err != nil {
		return []string{err.Error()}, nil
	}
	net := p.Known()
	if err := timing(&a.Spec.Needs, net, p.Params); err != nil {
		params = []string{err.Error()}
	}
	return beyond(a, p, net), params
}

// beyond is what outOfModel says of everything but the parameters.
func beyond(a *algo.Algorithm, p *harness.Plan, net algo.Network) (why []string) {
	needs, survives := &a.Spec.Needs, &a.Spec.Survives
	say := func(ok bool, format string, args ...any) {
		if !ok {
			why = append(why, fmt.Sprintf(format, args...))
		}
	}
	hazard := func(cause string, ok bool, what string) {
		say(cause == "" || ok, "%s (%s)", what, cause)
	}
	h := hazardsOf(p)
	hazard(h.loss, survives.Loss, "does not survive message loss")
	say(p.Network.Duplication == 0 || survives.Duplication,
		"does not survive duplicated messages (network.duplication %v)",
		config.FormatFloat(p.Network.Duplication))
	hazard(h.cut, survives.Partition, "does not survive a partition")
	most, crashes := survives.CrashesOf(p.Nodes, p.Params), crashes(p)
	say(crashes <= most, "survives %d of %d processes crashed, not %d%s", most, p.Nodes, crashes,
		unlike(most, survives.CrashesOf(p.Nodes, a.Spec.Defaults(net))))
	hazard(h.back, survives.Recovery, "does not survive the return of a crashed process")
	say(!p.Network.Unordered || !needs.FIFO, "needs FIFO links (network.order unordered)")
	synchronous := needs.Synchrony == algo.Synchronous
	say(!synchronous || net.Bounded, "is synchronous, and the latency is unbounded (network.latency %s)",
		p.Network.Latency.Distribution)
	hazard(h.late, !synchronous, "is synchronous, and a latency is larger than d for a while")
	hazard(h.slow, !synchronous, "is synchronous, and processes stand still or slow down")
	have := p.Detector.Class()
	// In a script the suspicions are lines of the script.
	say(have >= needs.Detector || p.Scenario.Kind == harness.Script && p.Detector.Kind == "none",
		"needs a detector that is %s (detector.kind %s)", needs.Detector, p.Detector.Kind)
	say(!p.Detector.LeaderOnly || needs.Detector == algo.NoDetector,
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

// hazards is what a plan does to processes and links: of each sort, where the
// experiment first says so; "": nowhere.
type hazards struct{ loss, cut, back, late, slow string }

func hazardsOf(p *harness.Plan) (h hazards) {
	note := func(to *string, cause string, is bool) {
		if is && *to == "" {
			*to = cause
		}
	}
	s := &p.Scenario
	note(&h.loss, "network.loss "+config.FormatFloat(p.Network.Loss), p.Network.Loss > 0)
	note(&h.loss, "bursts of network.loss", p.Network.LossRate() > 0)
	note(&h.cut, "scenario partition", s.Kind == harness.Partition)
	note(&h.back, "scenario leader-restart", s.Kind == harness.LeaderReturn)
	note(&h.back, fmt.Sprintf("scenario.elections %d", s.Elections),
		s.Kind == harness.LeaderCrash && s.Elections > 1)
	note(&h.back, "faults.downtime "+downtimeType().Write(p.Faults.Downtime).Bare(),
		p.Faults.CrashRate > 0 && p.Faults.Downtime.Distribution != "")
	d, _ := p.Network.Latency.Bound()
	each := func(where string, events []harness.Event) {
		for i := range events {
			e := &events[i]
			cause := where + " " + e.Do
			note(&h.cut, cause, e.Do == harness.DoCut)
			note(&h.loss, cause, e.Do == harness.DoDrop || e.Loss != nil && *e.Loss > 0)
			note(&h.back, cause, e.Do == harness.DoRestart || e.Do == harness.DoCrash && e.For > 0)
			note(&h.slow, cause, e.Do == harness.DoPause || e.Do == harness.DoSlow)
			note(&h.late, cause, e.Latency != nil && above(e.Latency, d))
		}
	}
	each("scenario", s.Events)
	each("faults", p.Faults.Events)
	return h
}

// above says whether a latency can be larger than d.
func above(l *link.Latency, d time.Duration) bool {
	most, bounded := l.Bound()
	return !bounded || most > d
}

// crashes is how many processes are down at once for all that is known: those that
// are named, one for each time that one is chosen and not back before the next, and by
// a rate as many as it may take down. Who stands still and is never resumed is as good as crashed.
func crashes(p *harness.Plan) int {
	down := map[algo.ID]bool{}
	for _, q := range p.Crashed {
		down[q] = true
	}
	chosen := 0
	if p.Scenario.Kind == harness.LeaderCrash {
		chosen++
	}
	if p.Faults.CrashRate > 0 {
		chosen += mostDown(p)
	}
	all := slices.Concat(p.Scenario.Events, p.Faults.Events)
	resumed := slices.ContainsFunc(all, func(e harness.Event) bool { return e.Do == harness.DoResume })
	for i := range all {
		e := &all[i]
		if e.Do != harness.DoCrash && (e.Do != harness.DoPause || e.For > 0 || resumed) {
			continue
		}
		for _, q := range slices.Concat(e.Nodes, []algo.ID{e.Node}) {
			down[q] = q != algo.None
		}
		if e.Who != "" {
			chosen += min(strikes(e), p.Nodes) * victims(e.Who, p.Nodes)
		}
	}
	delete(down, algo.None)
	return min(len(down)+chosen, p.Nodes)
}

// strikes is how often an event happens at most before what it did the first time is
// undone.
func strikes(e *harness.Event) int {
	switch {
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
	switch who {
	case "all":
		return n
	case "majority":
		return n/2 + 1
	case "minority":
		return (n - 1) / 2
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
