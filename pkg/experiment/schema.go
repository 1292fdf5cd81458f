package experiment

import (
	"net/url"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
)

// A field declares one key of the experiment file.
type field struct {
	name string
	was  string // its name in earlier versions, for those who still write it
	doc  string
	def  string  // default, in YAML
	note string  // what the default is, where it follows from something else
	typ  typ     // of a leaf
	sub  []field // of a block
}

// The schema is the file's language. It is the only place that knows the keys:
// the reader, the environment, --set, sweeps, the resolved copy and the
// documentation all go by it.
var schema []field

// The types of values consult the schema for their remedies, so that it cannot
// be made before they are.
func init() { schema = fields() }

func fields() []field {
	return []field{
		{name: "name", note: "the file's name", typ: words("a name", badName).like(namePattern),
			doc: "names the experiment and its folder of results"},
		{name: "problem", note: "follows from algorithms named in full", typ: choice("election", "mutex"),
			doc: "what the algorithms solve"},
		{name: "algorithms", typ: algorithms(),
			doc: "what is compared: names, or {name, params, label}"},
		{name: "transport", def: "nats", typ: choice("nats", "sim"),
			doc: "nats: real processes on a message bus; sim: virtual time"},
		{name: "nodes", def: "5", typ: whole(1, maxID), doc: "how many processes"},
		{name: "topology", def: "auto", typ: topology(),
			doc: "who may send to whom; auto: what each algorithm needs"},
		{name: "network", doc: "what every link does", sub: []field{
			{name: "latency", def: "2ms", typ: latency(), doc: "one-way delay, end to end"},
			{name: "loss", def: "0", typ: lossRate(),
				doc: "probability that a message is lost, or bursts of loss (Gilbert-Elliott)"},
			{name: "duplication", def: "0", typ: number(0, 1),
				doc: "probability that a message arrives twice"},
			{name: "order", def: "unset", typ: choice("unset", "fifo", "unordered"),
				doc: "whether messages of a link may overtake each other; unset: they do not"},
		}},
		{name: "hosting", doc: "where processes live", sub: []field{
			{name: "run_as", def: "process", doc: "an operating-system process for each",
				typ: only(choice("process", "goroutine"), "process", "process")},
			{name: "reuse", def: "false", typ: only(truth(), false, "false"),
				doc: "keep node processes from trial to trial"},
		}},
		{name: "faults", was: "failures", doc: "what goes wrong in any scenario", sub: []field{
			{name: "crash_rate", def: "0", typ: number(0, 1e6), doc: "crashes per live process and second"},
			{name: "downtime", def: "500ms", typ: downtime(),
				doc: "from such a crash to the restart; forever: there is none"},
			{name: "max_down", def: "0", typ: whole(0, maxID),
				doc: "processes down at once by such crashes; 0: a minority, less than half"},
			{name: "events", def: "[]", typ: events(false),
				doc: "what goes wrong besides: crashes, pauses, partitions, lost messages"},
		}},
		{name: "detector", doc: "the failure detector that the harness provides", sub: detectorFields()},
		{name: "scenario", doc: "what happens in a trial", sub: scenarioFields()},
		{name: "sweep", def: "[]", typ: sweep(),
			doc: "every combination of values: a list of {vary: key, over: [...]} or {zip: [...]}"},
		{name: "repetitions", def: "10", typ: repeated(),
			doc: "trials of each cell, each with a seed of its own; or at most so many, until it is precise"},
		{name: "seed", def: "1", typ: whole(0, maxInt), doc: "decides every random choice"},
		{name: "time_limit", def: "10s", typ: span(time.Millisecond, longest),
			doc: "of a trial; what has not ended by then is a timeout"},
		{name: "trace", def: "failures", typ: choice("none", "failures", "all"),
			doc: "of which trials every event is kept"},
		{name: "retries", def: "2", typ: whole(0, 100),
			doc: "of a trial that the machine or the bus has spoilt"},
		{name: "allow", doc: "trials that may fail before the run counts as incomplete", sub: []field{
			{name: "invalid", def: "0", typ: whole(0, maxTrials), doc: "spoilt, retries included"},
			{name: "timeout", def: "0", typ: whole(0, maxTrials), doc: "not over at the time limit"},
		}},
		{name: "thresholds", def: "[]", typ: thresholds(),
			doc: "what a figure must not go beyond: a list of {metric, stat, max, min, where}"},
		{name: "bus", doc: "an external NATS server in place of the embedded one", sub: []field{
			{name: "url", def: `""`, typ: busURL(), doc: "as nats://host:4222; empty: the embedded server"},
			{name: "credentials", def: `""`, typ: filePath(), doc: "path of a .creds file"},
			{name: "tls", doc: "encryption", sub: []field{
				{name: "ca", def: `""`, typ: filePath(), doc: "path of the authority's certificate"},
				{name: "cert", def: `""`, typ: filePath(), doc: "path of our certificate"},
				{name: "key", def: `""`, typ: filePath(), doc: "path of its key"},
			}},
		}},
	}
}

