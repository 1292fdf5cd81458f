package experiment

import (
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// An event is a line of a script, or of what goes wrong, with its place.
type event struct {
	harness.Event
	at   origin
	key  string
	whom string // the key that names the process: node or who
}

// A Verb documents what an event can do.
type Verb struct {
	Name, Doc string
	Keys      []string // that mean something, but for those that say when
	was       string   // its name in earlier versions
	one       []string // of those exactly one is needed; nil: none is
	who       []string // words for whom; nil: all of harness.Choices but all-crashed
	script    bool     // for scripts alone
}

// Verbs is what an event can do, in the order of the documentation. An algorithm
// may have operations of its own besides, which scripts can call.
var Verbs = []Verb{
	{Name: harness.DoCrash, Doc: "loses all but what it saved; for: comes back after that",
		Keys: []string{"who", "for"}, one: []string{"who"}},
	{Name: harness.DoRestart, Doc: "comes back with what it saved; without who: all that are down",
		Keys: []string{"who"}, who: []string{"all-crashed"}},
	{Name: harness.DoPause, Doc: "stands still and does not know it; for: goes on after that",
		Keys: []string{"who", "for"}, one: []string{"who"}},
	{Name: harness.DoResume, Doc: "goes on; without who: all",
		Keys: []string{"who"}, who: []string{"all"}},
	{Name: harness.DoCut, Doc: "no message passes between groups, or on links, or across a shape",
		Keys: []string{"groups", "links", "shape", "who", "for"},
		one:  []string{"groups", "links", "shape"}},
	{Name: harness.DoHeal, Doc: "messages pass again: between groups, on links, or everywhere",
		Keys: []string{"groups", "links"}},
	{Name: harness.DoSlow, Doc: "each event takes it longer, by so much",
		Keys: []string{"who", "by", "for"}, one: []string{"who"}},
	{Name: harness.DoFlaky, Doc: "links, those of who, or all have another loss or latency",
		Keys: []string{"links", "who", "loss", "latency", "for"}},
	{Name: harness.DoDrop, was: "lose",
		Doc:  "the count-th message of a kind is lost, and so many as times; of who: sent by those",
		Keys: []string{"kind", "count", "times", "who"}, one: []string{"kind"}, who: []string{}},
	{Name: harness.DoElect, Doc: "is an initiator", script: true,
		Keys: []string{"node"}, one: []string{"node"}},
	{Name: harness.DoSuspect, Doc: "suspects another, by default the leader", script: true,
		Keys: []string{"node", "of"}, one: []string{"node"}},
	{Name: harness.DoRequest, Doc: "requests the critical section", script: true,
		Keys: []string{"node"}, one: []string{"node"}},
}

// operation is a verb that is the algorithm's own, as far as scripts know.
var operation = Verb{Keys: []string{"node", "target"}, one: []string{"node"}, script: true}

// partition is another word for cut.
const partition = "partition"

// verbOf is the verb of a name; nil if there is none.
func verbOf(name string) *Verb {
	i := slices.IndexFunc(Verbs, func(v Verb) bool { return v.Name == name })
	if i < 0 {
		return nil
	}
	return &Verbs[i]
}

// verbs is the names of the verbs that scripts, or all scenarios, have.
func verbs(script bool) (names []string) {
	for _, v := range Verbs {
		if script || !v.script {
			names = append(names, v.Name)
		}
	}
	return names
}

// words is the words for whom the verb can happen to.
func (v *Verb) words() []string {
	if v.who != nil {
		return v.who
	}
	return slices.DeleteFunc(wordsOf(harness.Choices), func(s string) bool { return s == "all-crashed" })
}

// Instants documents the keys that say when an event happens.
var Instants = []harness.Word{
	{Name: "at", Doc: "at an instant; with every, rate and on: not before it"},
	{Name: "every", Doc: "again and again, so long apart"},
	{Name: "rate", Doc: "again and again at random, so often per second: a Poisson process"},
	{Name: "after", Doc: "scripts: once all is quiet after the lines before, or at a release"},
	{Name: "on", Doc: "when something else happens"},
	{Name: "kind", Doc: "on sent: of the message"},
	{Name: "count", Doc: "on: the how-many-th time it does; by default the first"},
	{Name: "wait", Doc: "on: so long after it"},
	{Name: "times", Doc: "every, rate: how often at most; on: how often from then on, by default once"},
}

// The keys of an event: those that say when, then those that say what. After and
// what follows upon script verbs is for scripts alone.
var (
	whenKeys = []string{"at", "every", "rate", "on", "kind", "count", "times", "wait"}
	whatKeys = []string{"node", "who", "groups", "links", "shape", "loss", "latency", "by", "for"}
)

func eventKeys(script bool) []string {
	keys := slices.Concat(whenKeys, []string{"do"}, whatKeys)
	if script {
		keys = append(slices.Insert(keys, 1, "after"), "of", "target")
	}
	return keys
}

// events is the list of a script's lines, or of what goes wrong.
func events(script bool) typ {
	like := "{at: 1s, do: crash, who: leader}"
	if script {
		like = "{at: 5ms, do: request, node: 3}"
	}
	return typ{name: "a list of {at, every, rate or on; do, who, ...}",
		def:  map[bool]string{true: "script", false: "faults"}[script],
		json: func(d defs) object { return arrayOf(d.event(script)) },
		read: func(p *parser, key string, n *node) any {
			if n.kind != list {
				p.wrong(key, n, "a list, as ["+like+"]")
				return nil
			}
			before := len(p.mistakes)
			out := make([]event, 0, len(n.items))
			for i, item := range n.items {
				k := numbered(key, i)
				if item.kind != block {
					p.wrong(k, item, "a block, as "+like)
					continue
				}
				out = append(out, p.event(k, item, script))
			}
			if len(p.mistakes) > before {
				return nil
			}
			return out
		}}
}

func (p *parser) event(key string, n *node, script bool) event {
	p.known(n, key, eventKeys(script), "")
	e := event{at: n.at, key: key, whom: "node"}
	e.Do, _ = p.part(n, key, "do", words("what happens", badVerb)).(string)
	if e.Do == partition {
		e.Do = harness.DoCut
	}
	verb := p.verb(key, n, e.Do, script)
	p.when(key, n, &e, script)
	p.what(key, n, &e, verb)
	if verb != nil {
		p.goes(key, n, &e, verb)
		for _, name := range slices.DeleteFunc(eventKeys(script), verb.takes) {
			p.nothing(key, n, name, "for "+e.Do)
		}
	}
	return e
}

func badVerb(s string) string {
	if s == "" || len(s) > 64 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_-0123456789") != "" {
		return "a word of a-z and '_'"
	}
	return ""
}

