package experiment

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/param"
)

// An event is a line of a script, or of what goes wrong, with its place.
type event struct {
	harness.Event
	at   config.Place
	key  string
	whom string // the key that names the process: node or who
}

// A Word is a word of the experiment file and what it means.
type Word struct{ Name, Doc string }

// Instants documents the keys that say when an event happens.
var Instants = []Word{
	{Name: "at", Doc: "at an instant; with every, rate and on: not before it"},
	{Name: "every", Doc: "periodically, with this period"},
	{Name: "rate", Doc: "at random, this often per second: a Poisson process"},
	{Name: "after", Doc: "scripts: once the system is quiescent after the lines before, or at a release"},
	{Name: "on", Doc: "when something else happens"},
	{Name: "kind", Doc: "on sent: of the message"},
	{Name: "count", Doc: "on: fire on the n-th occurrence; by default the first"},
	{Name: "wait", Doc: "on: this long after it"},
	{Name: "times", Doc: "every, rate: at most so often; on: for so many occurrences, by default one"},
}

// eventsType is the list of a script's lines, or of what goes wrong.
func eventsType(script bool) config.Type[[]event] {
	like := "{at: 1s, do: crash, who: leader}"
	if script {
		like = "{at: 5ms, do: request, node: 3}"
	}
	line := config.Block[event]{Like: like,
		Fields:  func(e *event) []config.Field { return eventFields(e, script) },
		Missing: func(*config.Value, string) string { return "without do, as do: crash" },
		Check: func(r *config.Reader, key string, v *config.Value, e *event) {
			e.at, e.key, e.whom = v.At, key, "node"
			if v.Get("who") != nil {
				e.whom = "who"
			}
			l := eventReader{r, key, v, e}
			l.check(script)
		}}
	return config.Items(line.Type(), like, 0, "").Called("a list of {at, every, rate or on; do, who, ...}")
}

// eventFields are the keys of an event: those that say when, then those that say what.
func eventFields(e *event, script bool) []config.Field {
	const crash, cut = "do: crash, node: 3", "at: 1s, do: cut" // what examples are of
	count, process := config.Whole[int](1, 1e9), processType()
	single := e.After == "" && !e.Again() && e.On == "" && !e.isRule()
	fields := []config.Field{
		{Name: "at", Example: "1s", With: crash, Of: config.Duration(0, longest).To(&e.At), Always: single},
		{Name: "after", Example: "quiet", With: crash, Of: config.Choice("quiet", "release").To(&e.After)},
		{Name: "every", Example: "2s", With: crash + ", for: 1s", Of: config.Duration(100*time.Microsecond,
			longest).To(&e.Every)},
		{Name: "rate", Example: "0.5", With: crash + ", for: 1s", Of: config.Number(1e-6, 1e4).To(&e.Rate)},
		{Name: "on", Example: "elected", With: crash, Of: config.Choice(fault.Triggers.Names()...).To(&e.On)},
		{Name: "kind", Example: "COORDINATOR", With: "on: sent, " + crash, Of: config.SomeText("a kind of " +
			"message").To(&e.Kind)},
		{Name: "count", Example: "2", With: "on: elected, " + crash, Of: count.To(&e.Count)},
		{Name: "times", Example: "3", With: "every: 2s, for: 1s, " + crash, Of: count.To(&e.Times)},
		{Name: "wait", Example: "2ms", With: "on: elected, " + crash,
			Of: config.Duration(0, longest).To(&e.Wait)},
		{Name: "do", Example: "crash", With: "at: 1s, node: 3", Doc: "what happens: one of the " +
			"[faults](#faults-and-lines-of-scripts)", Required: true, Of: verbType(script).To(&e.Do)},
		{Name: "node", Example: "3", With: "at: 1s, do: crash", Doc: "a process", Of: process.To(&e.Node)},
		{Name: "host", Example: "lab1", With: "at: 1s, do: crash", Doc: fault.Selectors.Named("host").
			Doc, Of: HostName().To(&e.Host)},
		{Name: "who", Example: "leader", With: "at: 1s, do: crash", Doc: "a process, a list of them, or " +
			"one of the [words for who](#whom-an-event-happens-to)", Of: whoType(e).Through(e.named, e.name)},
		{Name: "groups", Example: "[[1, 2], [3]]", With: cut,
			Doc: "the sides of a partition", Of: groupsType().To(&e.Groups)},
		{Name: "links", Example: "[[1, 2], [2, 1]]", With: cut, Doc: "links, each from one process to " +
			"another", Of: linksType().To(&e.Links)},
		{Name: "shape", Example: "halves", With: cut, Doc: "how the network falls apart: one of the " +
			"[shapes](#shapes-of-partitions)", Of: config.Choice(fault.Shapes.Names()...).To(&e.Shape)},
	}
	spans := []config.Field{{Name: "latency", Example: "80ms", With: "at: 1s, do: flaky",
		Doc: "flaky: the latency of the links meanwhile", Of: config.Optional(lastingType()).To(&e.Latency)},
		{Name: "length", Example: "{distribution: exponential, mean: 200ms}",
			With: "at: 1s, do: stall, node: 3", Doc: "stall: how long, drawn each time; `quantiles` repeat " +
				"what was recorded", Of: config.Optional(lastingType()).To(&e.Length)}}
	for _, p := range fault.Params() {
		if _, is := p.At.(*time.Duration); is {
			spans = append(spans, ownField(e, p))
		} else {
			fields = append(fields, ownField(e, p))
		}
	}
	fields = slices.Concat(fields, spans, []config.Field{
		{Name: "for", Example: "1s", With: "at: 1s, " + crash, Doc: "how long it lasts, before it is " +
			"undone", Of: config.Duration(time.Microsecond, longest).To(&e.For)},
		{Name: "of", Example: "2", With: "at: 1s, do: suspect, node: 3", Doc: "suspect: whom; by default " +
			"the leader", Of: process.To(&e.Of)},
		{Name: "target", Example: "2", With: "at: 1s, do: transfer, node: 3", Doc: "an algorithm's own " +
			"operation: the process that it names", Of: process.To(&e.Target)},
	})
	keys := append(fault.Keys(script), "do", "node", "host")
	for _, word := range Instants {
		if script || word.Name != "after" {
			keys = append(keys, word.Name)
		}
		if f := param.Find(fields, word.Name); f != nil {
			f.Doc = word.Doc
		}
	}
	return slices.DeleteFunc(fields, func(f config.Field) bool { return !slices.Contains(keys, f.Name) })
}

