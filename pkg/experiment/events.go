package experiment

import (
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// An event is a line of a script, or of what goes wrong, with its place.
type event struct {
	harness.Event
	at   config.Place
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

// whatKeys are the keys of an event that say what happens, and to whom.
var whatKeys = []string{"node", "who", "groups", "links", "shape", "loss", "latency", "by", "for"}

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
	count, process := config.Whole[int](1, 1e9), processType()
	single := e.After == "" && e.Every == 0 && e.Rate == 0 && e.On == "" && e.Do != harness.DoDrop
	fields := []config.Field{
		{Name: "at", Of: config.Duration(0, longest).To(&e.At), Always: single},
		{Name: "after", Of: config.Choice("quiet", "release").To(&e.After)},
		{Name: "every", Of: config.Duration(100*time.Microsecond, longest).To(&e.Every)},
		{Name: "rate", Of: config.Number(1e-6, 1e4).To(&e.Rate)},
		{Name: "on", Of: config.Choice(wordsOf(harness.Triggers)...).To(&e.On)},
		{Name: "kind", Of: config.SomeText("a kind of message").To(&e.Kind)},
		{Name: "count", Of: count.To(&e.Count)},
		{Name: "times", Of: count.To(&e.Times)},
		{Name: "wait", Of: config.Duration(0, longest).To(&e.Wait)},
		{Name: "do", Required: true, Of: verbType(script).To(&e.Do)},
		{Name: "node", Of: process.To(&e.Node)},
		{Name: "who", Of: whoType(e).Through(e.named, e.name)},
		{Name: "groups", Of: groupsType().To(&e.Groups)},
		{Name: "links", Of: linksType().To(&e.Links)},
		{Name: "shape", Of: config.Choice(wordsOf(harness.Shapes)...).To(&e.Shape)},
		{Name: "loss", Of: config.Optional(config.Number(0, 1)).To(&e.Loss)},
		{Name: "latency", Of: config.Optional(lastingType()).To(&e.Latency)},
		{Name: "by", Of: config.Duration(time.Microsecond, time.Hour).To(&e.By)},
		{Name: "for", Of: config.Duration(time.Microsecond, longest).To(&e.For)},
		{Name: "of", Of: process.To(&e.Of)},
		{Name: "target", Of: process.To(&e.Target)},
	}
	for i := range fields {
		for _, word := range Instants {
			if word.Name == fields[i].Name {
				fields[i].Doc = word.Doc
			}
		}
	}
	if !script {
		fields = slices.DeleteFunc(fields, func(f config.Field) bool {
			return slices.Contains([]string{"after", "of", "target"}, f.Name)
		})
	}
	return fields
}

// An eventReader checks whether the keys of an event go together.
type eventReader struct {
	*config.Reader
	key string
	v   *config.Value
	e   *event
}

func (l *eventReader) check(script bool) {
	verb := l.verb(script)
	l.when(script)
	if who := l.v.Get("who"); who != nil && l.has("node") {
		l.Add(who.At, config.Join(l.key, "who"), "beside node; want one of them")
	}
	if verb == nil {
		return
	}
	l.what(verb)
	for _, f := range eventFields(l.e, script) {
		if !verb.takes(f.Name) {
			l.nothing(f.Name, "for "+l.e.Do)
		}
	}
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
		if s == partition {
			return harness.DoCut
		}
		return s
	}, func(s string) string { return s })
	words := config.Choice(append(verbs(script), partition)...).Schema
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

// verb is what the event does; nil if that is wrong.
func (l *eventReader) verb(script bool) *Verb {
	do := l.e.Do
	verb := verbOf(do)
	was := slices.IndexFunc(Verbs, func(v Verb) bool { return v.was == do && do != "" })
	wrong := func(format string, args ...any) {
		l.Add(l.v.Get("do").At, config.Join(l.key, "do"), format, args...)
	}
	switch {
	case was >= 0:
		wrong("%s is called %s now", do, Verbs[was].Name)
		return nil
	case do == "": // reported where it was read
		return nil
	case script && verb == nil:
		return &operation
	case script:
	case verb == nil:
		has := append(verbs(false), partition)
		wrong("%q, want one of %s%s", config.Clip(do), strings.Join(has, ", "), l.Meant(do, has))
	case verb.script:
		wrong("%s is a line of scripts: write it into scenario.events", do)
		return nil
	}
	return verb
}

// when checks the keys that say when the event happens.
func (l *eventReader) when(script bool) {
	e := l.e
	if e.Do == harness.DoDrop {
		for _, name := range []string{"every", "rate", "after", "on", "wait"} {
			l.nothing(name, "for drop, which is a rule from at on")
		}
	} else {
		l.instant(script)
	}
	if e.On != "" || e.Do == harness.DoDrop {
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
		l.Add(l.v.At, l.key, "want one of at, %s, as %s", strings.Join(starts, ", "), like)
		return
	}
	if !l.has("on") {
		l.nothing("wait", "without on")
		l.nothing("count", "without on or do: drop")
		if given == 0 || l.has("after") {
			l.nothing("times", "without every, rate, on or do: drop")
		}
	}
	switch {
	case l.e.On == "sent" && !l.has("kind"):
		l.Add(l.v.At, l.key, "on: sent without kind, as kind: TOKEN")
	case l.e.On != "sent" && (l.e.On != "" || !l.has("on")):
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
			var words []string
			if verb := verbOf(e.Do); verb != nil {
				words = verb.words()
			} else {
				words = (&Verb{}).words()
			}
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
				r.Add(v.At, key, "%q, want %s%s", config.Clip(v.Text), want, r.Meant(v.Text, words))
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
			words := config.Choice(wordsOf(harness.Choices)...)
			return config.AnyOf(id.Schema(), ids.Schema(), words.Schema())
		}}
}

