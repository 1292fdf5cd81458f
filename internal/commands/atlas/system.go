package atlas

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// What a system is given: its servers share a few processors, so that they are slower than the rest.
const (
	systemTimeOut = 100 * time.Millisecond
	systemBeat    = systemTimeOut / 5
)

// system appends the election among the servers of a system, which runs on real nodes, and the algorithm that
// predicts it, with the same times.
func (q *Request) system(list *[]surveyed, alg *algo.Algorithm, by algo.Service, size int) error {
	if q.Host == nil || alg.Problem != algo.Election {
		return answer.Mistaken("%s elects nobody here: name an election, as election/NAME", alg.ID)
	}
	if !slices.ContainsFunc(alg.Spec.Params, func(p algo.Param) bool { return p.Name == First }) {
		return answer.Mistaken("%s cannot have a server of choice lead at first, so no graph can be made "+
			"around that", alg.ID)
	}
	over := q.given(transport.NATS.Name, size)
	set := unlessGiven(&over)
	for _, pair := range [][2]string{{"nodes", "5"}, {"repetitions", "1"},
		{"network.latency", usualLatency.String()}, {"network.wire", "true"},
		{"params.heartbeat", systemBeat.String()}, {"params.election_timeout", systemTimeOut.String()},
		{"scenario", "{kind: script, until: 1s, events: []}"}} {
		set(pair[0], pair[1])
	}
	e, err := experiment.Build([]string{alg.ID}, "", over)
	if err != nil {
		return err
	}
	o := Options{Service: by, Seeds: e.Repetitions, Seed: e.Seed, Workers: 1, Heal: q.Heal}
	o.Run = func(ctx context.Context, p *harness.Plan) (v check.Verdict, err error) {
		for range tries {
			if v, err = q.Host(ctx, e, p); err != nil || v.Reason == "" {
				break
			}
		}
		return v, err
	}
	if err := q.add(list, e, o, size); err != nil {
		return err
	}
	(*list)[len(*list)-1].options.TimeOut = systemTimeOut
	return q.predicted(list, alg, by, size)
}

// tries is how often a trial is run that the machine has spoilt.
const tries = 5

// predicted appends the algorithm that predicts a system.
func (q *Request) predicted(list *[]surveyed, system *algo.Algorithm, by algo.Service, size int) error {
	p := system.Spec.Predicted
	if p == nil {
		return nil
	}
	alg, err := algo.Lookup("election/" + p.By)
	if err != nil {
		return err
	}
	kept, err := alg.Spec.SetOf(p.Set)
	if err != nil {
		return err
	}
	own := *q
	own.Params = nil // they are the system's
	over := own.given(transport.Sim.Name, size)
	set := unlessGiven(&over)
	params := algo.Params(kept.Params)
	if y := kept.System; y != nil {
		params = y.Choose(params, systemBeat, systemTimeOut, 0)
	}
	for name, v := range params {
		set("params."+name, fmt.Sprint(v))
	}
	for _, pair := range [][2]string{{"nodes", "5"}, {"repetitions", strconv.Itoa(usualRepetitions)},
		{"network.latency", usualLatency.String()},
		{"scenario", "{kind: script, leader: 1, until: 1s, events: []}"}} {
		set(pair[0], pair[1])
	}
	e, err := experiment.Build([]string{alg.ID}, "", over)
	if err != nil {
		return err
	}
	o := Options{Service: by, Seeds: e.Repetitions, Seed: e.Seed, Workers: q.Workers, Heal: q.Heal,
		Lockstep: q.Lockstep}
	if err := q.add(list, e, o, size); err != nil {
		return err
	}
	x := &(*list)[len(*list)-1]
	x.Label, x.predicts = x.Label+"-"+p.Set, system
	return nil
}

// furtherTrials are made of a graph in which a system did not fare as predicted. A machine that stands still
// for a moment has servers miss heartbeats, which the class of one trial cannot tell from what the graph
// does.
const furtherTrials = 2

// verify makes those trials.
func verify(ctx context.Context, list []surveyed) (err error) {
	for i := range list {
		if list[i].predicts == nil {
			continue
		}
		system := &list[i-1]
		system.further = map[int]Entry{}
		o := system.options
		o.Seeds, o.Seed, o.Progress = furtherTrials, o.Seed+1, nil
		for k := range system.Entries {
			if within(&system.Entries[k], &list[i].Entries[k]) {
				continue
			}
			made, err := Survey(ctx, system.plan, system.graphs[k:k+1], o)
			if err != nil {
				return err
			}
			system.further[k] = made[0]
		}
	}
	return nil
}

// predictions says in how many graphs each system fares as predicted, by most of its trials, and in which its
// trials differ from that.
func predictions(list []surveyed) (out []string) {
	for i := range list {
		x := &list[i]
		if x.predicts == nil {
			continue
		}
		system := &list[i-1]
		agree := 0
		var other []string
		for k := range x.Entries {
			foreseen := &x.Entries[k]
			trials := append(slices.Clone(system.Entries[k].Shares), system.further[k].Shares...)
			var classes []string
			as := 0
			for _, share := range trials {
				one := Entry{Shares: []float64{share}}
				classes = append(classes, one.Class().String())
				if within(&one, foreseen) {
					as++
				}
			}
			if 2*as > len(trials) {
				agree++
			}
			if as < len(trials) {
				other = append(other, fmt.Sprintf("%s in %v: %s; predicted %s", system.Label,
					&x.Entries[k].Graph, strings.Join(classes, ", "), foreseen.Class()))
			}
		}
		out = append(out, fmt.Sprintf("%s fares as %s predicts in %d of %s", system.Label, x.Label, agree,
			console.Plural(len(x.Entries), "graph", "graphs")))
		out = append(out, other...)
	}
	return out
}

// within says whether the class of what is real is that which is predicted, or one that some of the seeds of
// the prediction have: one trial cannot flap.
func within(real, foreseen *Entry) bool {
	serves, never := foreseen.Seeds()
	switch real.Class() {
	case foreseen.Class():
		return true
	case Serves:
		return serves > 0
	case Never:
		return never > 0
	}
	return foreseen.Class() == Flaps
}
