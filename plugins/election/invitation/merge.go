package invitation

import (
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// Rules 3 to 8: how two groups become one.

// onInvite is rule 3. A process that is electing draws in whom it meets.
func (n *node) onInvite(env algo.Env, from algo.ID, m Invite) {
	n.active = n.active || m.Electing
	switch {
	case !n.leads(): // a
		env.Send(from, Redirect{n.group})
	case n.pending == from: // c: the invitations crossed, and one of them stands
		if n.standsAgainst(from, m) {
			return
		}
		n.settle(env)
		n.accept(env, from, m)
	case n.pending != algo.None: // b
		env.Send(from, Busy{})
	case n.yields(from, m): // d
		n.accept(env, from, m)
	default:
		n.grow(env, m.Members)
		env.Send(from, Takeover{n.group})
	}
}

// standsAgainst says, alike on both sides, whether our invitation to from stands
// against the one that crossed it.
func (n *node) standsAgainst(from algo.ID, m Invite) bool {
	switch theirs := len(m.Members); {
	case n.byID:
		return n.ID > from
	case theirs != len(n.offered):
		return len(n.offered) > theirs
	}
	return n.ID < from
}

// yields says whether the inviter is to lead both groups.
func (n *node) yields(from algo.ID, m Invite) bool {
	if n.byID {
		return from > n.ID
	}
	return len(m.Members) >= len(n.members)
}

// accept joins the inviter's group, with all members.
func (n *node) accept(env algo.Env, from algo.ID, m Invite) {
	env.Send(from, Accept{m.Group, n.members, n.active})
	n.handOver(env, m.Group)
}

// handOver tells the other members of the new group and becomes a member itself.
func (n *node) handOver(env algo.Env, to Group) {
	for _, p := range n.members {
		if p != n.ID && p != to.Leader {
			env.Send(p, NewLeader{to, n.group})
		}
	}
	n.join(env, to)
}

// join makes this process a member of group g, or of what it has become. If that is a
// group of its own, it has left it, and so it looks for those who have not.
func (n *node) join(env algo.Env, g Group) {
	n.group, n.members = n.latest(g), nil
	if n.leads() {
		n.active = true
		n.leadAlone(env)
		return
	}
	env.Elected(n.group.Leader, 0)
	n.doubt(env) // it may be dead already
}

// latest is the group that g is part of by now, as far as this process was told. Each
// word counts once: two leaders of which one was suspected by mistake may have told
// that each is now the other's.
func (n *node) latest(g Group) Group {
	for {
		i := slices.IndexFunc(n.early, func(m NewLeader) bool { return m.Old == g })
		if i < 0 {
			return g
		}
		g = n.early[i].Group
		n.early = slices.Delete(n.early, i, i+1)
	}
}

// grow takes more members in.
func (n *node) grow(env algo.Env, more []algo.ID) {
	n.members = union(n.members, more)
	env.Elected(n.ID, 0)
	n.plan(env)
}

// union is who is in a or in b, ascending.
func union(a, b []algo.ID) []algo.ID {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

// onAccept is rule 4. Who joins a group that this process has handed over meanwhile
// belongs where that went.
func (n *node) onAccept(env algo.Env, m Accept) {
	switch {
	case m.Group == n.group:
		n.active = n.active || m.Electing
		n.settle(env)
		n.grow(env, m.Members)
	case m.Group.Leader == n.ID && !n.leads():
		for _, p := range m.Members {
			env.Send(p, NewLeader{n.group, m.Group})
		}
	}
}

// onTakeover is rule 5. A process that was suspected since the invitation is told as well: the new
// leader counts on it.
func (n *node) onTakeover(env algo.Env, from algo.ID, m Takeover) {
	if n.pending == from {
		n.members = union(n.members, n.offered)
		n.settle(env)
		n.handOver(env, m.Group)
	}
}

// onRedirect is rule 6. One who follows us, or a member of ours, has missed how
// that came about.
func (n *node) onRedirect(env algo.Env, from algo.ID, m Redirect) {
	if n.pending != from {
		return
	}
	n.settle(env)
	if !slices.Contains(n.members, m.Group.Leader) {
		n.invite(env, m.Group.Leader)
		return
	}
	if m.Group != n.group {
		env.Send(from, NewLeader{n.group, m.Group})
	}
	n.grow(env, []algo.ID{from})
}

// onBusy is rule 8.
func (n *node) onBusy(env algo.Env, from algo.ID) {
	if n.pending == from {
		n.settle(env)
		n.plan(env)
	}
}

// onNewLeader is rule 7. Two leaders may have told of two merges, one after the
// other, and the second be faster: it waits for the first.
func (n *node) onNewLeader(env algo.Env, m NewLeader) {
	if m.Old == n.group {
		n.join(env, m.Group)
		return
	}
	n.early = append(n.early, m)
}
