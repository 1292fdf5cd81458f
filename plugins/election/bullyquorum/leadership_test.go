package bullyquorum_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/plugins/election/bullyquorum"
)

type (
	receive struct {
		from algo.ID
		msg  algo.Message
	}
	timeout algo.Timer
	suspect algo.ID
	restore algo.ID
)

// TestRules feeds process 2 of five, which nobody leads, and looks at what the
// last event makes it do.
func TestRules(t *testing.T) {
	t.Parallel()
	alg := algotest.Lookup(t, id)
	params, _ := alg.Spec.Resolve(nil, algo.Network{Nodes: 5, Latency: ms, Bounded: true})
	round := func(k uint32) bullyquorum.Round { return bullyquorum.Round{Count: k} }
	reply := func(from algo.ID, k uint32, promised uint64, leader algo.ID) receive {
		return receive{from, bullyquorum.ProbeReply{Round: round(k), Promised: promised, Leader: leader}}
	}
	join := func(from algo.ID, promised uint64) receive {
		return receive{from, bullyquorum.Join{Promised: promised}}
	}
	claim := func(from algo.ID, term uint64) receive {
		return receive{from, bullyquorum.Claim{Term: term}}
	}
	ok := func(from algo.ID, term uint64) receive {
		return receive{from, bullyquorum.ClaimOK{Term: term}}
	}
	probe := func(from algo.ID, k uint32) receive {
		return receive{from, bullyquorum.Probe{Round: round(k)}}
	}
	elected := func(from algo.ID, term uint64, k uint32) receive {
		return receive{from, bullyquorum.Elected{Term: term, Round: round(k)}}
	}
	const (
		start  = "elected 0; PROBE to 1; PROBE to 3; PROBE to 4; PROBE to 5; cancel backoff; set T"
		settle = "; cancel T; cancel backoff; elected "
	)
	// 2 is the best of those that answer, and claims a term with 3 and 4.
	best := []any{"elect", reply(3, 1, 4, 0), reply(4, 1, 0, 0), timeout("T")}
	claims := then(best, join(3, 4), join(4, 0))
	leads := then(claims, ok(3, 5), ok(4, 5))
	for name, test := range map[string]struct {
		events []any
		want   string
	}{
		"rule 1":                    {[]any{"elect"}, start},
		"electing already":          {[]any{"elect", "elect"}, ""},
		"abdicate, but not leading": {[]any{"abdicate"}, ""},
		"probed without a leader":   {[]any{probe(3, 1)}, "PROBE_REPLY 0 of 0 to 3; " + start},
		"probed while probing":      {[]any{"elect", probe(3, 1)}, "PROBE_REPLY 0 of 0 to 3"},
		"probed while following": {
			[]any{elected(3, 1, 1), probe(4, 1)},
			"PROBE_REPLY 1 of 3 to 4"},
		"by the leader": {
			[]any{elected(3, 1, 1), probe(3, 2)},
			"PROBE_REPLY 1 of 0 to 3; " + start},
		"by it, before it was elected": {
			[]any{elected(3, 1, 1), probe(3, 1)},
			"PROBE_REPLY 1 of 3 to 3"},
		"no quorum answers": {
			[]any{"elect", reply(3, 1, 0, 0), timeout("T")},
			"set backoff"},
		"one of them twice": {
			[]any{"elect", reply(3, 1, 0, 0), reply(3, 1, 0, 0), timeout("T")},
			"set backoff"},
		"one in answer to an earlier round": {
			[]any{"elect", timeout("T"), timeout("backoff"), reply(1, 1, 0, 0), reply(3, 2, 0, 0),
				timeout("T")},
			"set backoff"},
		"a better one answers": {
			[]any{"elect", reply(4, 1, 0, 0), reply(1, 1, 0, 0), timeout("T")}, "set backoff; JOIN 0 to 1"},
		"a leader answers": {
			[]any{"elect", reply(1, 1, 9, 0), reply(4, 1, 1, 4), timeout("T")}, "set backoff; FOLLOW to 4"},
		"two leaders answer": {
			[]any{"elect", reply(4, 1, 3, 4), reply(5, 1, 7, 5), reply(1, 1, 1, 1), timeout("T")},
			"set backoff; FOLLOW to 5"},
		"a follower of somebody out of reach": {
			[]any{"elect", reply(3, 1, 1, 5), reply(4, 1, 1, 5), timeout("T")}, "set backoff"},
		"joined by too few":  {then(best, join(3, 4)), ""},
		"by one twice":       {then(best, join(3, 4), join(3, 4)), ""},
		"joined by a quorum": {claims, "save 5; CLAIM 5 to 3; CLAIM 5 to 4"},
		"before T is over": {
			[]any{"elect", join(3, 4), join(4, 0), reply(3, 1, 0, 0), reply(4, 1, 0, 0), timeout("T")},
			"set backoff; save 5; CLAIM 5 to 3; CLAIM 5 to 4"},
		"and then another": {then(claims, join(5, 0)), "CLAIM 5 to 5"},
		"by a quorum of another round": {
			then(best, join(3, 4), timeout("backoff"), reply(3, 2, 0, 0), reply(4, 2, 0, 0),
				timeout("T"), join(4, 0)),
			""},
		"not the best": {
			[]any{"elect", join(3, 0), join(4, 0), reply(1, 1, 0, 0), reply(4, 1, 0, 0),
				timeout("T"), join(5, 0)},
			""},
		"too few promise":            {then(claims, ok(3, 5)), ""},
		"one of them twice promises": {then(claims, ok(3, 5), ok(3, 5)), ""},
		"another term":               {then(claims, ok(3, 5), ok(4, 4)), ""},
		"a quorum promises": {
			leads,
			settle[2:] + "2 in 5; ELECTED 5 to 3; ELECTED 5 to 4"},
		"and then the rest": {then(leads, ok(5, 5)), ""},
		"who came back meanwhile is told as well, and once": {
			then(claims, suspect(1), restore(1), suspect(3), restore(3), ok(3, 5), ok(4, 5)),
			settle[2:] + "2 in 5; ELECTED 5 to 3; ELECTED 5 to 4; ELECTED 5 to 1"},
		"but not in a round before": {
			then(best, suspect(1), restore(1), timeout("backoff"), reply(3, 2, 4, 0), reply(4, 2, 0, 0),
				timeout("T"), join(3, 4), join(4, 0), ok(3, 5), ok(4, 5)),
			settle[2:] + "2 in 5; ELECTED 5 to 3; ELECTED 5 to 4"},
		"who joins later": {then(leads, join(5, 0)), "ELECTED 5 to 5"},
		"who follows": {
			then(leads, receive{5, bullyquorum.Follow{}}),
			"ELECTED 5 to 5"},
		"who follows one that does not lead": {then(best, receive{5, bullyquorum.Follow{}}), ""},
		"who comes back":                     {then(leads, suspect(1), restore(1)), "ELECTED 5 to 1"},
		"one comes back to one that has led": {
			then(leads, "abdicate", suspect(1), restore(1)),
			"PROBE to 1"},
		"or not":              {[]any{"elect", suspect(1), restore(1)}, ""},
		"to one that waits":   {[]any{suspect(1), restore(1)}, start},
		"to one that follows": {[]any{elected(3, 1, 1), suspect(1), restore(1)}, ""},
		"to one that leads again": {
			then(leads, "abdicate", reply(3, 2, 5, 0), reply(4, 2, 5, 0), timeout("T"),
				join(3, 5), join(4, 5), ok(3, 6), ok(4, 6), suspect(1), restore(1)),
			"ELECTED 6 to 1"},
		"a minority is lost": {then(leads, suspect(1), suspect(5), suspect(5)), ""},
		"the quorum is lost": {
			then(leads, suspect(1), suspect(5), suspect(4)),
			start},
		"the quorum is not lost": {
			then(leads, suspect(1), suspect(5), restore(1), suspect(4)),
			""},
		"abdicate": {then(leads, "abdicate"), start},
		"a claim": {
			[]any{"elect", claim(3, 1)},
			"save 1; CLAIM_OK 1 to 3"},
		"of a term that is promised": {[]any{"elect", claim(3, 1), claim(4, 1)}, ""},
		"of a newer one": {
			[]any{"elect", claim(3, 1), claim(4, 2)},
			"save 2; CLAIM_OK 2 to 4"},
		"at a follower":            {[]any{elected(3, 1, 1), claim(4, 7)}, ""},
		"at one who claims itself": {then(claims, claim(1, 6), ok(3, 5), ok(4, 5)), ""},
		"who then claims again": {
			then(claims, claim(1, 6), join(5, 0)),
			"save 7; CLAIM 7 to 3; CLAIM 7 to 4; CLAIM 7 to 5"},
		"elected": {
			[]any{"elect", elected(3, 1, 1)},
			"save 1" + settle + "3 in 1"},
		"elected again":              {[]any{elected(3, 1, 1), elected(3, 1, 1)}, ""},
		"another operation":          {then(leads, "frobnicate"), ""},
		"elected, of an older term":  {[]any{elected(3, 2, 1), elected(4, 1, 1)}, ""},
		"one who leads an older one": {then(leads, elected(1, 4, 1)), "ELECTED 5 to 1"},
		"the same":                   {then(leads, elected(1, 5, 1)), ""},
		"one who leads a newer one": {
			then(leads, elected(3, 7, 1)),
			"save 7" + settle + "3 in 7; PROBE to 1; PROBE to 3; PROBE to 4; PROBE to 5"},
		"and then one comes back": {then(leads, elected(3, 7, 1), suspect(1), restore(1)), "PROBE to 1"},
		"of a newer term": {
			[]any{elected(3, 1, 1), elected(4, 2, 1)},
			"save 2" + settle + "4 in 2"},
		"less than promised, but back": {
			[]any{elected(3, 1, 1), suspect(3), restore(3), claim(4, 7), elected(3, 1, 1)},
			settle[2:] + "3 in 1"},
		"overtaken by its end":    {[]any{"elect", probe(3, 2), elected(3, 1, 1)}, ""},
		"of one who is suspected": {[]any{"elect", suspect(3), elected(3, 1, 1)}, ""},
		"the leader is suspected": {[]any{elected(3, 1, 1), suspect(3)}, start},
		"another is":              {[]any{elected(3, 1, 1), suspect(4)}, ""},
	} {
		s := algo.NewStepper(alg, algo.Config{
			ID: 2, Peers: []algo.ID{1, 2, 3, 4, 5}, Neighbors: []algo.ID{1, 2, 3, 4, 5}, Params: params,
		}, 1, &algo.Buffer{})
		got := ""
		for _, e := range test.events {
			got = told(s.Step(0, turn(e)))
			if err := s.Invariant(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, test.want)
		}
	}
}