// ownField is where what a fault alone says goes. Its bounds are those of what the event does, which
// is read before.
func ownField(e *event, p param.Param) config.Field {
	if own := param.Find(e.Args.Of(), p.Name); own != nil { // to be written
		own.Always, own.Required = own.Required, false
		return *own
	}
	slot := config.Of(&p)
	of := func() *param.Param {
		if f := fault.Named(e.Do); f != nil && f.Args != nil {
			return param.Find(f.Args.Params(), p.Name)
		}
		return nil
	}
	slot.Read = func(r *config.Reader, key string, v *config.Value) (any, bool) {
		return config.Of(cmp.Or(of(), &p)).Read(r, key, v)
	}
	slot.Set = func(x any) {
		if of() == nil {
			return
		}
		if e.Args.IsZero() {
			e.Args.Own = param.New(fault.Named(e.Do).Args)
		}
		param.Find(e.Args.Of(), p.Name).Set(x)
	}
	slot.Schema = func() config.Object { // another fault may have other bounds
		switch p.At.(type) {
		case *int:
			return config.Object{"type": "integer"}
		case *time.Duration:
			return config.Object{"type": "string"}
		}
		return config.Object{"type": "number"}
	}
	return config.Field{Name: p.Name, Of: slot, Doc: p.Doc, Example: p.Example, With: p.With}
}

// isRule says whether nobody carries the event out.
func (e *event) isRule() bool {
	f := fault.Named(e.Do)
	return f != nil && f.Rule != nil
}

// An eventReader checks whether the keys of an event go together.
type eventReader struct {
	*config.Reader
	key string
	v   *config.Value
	e   *event
}

func (l *eventReader) check(script bool) {
	if was := fault.Renamed(l.e.Do); was != nil {
		l.Add(l.v.Get("do").At, config.Join(l.key, "do"), "%s is called %s now", l.e.Do, was.Name)
		return
	}
	f := l.fault(script)
	l.when(script)
	if given := l.selectors(); len(given) > 1 {
		l.Add(l.v.Get(given[1]).At, config.Join(l.key, given[1]), "beside %s; leave one of them "+
			"out", given[0])
	}
	if f == nil {
		return
	}
	l.what(f)
	for _, key := range append(fault.Keys(script), fault.Selectors.Names()...) {
		if !slices.ContainsFunc(Instants, func(w Word) bool { return w.Name == key }) && !f.Has(key) {
			l.nothing(key, "for "+l.e.Do)
		}
	}
}

// selectors are the keys of the event that say whom it happens to.
func (l *eventReader) selectors() []string {
	return slices.DeleteFunc(fault.Selectors.Names(), func(name string) bool { return !l.has(name) })
}

func (l *eventReader) has(name string) bool { return l.v.Get(name) != nil }

// nothing reports a key that means nothing.
func (l *eventReader) nothing(name, why string) {
	if w := l.v.Get(name); w != nil {
		l.Add(w.At, config.Join(l.key, name), "means nothing %s; remove it", why)
	}
}

