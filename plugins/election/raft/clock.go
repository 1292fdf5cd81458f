package raft

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A clock is what timers go by. Etcd's count ticks, which come at their own instants: a
// time-out of k ticks lasts for more than k-1 and at most k.
type clock struct {
	tick, start time.Duration
	apart       bool          // ticks begin at a random phase
	drawn       time.Duration // the election time-out, while ticks are counted
}

// The phases of ticks.
const (
	together = "together"
	apart    = "apart"
)

// begin has ticks count from now on. Servers that start one after the other have ticks apart.
func (c *clock) begin(env algo.Env) {
	c.start = env.Now()
	if c.apart && c.tick > 0 {
		c.start -= time.Duration(env.Rand().Int64N(int64(c.tick)))
	}
}

// after is how long a timer of d lasts that is set now.
func (c *clock) after(env algo.Env, d time.Duration) time.Duration {
	if c.tick == 0 {
		return d
	}
	return c.ceil(d) - (env.Now()-c.start)%c.tick
}

// within says whether less than d has passed since an instant; if ticks are counted, whether fewer of them
// have come than d is. One that is due now has not come: what is heard at its instant comes first.
func (c *clock) within(env algo.Env, d, since time.Duration) bool {
	if c.tick == 0 {
		return env.Now()-since < d
	}
	return env.Now() <= since+c.ceil(d)-(since-c.start)%c.tick
}

// ceil is d in whole ticks, one at least.
func (c *clock) ceil(d time.Duration) time.Duration {
	return max(1, (d+c.tick-1)/c.tick) * c.tick
}

// draw is for a process that counts ticks and becomes follower, candidate or leader: from E
// to 2E-1 ticks, E being τ. Hearing a leader does not draw anew.
func (n *node) draw(env algo.Env) {
	if n.clock.tick > 0 && n.fixed == 0 {
		more := int64(max(1, n.spread/n.clock.tick))
		n.clock.drawn = n.clock.ceil(n.tau) + time.Duration(env.Rand().Int64N(more))*n.clock.tick
	}
}

// drawn is a time from least to least and spread.
func drawn(env algo.Env, least, spread time.Duration) time.Duration {
	if spread == 0 {
		return least
	}
	return least + time.Duration(env.Rand().Int64N(int64(spread)+1))
}

// restartTimer draws the election timer anew, so that no two processes go on
// splitting the vote.
func (n *node) restartTimer(env algo.Env) {
	wait := n.fixed
	switch {
	case wait > 0:
	case n.clock.tick > 0:
		wait = n.clock.drawn
	default:
		wait = drawn(env, n.tau, n.spread)
	}
	env.SetTimer(electionTimer, n.clock.after(env, wait))
}