// TestFirstLeader: who leads from the start has led as well.
func TestFirstLeader(t *testing.T) {
	t.Parallel()
	s := algotest.NewSolo(t, id, 3, 3, 3, 0, nil)
	s.Want(0, algo.Event{Type: algo.Start}, "saves")
	s.Want(0, algo.Event{Type: algo.Do, Op: "abdicate"}, "leader=0 PROBE>1 PROBE>2 -backoff T=23ms")
	s.Want(0, turn(suspect(1)), "")
	s.Want(0, turn(restore(1)), "PROBE>1")
}

// TestFormerLife: a process that comes back may have led, and says that it does
// not to one that comes back to it.
func TestFormerLife(t *testing.T) {
	t.Parallel()
	alg := algotest.Lookup(t, id)
	params, _ := alg.Spec.Resolve(nil, algo.Network{Nodes: 5, Latency: ms, Bounded: true})
	s := algo.NewStepper(alg, algo.Config{
		ID: 2, Peers: []algo.ID{1, 2, 3, 4, 5}, Neighbors: []algo.ID{1, 2, 3, 4, 5}, Params: params,
		Incarnation: 1, Saved: bullyquorum.Promise{Term: 4},
	}, 1, &algo.Buffer{})
	s.Step(0, algo.Event{Type: algo.Start})
	s.Step(0, turn(suspect(1)))
	if got := told(s.Step(0, turn(restore(1)))); got != "PROBE to 1" {
		t.Errorf("got %q, want PROBE to 1", got)
	}
}