// verbType is what an event does. In a script it may be the algorithm's own: whether
// the algorithm has it is known later.
func verbType(script bool) config.Type[string] {
	t := config.Words("what happens", badVerb)
	t = config.As(t, func(s string) string {
		if f := fault.Named(s); f != nil {
			return f.Name
		}
		return s
	}, func(s string) string { return s })
	words := config.Choice(fault.Names(script)...).Schema
	t.Schema = words
	if script {
		own := config.Object{"type": "string", "pattern": `^[a-z0-9_-]{1,64}$`,
			"description": "an operation of the algorithm's own"}
		t.Schema = func() config.Object { return config.AnyOf(words(), own) }
	}
	return t
}

func badVerb(s string) string {
	if s == "" || len(s) > 64 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_-0123456789") != "" {
		return "a word of a-z and '_'"
	}
	return ""
}

// fault is what the event does; nil if that is wrong.
func (l *eventReader) fault(script bool) *fault.Fault {
	do := l.e.Do
	f := fault.Named(do)
	wrong := func(format string, args ...any) {
		l.Add(l.v.Get("do").At, config.Join(l.key, "do"), format, args...)
	}
	switch {
	case do == "": // reported where it was read
		return nil
	case script && f == nil:
		return fault.Operation
	case script:
	case f == nil:
		has := fault.Names(false)
		wrong("%q, expected one of %s%s", config.Clip(do), strings.Join(has, ", "), l.Meant(do, has))
	case f.Script:
		wrong("%s is a line of scripts: write it into scenario.events", do)
		return nil
	}
	return f
}

// when checks the keys that say when the event happens.
func (l *eventReader) when(script bool) {
	e := l.e
	if e.isRule() {
		for _, name := range []string{"every", "rate", "after", "on", "wait"} {
			l.nothing(name, "for "+e.Do+", which is a rule from at on")
		}
	} else {
		l.instant(script)
	}
	if e.On != "" || e.isRule() {
		e.Count, e.Times = max(e.Count, 1), max(e.Times, 1)
	}
}

// instant checks that the keys that say when go together.
func (l *eventReader) instant(script bool) {
	starts, like := []string{"every", "rate", "on"}, "at: 500ms or on: elected"
	if script {
		starts, like = []string{"after", "every", "rate", "on"}, "at: 5ms or after: quiet"
	}
	given := 0
	for _, name := range starts {
		if l.has(name) {
			given++
		}
	}
	at := l.has("at")
	if given > 1 || given == 0 && !at || at && l.has("after") {
		l.Add(l.v.At, l.key, "expected one of at, %s, as %s", strings.Join(starts, ", "), like)
		return
	}
	if !l.has("on") {
		l.nothing("wait", "without on")
		l.nothing("count", "without on or do: drop")
		if given == 0 || l.has("after") {
			l.nothing("times", "without every, rate, on or do: drop")
		}
	}
	t := fault.Triggers.Named(l.e.On)
	switch {
	case t != nil && t.Kind && !l.has("kind"):
		l.Add(l.v.At, l.key, "on: %s without kind, as kind: TOKEN", l.e.On)
	case t != nil && !t.Kind, t == nil && !l.has("on"):
		l.nothing("kind", "without on: sent or do: drop")
	}
}

// whom is to whom an event happens, as the key who says it.
type whom struct {
	node  algo.ID
	nodes []algo.ID
	word  string
}

// A single process is written as node.
func (e *event) named() whom { return whom{nodes: e.Nodes, word: e.Who} }

func (e *event) name(w whom) {
	e.Nodes, e.Who = w.nodes, w.word
	if w.node != algo.None {
		e.Node = w.node
	}
}

// whoType is a process, several, or a word for some, of those that go with what the
// event does.
func whoType(e *event) config.Type[whom] {
	id := processType()
	ids := config.Each(id)
	return config.Type[whom]{Name: "a process, a list of them, or a word",
		Read: func(r *config.Reader, key string, v *config.Value) (w whom, ok bool) {
			f := fault.Named(e.Do)
			if f == nil {
				f = &fault.Fault{}
			}
			words := f.Choices()
			want := "a process or a list of them"
			switch len(words) {
			case 0:
			case 1:
				want = "a process, a list of them, or " + words[0]
			default:
				want = "a process, a list of them, or one of " + strings.Join(words, ", ")
			}
			switch {
			case v.Kind == config.Int:
				w.node, ok = id.Read(r, key, v)
			case v.Kind == config.List && len(v.Items) > 0:
				w.nodes, ok = ids.Read(r, key, v)
				ok = once(r, key, v.At, w.nodes, map[algo.ID]bool{}) && ok
			case v.Kind == config.Text && slices.Contains(words, v.Text):
				w.word, ok = v.Text, true
			case v.Kind == config.Text:
				r.Add(v.At, key, "%q, expected %s%s", config.Clip(v.Text), want, r.Meant(v.Text, words))
			default:
				r.Wrong(key, v, want)
			}
			return w, ok
		},
		Write: func(w whom) *config.Value {
			if len(w.nodes) > 0 {
				return ids.Write(w.nodes)
			}
			return config.TextOf(w.word)
		},
		Schema: func() config.Object {
			words := config.Choice(fault.Choices.Names()...)
			return config.AnyOf(id.Schema(), ids.Schema(), words.Schema())
		}}
}

