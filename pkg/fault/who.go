package fault

import (
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A Selector is a key of an event that says which processes it happens to.
type Selector struct{ Name, Doc string }

func (s Selector) word() string { return s.Name }

// Selectors are those keys. An event has one of them at most.
var Selectors = Words[Selector]{
	{Name: "node", Doc: "a process"},
	{Name: "who", Doc: "a process, a list of them, or a word"},
	{Name: "host", Doc: "all processes of a host (see hosting.hosts), at the same instant"},
}

// outside is links without those between processes of the event's host, if it is about one:
// what they tell each other does not leave the machine.
func (e *Event) outside(links [][2]uint32) [][2]uint32 {
	if e.Host == "" {
		return links
	}
	links = slices.DeleteFunc(links, func(l [2]uint32) bool {
		return slices.Contains(e.Nodes, algo.ID(l[0])) && slices.Contains(e.Nodes, algo.ID(l[1]))
	})
	if len(links) == 0 {
		return nil // an empty list would be all links
	}
	return links
}

// A Choice is a word for the processes that an event happens to, resolved at
// its instant.
type Choice struct {
	Name, Doc string
	Problem   algo.Problem // for which it means something; "": both
	Token     bool         // it needs an algorithm whose token is a message
	Least     int          // least number of processes, below which it stands for none
	Sections  bool         // it has to know which process is in the critical section
	Leads     bool         // it is about which process leads
	Serves    bool         // it is about the servers of a system
	// Size is how many of n processes it stands for; nil: one.
	Size func(n int) int
	Find func(s Situation) []algo.ID
}

func (c Choice) word() string { return c.Name }

// Choices are the processes that an event can happen to.
var Choices = Words[Choice]{
	{Name: "random", Doc: "a live process, drawn at random",
		Find: func(s Situation) []algo.ID {
			live := which(clients(s), func(p algo.ID) bool { return s.Up(p) && !s.Paused(p) })
			if len(live) == 0 {
				return nil
			}
			return []algo.ID{live[s.Dice().IntN(len(live))]}
		}},
	{Name: "leader", Doc: "the process that leads, as the algorithm's Spec defines it; on a trigger, " +
		"that which last named itself",
		Problem: algo.Election, Leads: true,
		Find: func(s Situation) []algo.ID { return present(s.Leader()) }},
	{Name: "token-holder", Doc: "the process that the token last came to", Token: true,
		Find: func(s Situation) []algo.ID { return present(s.Holder()) }},
	{Name: "in-critical-section", Doc: "the processes inside", Problem: algo.MutualExclusion, Sections: true,
		Find: func(s Situation) []algo.ID { return which(clients(s), s.Inside) }},
	{Name: "successor-of-leader", Doc: "the next lower live process, from the lowest on the highest",
		Problem: algo.Election, Leads: true,
		Find: func(s Situation) []algo.ID { return present(successor(s)) }},
	{Name: "majority", Doc: "more than half of all processes, drawn at random", Size: majority,
		Find: func(s Situation) []algo.ID { return some(s, clients(s), majority(len(clients(s)))) }},
	{Name: "minority", Doc: "less than half of all processes, drawn at random", Size: minority, Least: 3,
		Find: func(s Situation) []algo.ID { return some(s, clients(s), minority(len(clients(s)))) }},
	{Name: "all-crashed", Doc: "every process that is down",
		Find: func(s Situation) []algo.ID {
			return which(s.Peers(), func(p algo.ID) bool { return !s.Up(p) })
		}},
	{Name: "all", Doc: "every process", Size: func(n int) int { return n },
		Find: clients},
	{Name: "server-leader", Doc: "of a system with servers, the one that leads", Serves: true,
		Find: func(s Situation) []algo.ID { return present(s.Leader()) }},
	{Name: "server-follower", Doc: "of a system with servers, a live one that does not lead, drawn at random",
		Serves: true, Find: follower},
	{Name: "servers", Doc: "of a system with servers, all of them", Serves: true, Find: servers},
	serverNumber(1), serverNumber(2), serverNumber(3), serverNumber(4), serverNumber(5),
}

// serverNumber is the k-th server of a system, from 1 on.
func serverNumber(k int) Choice {
	return Choice{Name: fmt.Sprintf("server-%d", k), Serves: true,
		Doc: fmt.Sprintf("server %d of a system with servers", k),
		Find: func(s Situation) []algo.ID {
			if k > s.Servers() {
				return nil
			}
			return servers(s)[k-1 : k]
		}}
}

// follower is a live server that does not lead.
func follower(s Situation) []algo.ID {
	var list []algo.ID
	for _, p := range servers(s) {
		if s.Up(p) && !s.Paused(p) && p != s.Leader() {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return []algo.ID{list[s.Dice().IntN(len(list))]}
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
