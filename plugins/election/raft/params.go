package raft

import (
	"errors"
	"fmt"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// leastSpread is N·d. A vote cannot be split if nobody else times out within d of the
// first: with that spread, of a bare majority that all must vote for one, this is so in
// half of the terms or more, since (1 - 1/N)^(N/2) >= 1/2.
func leastSpread(net algo.Network) time.Duration { return time.Duration(net.Nodes) * net.Latency }

// live says what keeps a leader from being elected in the end, or from being kept.
func live(net algo.Network, p algo.Params) error {
	tau, beat := p.Duration("t_election"), p.Duration("heartbeat")
	spread, rounds := p.Duration("t_election_spread"), p.Int("heartbeat_rounds")
	switch bound, least := beat+2*net.Latency, leastSpread(net); {
	case tau < bound:
		return fmt.Errorf("t_election %v is below heartbeat + 2d = %v", tau, bound)
	case spread == 0:
		return errors.New("t_election_spread 0: all stand at once, and votes are split in every term")
	case spread < least:
		return fmt.Errorf("t_election_spread %v is below N·d = %v: votes are split in most terms",
			spread, least)
	case rounds > 0:
		return fmt.Errorf("heartbeat_rounds %d: the leader falls silent, and is deposed", rounds)
	}
	return nil
}
