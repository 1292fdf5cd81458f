package algo_test

import (
	"fmt"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// Ask and Leader are all the messages of the algorithm below.
type (
	Ask    struct{}
	Leader struct{}
)

// Kind is ASK.
func (Ask) Kind() string { return "ASK" }

// Kind is LEADER.
func (Leader) Kind() string { return "LEADER" }

// A tiny election: whoever starts one asks the highest process, which leads.
type highest struct{ algo.Config }

func (n *highest) Elect(env algo.Env) {
	if top := n.Peers[len(n.Peers)-1]; top != n.ID {
		env.Send(top, Ask{})
		return
	}
	n.lead(env)
}

func (n *highest) Receive(env algo.Env, from algo.ID, m algo.Message) {
	switch m.(type) {
	case Ask:
		n.lead(env)
	case Leader:
		env.Elected(from, 1)
	}
}

func (n *highest) lead(env algo.Env) {
	env.Elected(n.ID, 1)
	algo.Broadcast(env, n.ID, n.Peers, Leader{})
}

// An algorithm is a state machine. It is handed events, and what it asks for is data.
func Example() {
	err := algo.AddElector(algo.Spec{
		Name: "example", Summary: "ask the highest process",
		Paper:    algo.Paper{Authors: "N. N.", Title: "An example", Year: 2026},
		Messages: []algo.Message{Ask{}, Leader{}},
	}, func(c algo.Config) algo.Elector { return &highest{c} })
	if err != nil {
		fmt.Println(err)
		return
	}
	defer algo.Remove("election/example")
	a, err := algo.Lookup("election/example")
	if err != nil {
		fmt.Println(err)
		return
	}
	peers := []algo.ID{1, 2, 3}
	step := func(self algo.ID, e algo.Event) {
		p := algo.NewStepper(a, algo.Config{ID: self, Peers: peers, Neighbors: peers}, 1, new(algo.Buffer))
		for _, effect := range p.Step(0, e) {
			switch effect.Op {
			case algo.OpSend:
				fmt.Printf("p%d sends %s to p%d\n", self, effect.Msg.Kind(), effect.Peer)
			case algo.OpElected:
				fmt.Printf("p%d names p%d\n", self, effect.Peer)
			}
		}
	}
	step(1, algo.Event{Type: algo.Elect})
	step(3, algo.Event{Type: algo.Receive, Peer: 1, Msg: Ask{}})
	// Output:
	// p1 sends ASK to p3
	// p3 names p3
	// p3 sends LEADER to p1
	// p3 sends LEADER to p2
}
