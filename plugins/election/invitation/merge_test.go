package invitation_test

import (
	"fmt"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/plugins/election/invitation"
)

// TestRules feeds process 2 of five and looks at what the last event makes it do.
func TestRules(t *testing.T) {
	t.Parallel()
	s := algotest.NewSituations(t, id, 5, algo.Config{ID: 2}, nil, contents)
	group := func(p algo.ID) invitation.Group { return invitation.Group{Leader: p, Count: 1} }
	ours := invitation.Group{Leader: 2, Count: 1}
	invited := func(from algo.ID, members ...algo.ID) algo.Event {
		return algotest.Hear(from, invitation.Invite{Group: group(from), Members: members})
	}
	accepted := func(from algo.ID, members ...algo.ID) algo.Event {
		return algotest.Hear(from, invitation.Accept{Group: ours, Members: members})
	}
	takeover := func(from algo.ID) algo.Event {
		return algotest.Hear(from, invitation.Takeover{Group: group(from)})
	}
	redirect := func(from, to algo.ID) algo.Event {
		return algotest.Hear(from, invitation.Redirect{Group: group(to)})
	}
	merged := func(old, to algo.ID) algo.Event {
		return algotest.Hear(old, invitation.NewLeader{Group: group(to), Old: group(old)})
	}
	back := func(p algo.ID) algo.Event {
		return algotest.Hear(p, invitation.Recovered{Incarnation: 1})
	}
	busy := func(from algo.ID) algo.Event { return algotest.Hear(from, invitation.Busy{}) }
	does := func(op string, target algo.ID) algo.Event {
		return algo.Event{Type: algo.Do, Op: op, Peer: target}
	}
	invite := func(target algo.ID) algo.Event { return does("invite", target) }
	fires, suspect, restore, then := algotest.Expire, algotest.Suspected, algotest.Restored, algotest.Then
	elect, start := algo.Event{Type: algo.Elect}, algo.Event{Type: algo.Start}
	pair := []algo.Event{invite(3), accepted(3, 3)} // 2 leads 2 and 3
	type events = []algo.Event
	for name, test := range map[string]struct {
		events events
		want   string
	}{
		"rule 1":            {nil, "elected 2"},
		"an initiator":      {events{elect}, "set pause"},
		"twice":             {events{elect, elect}, ""},
		"rule 2":            {events{invite(3)}, "INVITE 2.1 [2] to 3; set T"},
		"another operation": {events{does("visit", 3)}, ""},
		"after the pause": {
			events{elect, suspect(1), suspect(3), suspect(4), fires("pause")},
			"INVITE 2.1 [2] to 5; set T"},
		"nobody is missing": {
			events{elect, suspect(1), suspect(3), suspect(4), suspect(5), fires("pause")},
			""},
		"or is invited": {events{elect, invite(3), fires("pause")}, ""},
		"accepted":      {pair, "cancel T; elected 2"},
		"of another group": {
			events{invite(3), algotest.Hear(3, invitation.Accept{Group: group(4), Members: []algo.ID{3}})},
			""},
		"accepted by an initiator": {
			events{invite(3), algotest.Hear(3, invitation.Accept{
				Group: ours, Members: []algo.ID{3}, Electing: true})},
			"cancel T; elected 2; set pause"},
		"no answer":           {events{invite(3), fires("T")}, "cancel T"},
		"no answer, electing": {events{elect, fires("pause"), fires("T")}, "cancel T; set pause"},
		"busy": {
			events{elect, invite(3), fires("pause"), busy(3)},
			"cancel T; set pause"},
		"too late":              {events{invite(3), fires("T"), invite(4), busy(3)}, ""},
		"3a, no leader":         {events{merged(2, 4), invited(5, 5)}, "REDIRECT 4.1 to 5"},
		"3b, busy":              {events{invite(3), invited(4, 4)}, "BUSY to 4"},
		"3c, crossed, we stand": {events{invite(3), invited(3, 3)}, ""},
		"3c, they stand": {
			events{invite(1), invited(1, 1)},
			"cancel T; ACCEPT 1.1 [2] to 1; elected 1"},
		"3c, larger than they": {then(pair, invite(1), invited(1, 1)), ""},
		"3c, smaller than they": {
			events{invite(3), invited(3, 3, 4)},
			"cancel T; ACCEPT 3.1 [2] to 3; elected 3"},
		"3c, by what was offered": {then(pair, invite(4), suspect(3), invited(4, 4)), ""},
		"3d, equal":               {events{invited(3, 3)}, "ACCEPT 3.1 [2] to 3; elected 3"},
		"3d, smaller": {
			then(pair, invited(4, 4, 5)),
			"ACCEPT 4.1 [2 3] to 4; NEW_LEADER 4.1 for 2.1 to 3; elected 4"},
		"3d, by a member of ours": {then(pair, invited(3, 3, 5)), "ACCEPT 3.1 [2 3] to 3; elected 3"},
		"3d, larger":              {then(pair, invited(4, 4)), "elected 2; TAKEOVER 2.1 to 4"},
		"taken over": {
			then(pair, invite(4), takeover(4)),
			"cancel T; NEW_LEADER 4.1 for 2.1 to 3; elected 4"},
		"taken over too late": {events{invite(4), fires("T"), invite(5), takeover(4)}, ""},
		"redirected": {
			events{invite(3), redirect(3, 4)},
			"cancel T; INVITE 2.1 [2] to 4; set T"},
		"redirected too late": {events{invite(3), fires("T"), invite(5), redirect(3, 4)}, ""},
		"to a member of ours": {
			then(pair, invite(4), redirect(4, 3)),
			"cancel T; NEW_LEADER 2.1 for 3.1 to 4; elected 2"},
		"to us":                 {then(pair, invite(4), redirect(4, 2)), "cancel T; elected 2"},
		"told":                  {events{invited(3, 3), merged(3, 4)}, "elected 4"},
		"told of another group": {events{invited(3, 3), merged(5, 4)}, ""},
		"told too early":        {events{invited(3, 3), merged(5, 4), merged(3, 5)}, "elected 4"},
		"much too early": {
			events{merged(5, 4), merged(3, 5), merged(1, 3), invited(1, 1)},
			"ACCEPT 1.1 [2] to 1; elected 4"},
		"told in a circle": {
			events{merged(5, 4), merged(4, 5), invited(5, 5)},
			"ACCEPT 5.1 [2] to 5; elected 5"},
		"told of a group that it has left": {events{invited(3, 3), merged(3, 2)}, "elected 2; set pause"},
		"accepted after it has joined": {
			events{invite(1), invited(1, 1), accepted(1, 1, 5)},
			"NEW_LEADER 1.1 for 2.1 to 1; NEW_LEADER 1.1 for 2.1 to 5"},
		"taken over, with one that is suspected": {
			then(pair, invite(4), suspect(3), takeover(4)),
			"cancel T; NEW_LEADER 4.1 for 2.1 to 3; elected 4"},
		"rule 9": {
			events{invited(3, 3), suspect(3)},
			"elected 0; elected 2; set pause"},
		"rule 9, it is back": {
			events{invited(3, 3), back(3)},
			"elected 0; elected 2; set pause"},
		"it was back before": {
			events{back(3), invited(3, 3)},
			"ACCEPT 3.1 [2] to 3; elected 3; elected 0; elected 2; set pause"},
		"a member is back": {then(pair, back(3), invite(3)), "INVITE 2.1 [2] to 3; set T"},
		"a member of an electing leader is back": {then(pair, elect, suspect(1), suspect(4), suspect(5),
			fires("pause"), back(3)), "set pause"},
		"another is back":        {events{invited(3, 3), back(4)}, ""},
		"another member is gone": {events{invited(3, 3), suspect(4)}, ""},
		"in a new group": {
			events{invited(3, 3), suspect(3), invite(4)},
			"INVITE 2.2 [2] to 4; set T"},
		"the leader is dead already": {events{suspect(3), invited(3, 3)},
			"ACCEPT 3.1 [2] to 3; elected 3; elected 0; elected 2; set pause"},
		"a member is gone": {then(pair, suspect(3), invite(4)), "INVITE 2.1 [2] to 4; set T"},
		"and comes back":   {then(pair, suspect(3), suspect(3), restore(3)), "set pause"},
		"is invited again": {
			then(pair, suspect(1), suspect(4), suspect(5), suspect(3), restore(3),
				fires("pause")),
			"INVITE 2.1 [2] to 3; set T"},
	} {
		s.Want(name, then(events{start}, test.events...), test.want)
	}
}

// TestReturn: a process that comes back leads a group that it never led before.
func TestReturn(t *testing.T) {
	t.Parallel()
	o := run(t, 3, nil, nil, invite(0, 1, 2), event(ms/2, "crash", 1), event(ms/2, "restart", 1))
	told := o.Kinds[6].Sent // RECOVERED: 2 follows a group that is no more
	if got := named(o); got != "map[1:2 2:2 3:2]" || told != 2 {
		t.Errorf("%s: %s, told %d times: the answer to 1's first life counts in its second",
			o.Status, got, told)
	}
}

// contents is what a message holds, in words.
func contents(m algo.Message) string {
	name := func(g invitation.Group) string { return fmt.Sprintf("%d.%d", g.Leader, g.Count) }
	switch m := m.(type) {
	case invitation.Invite:
		return fmt.Sprint(name(m.Group), " ", m.Members)
	case invitation.Accept:
		return fmt.Sprint(name(m.Group), " ", m.Members)
	case invitation.Takeover:
		return name(m.Group)
	case invitation.Redirect:
		return name(m.Group)
	case invitation.NewLeader:
		return name(m.Group) + " for " + name(m.Old)
	}
	return ""
}