// verb is what the event does. In a script it may be the algorithm's own:
// whether the algorithm has it is known later.
func (p *parser) verb(key string, n *node, do string, script bool) *Verb {
	verb := verbOf(do)
	was := slices.IndexFunc(Verbs, func(v Verb) bool { return v.was == do && do != "" })
	switch {
	case was >= 0:
		p.add(n.get("do").at, join(key, "do"), "%s is called %s now", do, Verbs[was].Name)
		return nil
	case do == "":
		if n.get("do") == nil {
			p.add(n.at, key, "without do, as do: crash")
		}
		return nil
	case script && verb == nil:
		return &operation
	case script:
	case verb == nil:
		has := append(verbs(false), partition)
		p.add(n.get("do").at, join(key, "do"), "%q, want one of %s%s", clip(do),
			strings.Join(has, ", "), meant(do, has))
	case verb.script:
		p.add(n.get("do").at, join(key, "do"), "%s is a line of scripts: write it into scenario.events", do)
		return nil
	}
	return verb
}

// when reads the keys that say when the event happens.
func (p *parser) when(key string, n *node, e *event, script bool) {
	e.At, _ = p.part(n, key, "at", span(0, longest)).(time.Duration)
	e.After, _ = p.part(n, key, "after", choice("quiet", "release")).(string)
	e.Every, _ = p.part(n, key, "every", span(100*time.Microsecond, longest)).(time.Duration)
	e.Rate, _ = p.part(n, key, "rate", number(1e-6, 1e4)).(float64)
	e.On, _ = p.part(n, key, "on", choice(wordsOf(harness.Triggers)...)).(string)
	e.Kind, _ = p.part(n, key, "kind", words("a kind of message", anyText)).(string)
	e.Wait, _ = p.part(n, key, "wait", span(0, longest)).(time.Duration)
	count := whole(1, 1e9)
	if v, ok := p.part(n, key, "count", count).(int64); ok {
		e.Count = int(v)
	}
	if v, ok := p.part(n, key, "times", count).(int64); ok {
		e.Times = int(v)
	}
	if e.Do == harness.DoDrop {
		for _, name := range []string{"every", "rate", "after", "on", "wait"} {
			p.nothing(key, n, name, "for drop, which is a rule from at on")
		}
	} else {
		p.instant(key, n, e, script)
	}
	if e.On != "" || e.Do == harness.DoDrop {
		e.Count, e.Times = max(e.Count, 1), max(e.Times, 1)
	}
}

