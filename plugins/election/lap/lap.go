// Package lap is what elections on a ring of processes that do not die share: the order of the
// ring, and the last lap, in which all learn which process leads. It is no algorithm by itself.
package lap

import "github.com/conclave-bench/conclave/pkg/algo"

// Elected goes round with the leader's ID.
type Elected struct{ ID algo.ID }

// Kind is ELECTED.
func (Elected) Kind() string { return "ELECTED" }

// A Place is that of one process on the ring. Embed it.
type Place struct {
	algo.Config
	told algo.ID // who leads
}

// At is the place of the process that c is about.
func At(c algo.Config) Place { return Place{Config: c} }

// Next is the successor, in one direction or both.
func (p *Place) Next() algo.ID { return p.Neighbors[len(p.Neighbors)-1] }

// Beyond is the neighbor on the other side, where there are two.
func (p *Place) Beyond(from algo.ID) algo.ID {
	if from == p.Neighbors[0] {
		return p.Neighbors[1]
	}
	return p.Neighbors[0]
}

// Announce names leader and passes that on: the lap begins, or continues. It ends where
// it began, since that process knows the leader; or, if a second election ran anyway,
// where the lap of a larger ID has already passed.
func (p *Place) Announce(env algo.Env, leader algo.ID) {
	if leader > p.told {
		p.told = leader
		env.Elected(leader, 1)
		env.Send(p.Next(), Elected{leader})
	}
}