func detectorFields() []field {
	return []field{
		{name: "kind", note: "perfect; in scripts none", doc: "how crashes are noticed",
			typ: choice("none", "perfect", "heartbeat", "phi")},
		{name: "delay", def: "10ms", typ: span(0, time.Hour),
			doc: "perfect: from the crash to the suspicion"},
		{name: "interval", def: "20ms", typ: span(100*time.Microsecond, time.Hour),
			doc: "heartbeat, phi: between two heartbeats"},
		{name: "timeout", def: "100ms", typ: span(100*time.Microsecond, time.Hour),
			doc: "heartbeat: the silence after which a process is suspected"},
		{name: "threshold", def: "8", typ: number(0.1, 100),
			doc: "phi: a heartbeat later than 1 in 10^threshold ever is makes suspicious"},
		{name: "window", def: "100", typ: whole(2, 100_000),
			doc: "phi: how many intervals between heartbeats it remembers"},
		{name: "deviation", note: "a quarter of the interval", typ: span(time.Microsecond, time.Hour),
			doc: "phi: the least standard deviation of the intervals that it reckons with"},
		{name: "scope", def: "all", typ: choice("all", "leader"),
			doc: "heartbeat, phi: all watch all, or the named leader alone sends and is watched"},
	}
}

func scenarioFields() []field {
	return []field{
		{name: "kind", note: "election: leader-crash; mutex: closed", typ: scenarioKind(),
			doc: "see \"bench list\""},
		{name: "initiators", def: "all", typ: initiators(),
			doc: "how many processes begin at once: a number, or all"},
		{name: "settle", def: "50ms", typ: span(0, time.Hour),
			doc: "at least so long before something happens to the leader; at most twice"},
		{name: "elections", def: "1", typ: whole(1, 100_000),
			doc: "leader-crash: how often the leader crashes, each time from a settled state"},
		{name: "shape", def: "halves", typ: choice(wordsOf(harness.Shapes)...),
			doc: "partition: how the network falls apart"},
		{name: "duration", note: "partition 2s, churn 5s, else no bound",
			typ: span(time.Millisecond, longest),
			doc: "of the partition, of the churn; no new request after it"},
		{name: "requests", note: "100, unless there is a duration", typ: whole(1, 1e9),
			doc: "entries in all"},
		{name: "think", def: "10ms", typ: lasting(), doc: "from release to the next request"},
		{name: "hold", def: "1ms", typ: lasting(), doc: "time in the critical section"},
		{name: "rate", note: "none: to be given", typ: number(1e-6, 1e6),
			doc: "requests per second, of all processes together"},
		{name: "warmup", def: "0", typ: whole(0, 1e9), doc: "entries that are not measured"},
		{name: "requesters", def: "uniform", typ: choice("uniform", "in-turn"),
			doc: "who requests next"},
		{name: "leader", note: "none", typ: id(), doc: "settled at the start"},
		{name: "holder", note: "the least process", typ: id(), doc: "of the token at the start"},
		{name: "crashed", note: "nobody", typ: idList(), doc: "down at the start"},
		{name: "until", note: "when all is quiet", typ: span(time.Microsecond, longest),
			doc: "the end, for algorithms that never fall quiet"},
		{name: "events", def: "[]", typ: events(true), doc: "what happens when"},
		{name: "expect", note: "nothing", typ: expectation(), doc: "what it should lead to"},
	}
}