// once reports the processes that have been seen before.
func once(r *config.Reader, key string, at config.Place, ids []algo.ID, seen map[algo.ID]bool) bool {
	before := r.Count()
	for _, q := range ids {
		if seen[q] {
			r.Add(at, key, "process %d stands twice", q)
		}
		seen[q] = true
	}
	return r.Count() == before
}

// groupsType is groups of processes, no process in two.
func groupsType() config.Type[[][]uint32] {
	group := config.Each(processType())
	t := config.As(config.Each(group), inNumbers, inIDs)
	t.Read = func(r *config.Reader, key string, v *config.Value) (out [][]uint32, ok bool) {
		if v.Kind != config.List || len(v.Items) == 0 {
			r.Add(v.At, key, "%s, want a list of groups, as [[1, 2], [3]]", v.Plain())
			return nil, false
		}
		before := r.Count()
		seen := map[algo.ID]bool{}
		for _, item := range v.Items {
			ids, ok := group.Read(r, key, item)
			if ok && len(ids) == 0 {
				r.Add(item.At, key, "an empty group; remove it")
			}
			once(r, key, item.At, ids, seen)
			out = append(out, inNumbers([][]algo.ID{ids})...)
		}
		return out, r.Count() == before
	}
	return t
}

func inNumbers(groups [][]algo.ID) [][]uint32 {
	out := make([][]uint32, len(groups))
	for i, ids := range groups {
		for _, id := range ids {
			out[i] = append(out[i], uint32(id))
		}
	}
	return out
}

func inIDs(groups [][]uint32) [][]algo.ID {
	out := make([][]algo.ID, len(groups))
	for i, numbers := range groups {
		for _, n := range numbers {
			out[i] = append(out[i], algo.ID(n))
		}
	}
	return out
}

// linksType is links, each in one direction.
func linksType() config.Type[[][2]uint32] {
	link := config.As(pairType("two processes, as [1, 2]"),
		func(p [2]algo.ID) [2]uint32 { return [2]uint32{uint32(p[0]), uint32(p[1])} },
		func(l [2]uint32) [2]algo.ID { return [2]algo.ID{algo.ID(l[0]), algo.ID(l[1])} })
	t := config.Each(link)
	t.Read = func(r *config.Reader, key string, v *config.Value) (out [][2]uint32, ok bool) {
		if v.Kind != config.List || len(v.Items) == 0 {
			r.Add(v.At, key, "%s, want a list of links, each from one process to another, "+
				"as [[1, 2], [2, 1]]", v.Plain())
			return nil, false
		}
		before := r.Count()
		for _, item := range v.Items {
			l, ok := link.Read(r, key, item)
			switch {
			case !ok:
				continue
			case l[0] == l[1]:
				r.Add(item.At, key, "%s, want a link to another process", item.Plain())
			case slices.Contains(out, l):
				r.Add(item.At, key, "link %s stands twice", item.Plain())
			}
			out = append(out, l)
		}
		return out, r.Count() == before
	}
	return t
}

// takes says whether a key means something for the verb. What says when is checked
// apart, and node is another word for who.
func (v *Verb) takes(key string) bool {
	return !slices.Contains(whatKeys, key) && key != "of" && key != "target" ||
		slices.Contains(v.Keys, key) || key == "node" && slices.Contains(v.Keys, "who")
}

// what checks whether the keys that say what happens go together, and fills in whom it
// happens to by default.
func (l *eventReader) what(verb *Verb) {
	e := l.e
	has := func(name string) bool { // a process is named by who or by node
		return l.has(name) || name == "who" && l.has("node")
	}
	given := 0
	for _, name := range verb.one {
		if has(name) {
			given++
		}
	}
	switch {
	case given == 0 && len(verb.one) > 0:
		l.Add(l.v.At, l.key, "%s without %s", e.Do, either(verb.one))
	case given > 1:
		l.Add(l.v.At, l.key, "%s with several of %s, want one", e.Do, strings.Join(verb.one, ", "))
	}
	switch e.Do {
	case harness.DoCut:
		if e.Shape != "" && !slices.Contains(centred, e.Shape) || !has("shape") {
			l.nothing("who", "without shape: "+either(centred))
			l.nothing("node", "without shape: "+either(centred))
		}
	case harness.DoSlow:
		if !has("by") {
			l.Add(l.v.At, l.key, "slow without by, as by: 20ms")
		}
	case harness.DoFlaky:
		if !has("loss") && !has("latency") {
			l.Add(l.v.At, l.key, "flaky without loss or latency, as loss: 0.3")
		}
		if has("links") && has("who") {
			l.Add(l.v.At, l.key, "flaky with links and who, want one")
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