// then is what follows events.
func then(events []any, more ...any) []any {
	return append(events[:len(events):len(events)], more...)
}

// turn makes an event of what stands in the table.
func turn(e any) algo.Event {
	switch e := e.(type) {
	case receive:
		return algo.Event{Type: algo.Receive, Peer: e.from, Msg: e.msg}
	case timeout:
		return algo.Event{Type: algo.Timeout, Timer: algo.Timer(e)}
	case suspect:
		return algo.Event{Type: algo.Suspect, Peer: algo.ID(e)}
	case restore:
		return algo.Event{Type: algo.Restore, Peer: algo.ID(e)}
	}
	if e == "elect" {
		return algo.Event{Type: algo.Elect}
	}
	return algo.Event{Type: algo.Do, Op: e.(string)}
}

// told is the effects in words.
func told(effects []algo.Effect) string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, e := range effects {
		switch e.Op {
		case algo.OpElected:
			if say("elected %d", e.Peer); e.Term > 0 {
				out[len(out)-1] += fmt.Sprintf(" in %d", e.Term)
			}
		case algo.OpSetTimer:
			say("set %s", e.Timer)
		case algo.OpCancelTimer:
			say("cancel %s", e.Timer)
		case algo.OpSave:
			say("save %d", e.Msg.(bullyquorum.Promise).Term)
		case algo.OpSend:
			what := ""
			switch m := e.Msg.(type) {
			case bullyquorum.ProbeReply:
				what = fmt.Sprintf(" %d of %d", m.Promised, m.Leader)
			case bullyquorum.Join:
				what = fmt.Sprintf(" %d", m.Promised)
			case bullyquorum.Claim:
				what = fmt.Sprintf(" %d", m.Term)
			case bullyquorum.ClaimOK:
				what = fmt.Sprintf(" %d", m.Term)
			case bullyquorum.Elected:
				what = fmt.Sprintf(" %d", m.Term)
			}
			say("%s%s to %d", e.Msg.Kind(), what, e.Peer)
		}
	}
	return strings.Join(out, "; ")
}