func scenarioKind() typ {
	names := make([]string, len(harness.Kinds))
	for i, k := range harness.Kinds {
		names[i] = k.Name
	}
	return choice(names...)
}

func wordsOf(words []harness.Word) []string {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = w.Name
	}
	return names
}

// busURL is where an external server listens. A password in it would end up in
// results and logs.
func busURL() typ {
	return words("the address of a NATS server", func(s string) string {
		if s == "" {
			return ""
		}
		u, err := url.Parse(s)
		if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" {
			return "an address as nats://host:4222"
		}
		return ""
	}).like(`^$|^(nats|tls)://[^/@][^@]*$`).but(func(p *parser, key string, n *node) bool {
		if strings.Contains(n.text, "@") {
			p.add(n.at, key, "holds a user or a password, which would show in results; "+
				"put it into a file and name that in bus.credentials")
			return false
		}
		return true
	})
}

// but reads with t what passes a first check.
func (t typ) but(ok func(p *parser, key string, n *node) bool) typ {
	read := t.read
	t.read = func(p *parser, key string, n *node) any {
		if !ok(p, key, n) {
			return nil
		}
		return read(p, key, n)
	}
	return t
}

// filePath is the path of a file, made absolute; "" is none.
func filePath() typ {
	t := words("the path of a file", func(s string) string {
		if strings.ContainsRune(s, 0) {
			return "a path"
		}
		return ""
	})
	read := t.read
	t.read = func(p *parser, key string, n *node) any {
		name, ok := read(p, key, n).(string)
		if !ok {
			return nil
		}
		if name != "" {
			name = p.path(n.at, name)
		}
		return name
	}
	return t
}

// find is the leaf that a dotted key names or lies within, and what of the key
// lies within the leaf. Of a block f is the block and leaf is false.
func find(key string) (f *field, rest []string, leaf bool) {
	words := strings.Split(key, ".")
	fields := schema
	for i, w := range words {
		f = nil
		for j := range fields {
			if fields[j].name == w {
				f = &fields[j]
			}
		}
		if f == nil {
			return nil, nil, false
		}
		if f.sub == nil {
			rest = words[i+1:]
			if len(rest) > 0 && f.typ.expand == nil {
				return nil, nil, false
			}
			return f, rest, true
		}
		fields = f.sub
	}
	return f, nil, false
}

// renamed is what a key is called now that had another name in earlier versions;
// "" if it had none.
func renamed(key string) string {
	head, rest, _ := strings.Cut(key, ".")
	for _, f := range schema {
		if f.was == head && f.was != "" {
			return strings.TrimSuffix(join(f.name, rest), ".")
		}
	}
	return ""
}

// leaves calls visit for every leaf, in the order of the schema.
func leaves(fields []field, prefix string, visit func(key string, f *field)) {
	for i := range fields {
		f := &fields[i]
		key := join(prefix, f.name)
		if f.sub != nil {
			leaves(f.sub, key, visit)
			continue
		}
		visit(key, f)
	}
}

// sweepable says whether a key may be varied.
func sweepable(key string) bool {
	head, _, _ := strings.Cut(key, ".")
	switch head {
	case "nodes", "topology", "network", "faults", "detector", "scenario", "params":
		return true
	}
	return false
}

// A Key documents one key of the experiment file.
type Key struct {
	Path, Type, Default, Doc string
	Values                   []string // the words that it takes, if it takes words
}

// Keys is every key, in the order of the documentation. A default in
// parentheses follows from something else.
func Keys() []Key {
	var out []Key
	leaves(schema, "", func(key string, f *field) {
		k := Key{Path: key, Type: f.typ.name, Default: f.def, Doc: f.doc, Values: f.typ.choices}
		if f.note != "" {
			k.Default = "(" + f.note + ")"
		}
		out = append(out, k)
	})
	return out
}
