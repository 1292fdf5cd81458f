package bullyquorum_test

import (
	"fmt"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/plugins/election/bullyquorum"
)

var (
	suspect = algotest.Suspected
	restore = algotest.Restored
)

// TestRules feeds process 2 of five, which nobody leads, and looks at what the
// last event makes it do.
func TestRules(t *testing.T) {
	t.Parallel()
	s := algotest.NewSituations(t, id, 5, algo.Config{ID: 2}, nil, contents)
	elect, abdicate := algo.Event{Type: algo.Elect}, algotest.Commanded("abdicate")
	timeout, then := algotest.Expire, algotest.Then
	round := func(k uint32) bullyquorum.Round { return bullyquorum.Round{Count: k} }
	reply := func(from algo.ID, k uint32, promised uint64, leader algo.ID) algo.Event {
		return algotest.Hear(from, bullyquorum.ProbeReply{Round: round(k), Promised: promised, Leader: leader})
	}
	join := func(from algo.ID, promised uint64) algo.Event {
		return algotest.Hear(from, bullyquorum.Join{Promised: promised})
	}
	claim := func(from algo.ID, term uint64) algo.Event {
		return algotest.Hear(from, bullyquorum.Claim{Term: term})
	}
	ok := func(from algo.ID, term uint64) algo.Event {
		return algotest.Hear(from, bullyquorum.ClaimOK{Term: term})
	}
	probe := func(from algo.ID, k uint32) algo.Event {
		return algotest.Hear(from, bullyquorum.Probe{Round: round(k)})
	}
	elected := func(from algo.ID, term uint64, k uint32) algo.Event {
		return algotest.Hear(from, bullyquorum.Elected{Term: term, Round: round(k)})
	}
	const (
		start  = "elected 0; PROBE to 1; PROBE to 3; PROBE to 4; PROBE to 5; cancel backoff; set T"
		settle = "; cancel T; cancel backoff; elected "
	)
	// 2 is the best of those that answer, and claims a term with 3 and 4.
	best := []algo.Event{elect, reply(3, 1, 4, 0), reply(4, 1, 0, 0), timeout("T")}
	claims := then(best, join(3, 4), join(4, 0))
	leads := then(claims, ok(3, 5), ok(4, 5))
	for name, test := range map[string]struct {
		events []algo.Event
		want   string
	}{
		"rule 1":                    {[]algo.Event{elect}, start},
		"electing already":          {[]algo.Event{elect, elect}, ""},
		"abdicate, but not leading": {[]algo.Event{abdicate}, ""},
		"probed without a leader":   {[]algo.Event{probe(3, 1)}, "PROBE_REPLY 0 of 0 to 3; " + start},
		"probed while probing":      {[]algo.Event{elect, probe(3, 1)}, "PROBE_REPLY 0 of 0 to 3"},
		"probed while following": {
			[]algo.Event{elected(3, 1, 1), probe(4, 1)},
			"PROBE_REPLY 1 of 3 to 4"},
		"by the leader": {
			[]algo.Event{elected(3, 1, 1), probe(3, 2)},
			"PROBE_REPLY 1 of 0 to 3; " + start},
		"by it, before it was elected": {
			[]algo.Event{elected(3, 1, 1), probe(3, 1)},
			"PROBE_REPLY 1 of 3 to 3"},
		"no quorum answers": {
			[]algo.Event{elect, reply(3, 1, 0, 0), timeout("T")},
			"set backoff"},
		"one of them twice": {
			[]algo.Event{elect, reply(3, 1, 0, 0), reply(3, 1, 0, 0), timeout("T")},
			"set backoff"},
		"one in answer to an earlier round": {
			[]algo.Event{elect, timeout("T"), timeout("backoff"), reply(1, 1, 0, 0), reply(3, 2, 0, 0),
				timeout("T")},
			"set backoff"},
		"a better one answers": {
			[]algo.Event{elect, reply(4, 1, 0, 0), reply(1, 1, 0, 0), timeout("T")}, "set backoff; JOIN 0 to 1"},
		"a leader answers": {
			[]algo.Event{elect, reply(1, 1, 9, 0), reply(4, 1, 1, 4), timeout("T")}, "set backoff; FOLLOW to 4"},
		"two leaders answer": {
			[]algo.Event{elect, reply(4, 1, 3, 4), reply(5, 1, 7, 5), reply(1, 1, 1, 1), timeout("T")},
			"set backoff; FOLLOW to 5"},
		"a follower of somebody out of reach": {
			[]algo.Event{elect, reply(3, 1, 1, 5), reply(4, 1, 1, 5), timeout("T")}, "set backoff"},
		"joined by too few":  {then(best, join(3, 4)), ""},
		"by one twice":       {then(best, join(3, 4), join(3, 4)), ""},
		"joined by a quorum": {claims, "save 5; elected 0 in 5; CLAIM 5 to 3; CLAIM 5 to 4"},
		"before T is over": {
			[]algo.Event{elect, join(3, 4), join(4, 0), reply(3, 1, 0, 0), reply(4, 1, 0, 0), timeout("T")},
			"set backoff; save 5; elected 0 in 5; CLAIM 5 to 3; CLAIM 5 to 4"},
		"and then another": {then(claims, join(5, 0)), "CLAIM 5 to 5"},
		"by a quorum of another round": {
			then(best, join(3, 4), timeout("backoff"), reply(3, 2, 0, 0), reply(4, 2, 0, 0),
				timeout("T"), join(4, 0)),
			""},
		"not the best": {
			[]algo.Event{elect, join(3, 0), join(4, 0), reply(1, 1, 0, 0), reply(4, 1, 0, 0),
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
			then(leads, algotest.Hear(5, bullyquorum.Follow{})),
			"ELECTED 5 to 5"},
		"who follows one that does not lead": {then(best, algotest.Hear(5, bullyquorum.Follow{})), ""},
		"who comes back":                     {then(leads, suspect(1), restore(1)), "ELECTED 5 to 1"},
		"one comes back to one that has led": {
			then(leads, abdicate, suspect(1), restore(1)),
			"PROBE to 1"},
		"or not":              {[]algo.Event{elect, suspect(1), restore(1)}, ""},
		"to one that waits":   {[]algo.Event{suspect(1), restore(1)}, start},
		"to one that follows": {[]algo.Event{elected(3, 1, 1), suspect(1), restore(1)}, ""},
		"to one that leads again": {
			then(leads, abdicate, reply(3, 2, 5, 0), reply(4, 2, 5, 0), timeout("T"),
				join(3, 5), join(4, 5), ok(3, 6), ok(4, 6), suspect(1), restore(1)),
			"ELECTED 6 to 1"},
		"a minority is lost": {then(leads, suspect(1), suspect(5), suspect(5)), ""},
		"the quorum is lost": {
			then(leads, suspect(1), suspect(5), suspect(4)),
			start},
		"the quorum is not lost": {
			then(leads, suspect(1), suspect(5), restore(1), suspect(4)),
			""},
		"abdicate": {then(leads, abdicate), start},
		"a claim": {
			[]algo.Event{elect, claim(3, 1)},
			"save 1; CLAIM_OK 1 to 3"},
		"of a term that is promised": {[]algo.Event{elect, claim(3, 1), claim(4, 1)}, ""},
		"of a newer one": {
			[]algo.Event{elect, claim(3, 1), claim(4, 2)},
			"save 2; CLAIM_OK 2 to 4"},
		"at a follower":            {[]algo.Event{elected(3, 1, 1), claim(4, 7)}, ""},
		"at one who claims itself": {then(claims, claim(1, 6), ok(3, 5), ok(4, 5)), ""},
		"who then claims again": {
			then(claims, claim(1, 6), join(5, 0)),
			"save 7; elected 0 in 7; CLAIM 7 to 3; CLAIM 7 to 4; CLAIM 7 to 5"},
		"elected": {
			[]algo.Event{elect, elected(3, 1, 1)},
			"save 1" + settle + "3 in 1"},
		"elected again":              {[]algo.Event{elected(3, 1, 1), elected(3, 1, 1)}, ""},
		"another operation":          {then(leads, algotest.Commanded("frobnicate")), ""},
		"elected, of an older term":  {[]algo.Event{elected(3, 2, 1), elected(4, 1, 1)}, ""},
		"one who leads an older one": {then(leads, elected(1, 4, 1)), "ELECTED 5 to 1"},
		"the same":                   {then(leads, elected(1, 5, 1)), ""},
		"one who leads a newer one": {
			then(leads, elected(3, 7, 1)),
			"save 7" + settle + "3 in 7; PROBE to 1; PROBE to 3; PROBE to 4; PROBE to 5"},
		"and then one comes back": {then(leads, elected(3, 7, 1), suspect(1), restore(1)), "PROBE to 1"},
		"of a newer term": {
			[]algo.Event{elected(3, 1, 1), elected(4, 2, 1)},
			"save 2" + settle + "4 in 2"},
		"less than promised, but back": {
			[]algo.Event{elected(3, 1, 1), suspect(3), restore(3), claim(4, 7), elected(3, 1, 1)},
			settle[2:] + "3 in 1"},
		"overtaken by its end":    {[]algo.Event{elect, probe(3, 2), elected(3, 1, 1)}, ""},
		"of one who is suspected": {[]algo.Event{elect, suspect(3), elected(3, 1, 1)}, ""},
		"the leader is suspected": {[]algo.Event{elected(3, 1, 1), suspect(3)}, start},
		"another is":              {[]algo.Event{elected(3, 1, 1), suspect(4)}, ""},
	} {
		s.Want(name, test.events, test.want)
	}
}

// TestFirstLeader: who leads from the start has led as well.
func TestFirstLeader(t *testing.T) {
	t.Parallel()
	s := algotest.NewSolo(t, id, 3, 3, 3, 0, nil)
	s.Want(0, algo.Event{Type: algo.Start}, "saves")
	s.Want(0, algotest.Commanded("abdicate"), "leader=0 PROBE>1 PROBE>2 -backoff T=23ms")
	s.Want(0, suspect(1), "")
	s.Want(0, restore(1), "PROBE>1")
}

// TestFormerLife: a process that comes back may have led, and says that it does
// not to one that comes back to it.
func TestFormerLife(t *testing.T) {
	t.Parallel()
	algotest.NewSituations(t, id, 5, algo.Config{
		ID: 2, Incarnation: 1, Saved: bullyquorum.Promise{Term: 4},
	}, nil, contents).Want("it comes back", []algo.Event{{Type: algo.Start}, suspect(1), restore(1)}, "PROBE to 1")
}

// contents is what a message holds, in words.
func contents(m algo.Message) string {
	switch m := m.(type) {
	case bullyquorum.ProbeReply:
		return fmt.Sprintf("%d of %d", m.Promised, m.Leader)
	case bullyquorum.Join:
		return fmt.Sprint(m.Promised)
	case bullyquorum.Claim:
		return fmt.Sprint(m.Term)
	case bullyquorum.ClaimOK:
		return fmt.Sprint(m.Term)
	case bullyquorum.Elected:
		return fmt.Sprint(m.Term)
	case bullyquorum.Promise:
		return fmt.Sprint(m.Term)
	}
	return ""
}
