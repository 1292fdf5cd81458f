package natsraft

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/systems/bubble"
)

// The kinds of its messages. Others carry the states of servers, proposals, and what a server has missed.
var (
	vote        = bubble.Kind("VOTE")
	voteReply   = bubble.Kind("VOTE-REPLY")
	appends     = bubble.Kind("APPEND")
	appendReply = bubble.Kind("APPEND-REPLY")
	other       = bubble.Kind("OTHER")
)

// kinds are those of what all servers listen to, and of the answers.
func kinds(subject string) (ask, answer algo.Message) {
	switch {
	case strings.HasPrefix(subject, "$NRG.V."):
		return vote, voteReply
	case strings.HasPrefix(subject, "$NRG.AE."):
		return appends, appendReply
	}
	return other, other
}

// An inbox is where one server waits for answers of a kind.
type inbox struct {
	owner algo.ID
	kind  algo.Message
}

// An arrival is a message on its way, the seq-th of its sender.
type arrival struct {
	from    algo.ID
	seq     uint64
	msg     *nats.Msg
	answers inbox
}

// leaves is a message that the server has published: it goes to whose inbox it is for, or to all.
func (n *node) leaves(m *nats.Msg) {
	ask, answer := kinds(m.Subject)
	n.mu.Lock()
	to, one := n.inboxes[m.Subject]
	n.sent++
	a := arrival{n.ID, n.sent, m, inbox{n.ID, answer}}
	n.mu.Unlock()
	bytes := len(m.Subject) + len(m.Reply) + len(m.Data)
	for _, p := range n.Peers {
		if one {
			p, ask = to.owner, to.kind
		}
		if p != n.ID {
			n.Send(p, ask, bytes, func(s bubble.Subject) { s.(*node).arrives(n.id, a) })
		}
		if one {
			break
		}
	}
	time.AfterFunc(time.Microsecond, n.look)
}

// arrives has a message published at the next instant: those of one instant in the order in which they were
// sent, as a route would.
func (n *node) arrives(id string, a arrival) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ids[id] = a.from
	n.inboxes[a.msg.Reply] = a.answers
	if n.arrived = append(n.arrived, a); len(n.arrived) == 1 {
		time.AfterFunc(time.Nanosecond, n.publish)
	}
}

func (n *node) publish() {
	n.mu.Lock()
	defer n.mu.Unlock()
	slices.SortFunc(n.arrived, func(a, b arrival) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.seq, b.seq))
	})
	for _, a := range n.arrived {
		m := *a.msg // several servers publish it
		_ = n.client.PublishMsg(&m)
	}
	n.arrived = nil
	time.AfterFunc(time.Microsecond, n.look)
}