// instant checks that the keys that say when go together.
func (p *parser) instant(key string, n *node, e *event, script bool) {
	starts, like := []string{"every", "rate", "on"}, "at: 500ms or on: elected"
	if script {
		starts, like = []string{"after", "every", "rate", "on"}, "at: 5ms or after: quiet"
	}
	given := 0
	for _, name := range starts {
		if n.get(name) != nil {
			given++
		}
	}
	at := n.get("at") != nil
	if given > 1 || given == 0 && !at || at && n.get("after") != nil {
		p.add(n.at, key, "want one of at, %s, as %s", strings.Join(starts, ", "), like)
		return
	}
	if n.get("on") == nil {
		p.nothing(key, n, "wait", "without on")
		p.nothing(key, n, "count", "without on or do: drop")
		if given == 0 || n.get("after") != nil {
			p.nothing(key, n, "times", "without every, rate, on or do: drop")
		}
	}
	switch {
	case e.On == "sent" && n.get("kind") == nil:
		p.add(n.at, key, "on: sent without kind, as kind: TOKEN")
	case e.On != "sent" && (e.On != "" || n.get("on") == nil):
		p.nothing(key, n, "kind", "without on: sent or do: drop")
	}
}

// nothing reports a key that means nothing.
func (p *parser) nothing(key string, n *node, name, why string) {
	if q := n.get(name); q != nil {
		p.add(q.at, join(key, name), "means nothing %s; remove it", why)
	}
}

// what reads the keys that say what happens, and to whom.
func (p *parser) what(key string, n *node, e *event, verb *Verb) {
	e.Node, _ = p.part(n, key, "node", id()).(algo.ID)
	e.Of, _ = p.part(n, key, "of", id()).(algo.ID)
	e.Target, _ = p.part(n, key, "target", id()).(algo.ID)
	if verb == nil {
		verb = &Verb{}
	}
	if who := n.get("who"); who != nil && n.get("node") != nil {
		p.add(who.at, join(key, "who"), "beside node; want one of them")
	} else if who != nil {
		e.whom = "who"
		p.who(join(key, "who"), who, e, verb.words())
	}
	if g := n.get("groups"); g != nil {
		e.Groups = p.groups(join(key, "groups"), g)
	}
	if l := n.get("links"); l != nil {
		e.Links = p.links(join(key, "links"), l)
	}
	e.Shape, _ = p.part(n, key, "shape", choice(wordsOf(harness.Shapes)...)).(string)
	e.Loss = pointer[float64](p.part(n, key, "loss", number(0, 1)))
	e.Latency = pointer[link.Latency](p.part(n, key, "latency", lasting()))
	e.By, _ = p.part(n, key, "by", span(time.Microsecond, time.Hour)).(time.Duration)
	e.For, _ = p.part(n, key, "for", span(time.Microsecond, longest)).(time.Duration)
}

