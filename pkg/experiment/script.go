package experiment

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
)

var expectKeys = []string{"sent", "delivered", "sent_by_kind", "leader", "cs_order",
	"all_informed_at"}

// expectation is what a script should lead to.
func expectation() typ {
	return typ{name: "a block of " + strings.Join(expectKeys, ", "),
		json: func(d defs) object {
			count := whole(0, maxInt).json(d)
			return keyed(object{"sent": count, "delivered": count, "leader": whole(0, maxID).json(d),
				"sent_by_kind":    object{"type": "object", "additionalProperties": count},
				"cs_order":        arrayOf(id().json(d)),
				"all_informed_at": d.of(span(0, longest))})
		},
		read: func(p *parser, key string, n *node) any {
			if n.kind != block {
				p.wrong(key, n, "a block, as {sent: 5, leader: 3}")
				return nil
			}
			before := len(p.mistakes)
			p.known(n, key, expectKeys, "")
			e := &harness.Expect{}
			count := whole(0, maxInt)
			e.Sent = pointer[int64](p.part(n, key, "sent", count))
			e.Delivered = pointer[int64](p.part(n, key, "delivered", count))
			e.AllInformedAt = pointer[time.Duration](p.part(n, key, "all_informed_at", span(0, longest)))
			if v := pointer[int64](p.part(n, key, "leader", whole(0, maxID))); v != nil {
				leader := algo.ID(*v)
				e.Leader = &leader
			}
			if v := n.get("cs_order"); v != nil {
				e.CSOrder = readIDs(p, join(key, "cs_order"), v)
			}
			if v := n.get("sent_by_kind"); v != nil && v.kind != block {
				p.wrong(join(key, "sent_by_kind"), v, "a block, as {REQUEST: 4, TOKEN: 2}")
			} else if v != nil {
				e.SentByKind = map[string]int64{}
				for _, q := range v.pairs {
					k := join(key, "sent_by_kind."+q.name)
					e.SentByKind[q.name], _ = count.read(p, k, q.value).(int64)
				}
			}
			if len(p.mistakes) > before {
				return nil
			}
			return e
		}}
}

func pointer[T any](v any) *T {
	if t, ok := v.(T); ok {
		return &t
	}
	return nil
}

// script checks the lines of a script against the cell.
func (v *variant) script(p *harness.Plan) {
	s := &v.set.Scenario
	if len(s.Events) == 0 {
		v.wrong("scenario.events", "missing; a script needs them, as [{at: 0ms, do: request, node: 1}]")
	}
	process := func(key string, id algo.ID) {
		if int(id) > p.Nodes {
			v.wrong(key, "process %d of %d", id, p.Nodes)
		}
	}
	process("scenario.leader", s.Leader)
	process("scenario.holder", s.Holder)
	seen := map[algo.ID]bool{}
	for _, q := range s.Crashed {
		process("scenario.crashed", q)
		if seen[q] {
			v.wrong("scenario.crashed", "process %d stands twice", q)
		}
		seen[q] = true
	}
	if s.Until > p.TimeLimit {
		v.wrong("scenario.until", "%v is beyond the time_limit %v", s.Until, p.TimeLimit)
	}
	if v.contender.alg.Problem == algo.Election {
		for _, key := range ofEntries {
			if v.leaves[key].explicit() {
				v.wrong(key, "means nothing in an election; remove it")
			}
		}
	}
	for i := range s.Events {
		v.event(&s.Events[i], p)
	}
	if s.Expect != nil {
		v.expectations(s.Expect, p)
	}
}

// commanded says whether processes of a have operations of their own. Only a
// process can tell, so one is made, alone in the world.
func commanded(a *algo.Algorithm) bool {
	params, _ := a.Spec.Resolve(nil, algo.Network{Nodes: 1, Bounded: true})
	shape := algo.DefaultShape(a.Spec.Needs.Topology)
	graph, err := algo.Build(shape, 1, 1)
	if err != nil {
		return false
	}
	_, ok := a.New(algo.Config{ID: 1, Peers: graph.Peers(), Neighbors: graph.Neighbors(1),
		Ring: graph.Ring, Holder: 1, Params: params}).(algo.Commanded)
	return ok
}

func (v *variant) expectations(e *harness.Expect, p *harness.Plan) {
	const key = "scenario.expect"
	if e.Leader != nil && int(*e.Leader) > p.Nodes {
		v.wrong(key, "leader: process %d of %d", *e.Leader, p.Nodes)
	}
	for _, q := range e.CSOrder {
		if int(q) > p.Nodes {
			v.wrong(key, "cs_order: process %d of %d", q, p.Nodes)
		}
	}
	var kinds []string
	for _, c := range v.contenders {
		for _, m := range c.alg.Spec.Messages {
			kinds = append(kinds, m.Kind())
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(e.SentByKind)) {
		if !slices.Contains(kinds, kind) {
			v.wrong(key, "sent_by_kind: no message is called %q (has: %s)", clip(kind),
				strings.Join(kinds, ", "))
		}
	}
}