// once reports the processes that have been seen before.
func once[ID ~uint32](r *config.Reader, key string, at config.Place, ids []ID, seen map[ID]bool) bool {
	before := r.Count()
	for _, q := range ids {
		if seen[q] {
			r.Add(at, key, "process %d appears twice", q)
		}
		seen[q] = true
	}
	return r.Count() == before
}

// listed is a list that is not empty; check compares an item with those before it.
func listed[T any](item config.Type[T], want string,
	check func(r *config.Reader, key string, v *config.Value, x T, before []T)) config.Type[[]T] {
	t := config.Each(item)
	t.Read = func(r *config.Reader, key string, v *config.Value) (out []T, ok bool) {
		if v.Kind != config.List || len(v.Items) == 0 {
			r.Add(v.At, key, "%s, expected %s", v.Plain(), want)
			return nil, false
		}
		before := r.Count()
		for _, w := range v.Items {
			if x, ok := item.Read(r, key, w); ok {
				check(r, key, w, x, out)
				out = append(out, x)
			}
		}
		return out, r.Count() == before
	}
	return t
}

// groupsType is groups of processes, no process in two.
func groupsType() config.Type[[][]uint32] {
	return listed(config.Each(numberType[uint32]()), "a list of groups, as [[1, 2], [3]]",
		func(r *config.Reader, key string, v *config.Value, ids []uint32, before [][]uint32) {
			if len(ids) == 0 {
				r.Add(v.At, key, "an empty group; remove it")
			}
			seen := map[uint32]bool{}
			for _, q := range slices.Concat(before...) {
				seen[q] = true
			}
			once(r, key, v.At, ids, seen)
		})
}

// linksType is links, each in one direction.
func linksType() config.Type[[][2]uint32] {
	return listed(pairType[uint32]("two processes, as [1, 2]"),
		"a list of links, each from one process to another, as [[1, 2], [2, 1]]",
		func(r *config.Reader, key string, v *config.Value, l [2]uint32, before [][2]uint32) {
			switch {
			case l[0] == l[1]:
				r.Add(v.At, key, "%s, expected a link to another process", v.Plain())
			case slices.Contains(before, l):
				r.Add(v.At, key, "link %s appears twice", v.Plain())
			}
		})
}

// what checks whether the keys that say what happens go together, and fills in whom it
// happens to by default.
func (l *eventReader) what(f *fault.Fault) {
	e := l.e
	given := func(names ...string) (count int) {
		for _, name := range names { // who stands for all selectors
			if l.has(name) || name == "who" && len(l.selectors()) > 0 {
				count++
			}
		}
		return count
	}
	add := func(format string, args ...any) { l.Add(l.v.At, l.key, format, args...) }
	switch count := given(f.One...); {
	case count == 0 && len(f.One) > 0:
		add("%s without %s", e.Do, either(f.One))
	case count > 1:
		add("%s with several of %s, expected one", e.Do, strings.Join(f.One, ", "))
	}
	var own []param.Param
	if f.Args != nil {
		own = f.Args.Params()
	}
	if len(f.Any) > 0 && given(f.Any...) == 0 {
		example := param.Find(eventFields(&event{Event: harness.Event{Do: e.Do}}, true), f.Any[0]).Example
		add("%s without %s, as %s: %s", e.Do, either(f.Any), f.Any[0], example)
	}
	if given(f.Apart...) > 1 {
		add("%s with %s, expected one", e.Do, strings.Join(f.Apart, " and "))
	}
	for _, p := range own {
		if p.Required && !l.has(p.Name) {
			add("%s without %s, as %s: %s", e.Do, p.Name, p.Name, p.Example)
		}
	}
	if f.Has("shape") {
		if s := fault.Shapes.Named(e.Shape); !l.has("shape") || s != nil && s.Centre == "" {
			for _, name := range l.selectors() {
				l.nothing(name, "without shape: "+either(fault.Centred()))
			}
		}
	}
	if f.Default != "" && given("who") == 0 {
		e.Who = f.Default
	}
}

// either is words as alternatives: "a, b or c".
func either(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