// who reads whom the event happens to: a process, several, or a word.
func (p *parser) who(key string, n *node, e *event, words []string) {
	want := "a process or a list of them"
	switch len(words) {
	case 0:
	case 1:
		want = "a process, a list of them, or " + words[0]
	default:
		want = "a process, a list of them, or one of " + strings.Join(words, ", ")
	}
	switch {
	case n.kind == integer:
		e.Node, _ = id().read(p, key, n).(algo.ID)
	case n.kind == list && len(n.items) > 0:
		e.Nodes = readIDs(p, key, n)
		p.once(key, n.at, e.Nodes, map[algo.ID]bool{})
	case n.kind == text && slices.Contains(words, n.text):
		e.Who = n.text
	case n.kind == text:
		p.add(n.at, key, "%q, want %s%s", clip(n.text), want, meant(n.text, words))
	default:
		p.wrong(key, n, want)
	}
}

// once reports the processes that have been seen before.
func (p *parser) once(key string, at origin, ids []algo.ID, seen map[algo.ID]bool) {
	for _, q := range ids {
		if seen[q] {
			p.add(at, key, "process %d stands twice", q)
		}
		seen[q] = true
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
		p.once(key, item.at, ids, seen)
		side := make([]uint32, len(ids))
		for i, q := range ids {
			side[i] = uint32(q)
		}
		out = append(out, side)
	}
	return out
}

// links reads links, each in one direction.
func (p *parser) links(key string, n *node) (out [][2]uint32) {
	if n.kind != list || len(n.items) == 0 {
		p.add(n.at, key, "%s, want a list of links, each from one process to another, as [[1, 2], [2, 1]]",
			n.plain())
		return nil
	}
	for _, item := range n.items {
		if item.kind != list || len(item.items) != 2 {
			p.add(item.at, key, "%s, want two processes, as [1, 2]", item.plain())
			continue
		}
		ids := readIDs(p, key, item)
		if ids == nil {
			continue
		}
		if ids[0] == ids[1] {
			p.add(item.at, key, "%s, want a link to another process", item.plain())
		}
		link := [2]uint32{uint32(ids[0]), uint32(ids[1])}
		if slices.Contains(out, link) {
			p.add(item.at, key, "link %s stands twice", item.plain())
		}
		out = append(out, link)
	}
	return out
}

// takes says whether a key means something for the verb. What says when is checked
// apart, and node is another word for who.
func (v *Verb) takes(key string) bool {
	return !slices.Contains(whatKeys, key) && key != "of" && key != "target" ||
		slices.Contains(v.Keys, key) || key == "node" && slices.Contains(v.Keys, "who")
}

// goes says whether the keys of an event go with each other, and fills in whom it
// happens to by default.
func (p *parser) goes(key string, n *node, e *event, verb *Verb) {
	has := func(name string) bool { // a process is named by who or by node
		return n.get(name) != nil || name == "who" && n.get("node") != nil
	}
	given := 0
	for _, name := range verb.one {
		if has(name) {
			given++
		}
	}
	switch {
	case given == 0 && len(verb.one) > 0:
		p.add(n.at, key, "%s without %s", e.Do, either(verb.one))
	case given > 1:
		p.add(n.at, key, "%s with several of %s, want one", e.Do, strings.Join(verb.one, ", "))
	}
	switch e.Do {
	case harness.DoCut:
		if e.Shape != "" && !slices.Contains(centred, e.Shape) || n.get("shape") == nil {
			for _, name := range []string{"who", "node"} {
				p.nothing(key, n, name, "without shape: "+either(centred))
			}
		}
	case harness.DoSlow:
		if n.get("by") == nil {
			p.add(n.at, key, "slow without by, as by: 20ms")
		}
	case harness.DoFlaky:
		if n.get("loss") == nil && n.get("latency") == nil {
			p.add(n.at, key, "flaky without loss or latency, as loss: 0.3")
		}
		if n.get("links") != nil && has("who") {
			p.add(n.at, key, "flaky with links and who, want one")
		}
	case harness.DoRestart, harness.DoResume:
		if !has("who") {
			e.Who = verb.who[0]
		}
	}
}

// centred are the shapes with somebody in the middle.
var centred = []string{"isolate", "deaf", "mute", "bridge"}

// either is words as alternatives: "a, b or c".
func either(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
