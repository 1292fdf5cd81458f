package experiment

import (
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// An event is a line of a script with its place.
type event struct {
	harness.Event
	at  origin
	key string
}

var eventKeys = []string{"at", "after", "do", "node", "of", "target", "groups"}

var opRule = "a word of a-z and '_'"

// events is the list of a script's lines.
func events() typ {
	return typ{name: "a list of {at or after, do, node, of, target, groups}",
		read: func(p *parser, key string, n *node) any {
			if n.kind != list {
				p.wrong(key, n, "a list, as [{at: 5ms, do: request, node: 3}]")
				return nil
			}
			before := len(p.mistakes)
			out := make([]event, 0, len(n.items))
			for i, item := range n.items {
				k := numbered(key, i)
				if item.kind != block {
					p.wrong(k, item, "a block, as {at: 5ms, do: request, node: 3}")
					continue
				}
				out = append(out, p.event(k, item))
			}
			if len(p.mistakes) > before {
				return nil
			}
			return out
		}}
}

func (p *parser) event(key string, n *node) event {
	p.known(n, key, eventKeys, "")
	e := event{at: n.at, key: key}
	e.At, _ = p.part(n, key, "at", span(0, longest)).(time.Duration)
	e.After, _ = p.part(n, key, "after", choice("quiet", "release")).(string)
	if (n.get("at") == nil) == (n.get("after") == nil) {
		p.add(n.at, key, "want one of at and after, as at: 5ms or after: quiet")
	}
	e.Do, _ = p.part(n, key, "do", words("what happens", func(s string) string {
		if s == "" || len(s) > 64 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_-0123456789") != "" {
			return opRule
		}
		return ""
	})).(string)
	e.Node, _ = p.part(n, key, "node", id()).(algo.ID)
	e.Of, _ = p.part(n, key, "of", id()).(algo.ID)
	e.Target, _ = p.part(n, key, "target", id()).(algo.ID)
	if g := n.get("groups"); g != nil {
		e.Groups = p.groups(join(key, "groups"), g)
	}
	p.fits(key, n, &e)
	return e
}

// fits says whether the keys of an event go with what it does.
func (p *parser) fits(key string, n *node, e *event) {
	wants := []string{"node"}
	switch e.Do {
	case "":
		if n.get("do") == nil {
			p.add(n.at, key, "without do, as do: request")
		}
		return
	case "pause", "resume":
		p.add(n.get("do").at, join(key, "do"), "%s is not supported yet", e.Do)
		return
	case harness.DoCut, harness.DoHeal:
		wants = []string{"groups"}
	case harness.DoSuspect:
		wants = append(wants, "of")
	case harness.DoElect, harness.DoRequest, harness.DoCrash, harness.DoRestart:
	default: // of the algorithm's own; whether it has it is known later
		wants = append(wants, "target")
	}
	if n.get(wants[0]) == nil && e.Do != harness.DoHeal {
		p.add(n.at, key, "%s without %s", e.Do, wants[0])
	}
	for _, name := range []string{"node", "of", "target", "groups"} {
		if q := n.get(name); q != nil && !slices.Contains(wants, name) {
			p.add(q.at, join(key, name), "means nothing for %s; remove it", e.Do)
		}
	}
}

func (p *parser) groups(key string, n *node) (out [][]uint32) {
	if n.kind != list || len(n.items) == 0 {
		p.add(n.at, key, "%s, want a list of groups, as [[1, 2], [3]]", n.plain())
		return nil
	}
	seen := map[algo.ID]bool{}
	for _, item := range n.items {
		ids := readIDs(p, key, item)
		if ids != nil && len(ids) == 0 {
			p.add(item.at, key, "an empty group; remove it")
		}
		side := make([]uint32, len(ids))
		for i, q := range ids {
			if seen[q] {
				p.add(item.at, key, "process %d stands twice", q)
			}
			seen[q] = true
			side[i] = uint32(q)
		}
		out = append(out, side)
	}
	return out
}

var expectKeys = []string{"sent", "delivered", "sent_by_kind", "leader", "cs_order",
	"all_informed_at"}

// expectation is what a script should lead to.
func expectation() typ {
	return typ{name: "a block of " + strings.Join(expectKeys, ", "),
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
