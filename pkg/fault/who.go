package fault

import "github.com/conclave-bench/conclave/pkg/algo"

// A Choice is a word for whom an event happens to, found out at its instant.
type Choice struct {
	Name, Doc string
	Problem   algo.Problem // for which it means something; "": both
	Token     bool         // it needs an algorithm whose token is a message
	Least     int          // processes without which it is nobody
	Sections  bool         // it has to know who is in the critical section
	// Size is how many of n processes it stands for; nil: one.
	Size func(n int) int
	Find func(s Situation) []algo.ID
}

func (c Choice) word() string { return c.Name }

// Choices is whom an event can happen to.
var Choices = Words[Choice]{
	{Name: "random", Doc: "a live process, drawn at random",
		Find: func(s Situation) []algo.ID {
			live := which(s, func(p algo.ID) bool { return s.Up(p) && !s.Paused(p) })
			if len(live) == 0 {
				return nil
			}
			return []algo.ID{live[s.Dice().IntN(len(live))]}
		}},
	{Name: "leader", Doc: "the live process that last named itself leader, or else the one that most name",
		Problem: algo.Election,
		Find:    func(s Situation) []algo.ID { return present(s.Leader()) }},
	{Name: "token-holder", Doc: "the process that the token last came to", Token: true,
		Find: func(s Situation) []algo.ID { return present(s.Holder()) }},
	{Name: "in-critical-section", Doc: "who is inside", Problem: algo.MutualExclusion, Sections: true,
		Find: func(s Situation) []algo.ID { return which(s, s.Inside) }},
	{Name: "successor-of-leader", Doc: "the next lower live process, from the lowest on the highest",
		Problem: algo.Election,
		Find:    func(s Situation) []algo.ID { return present(successor(s)) }},
	{Name: "majority", Doc: "more than half of all processes, drawn at random", Size: majority,
		Find: func(s Situation) []algo.ID { return some(s, majority(len(s.Peers()))) }},
	{Name: "minority", Doc: "less than half of all processes, drawn at random", Size: minority, Least: 3,
		Find: func(s Situation) []algo.ID { return some(s, minority(len(s.Peers()))) }},
	{Name: "all-crashed", Doc: "every process that is down",
		Find: func(s Situation) []algo.ID {
			return which(s, func(p algo.ID) bool { return !s.Up(p) })
		}},
	{Name: "all", Doc: "every process", Size: func(n int) int { return n },
		Find: func(s Situation) []algo.ID { return s.Peers() }},
}

func majority(n int) int { return n/2 + 1 }

func minority(n int) int { return (n - 1) / 2 }

// successor is the next lower live process; from the lowest on the highest.
func successor(s Situation) algo.ID {
	n, leader := algo.ID(len(s.Peers())), s.Leader()
	if leader == algo.None {
		return algo.None
	}
	for k := range n - 1 {
		if p := (leader+n-2-k)%n + 1; s.Up(p) {
			return p
		}
	}
	return algo.None
}
