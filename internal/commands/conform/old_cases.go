package conform

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
)

// This file converts cases of the old form, a list in JSON with times in units of a message's
// delay, into experiments. What no table names stays as it is, so that the reader of experiments
// says what is wrong with it.

type object = map[string]any

// An oldCase is one as its file has it, and the blocks of the experiment that is made of it.
type oldCase struct {
	About
	Algorithm, Kind                    string
	Topology, Params, Scenario, Expect object

	alg      *algo.Algorithm // nil: it is not here
	line     int
	found    Mistakes
	out      map[string]object
	from, to float64 // the window in which kinds of messages are counted, in units
	sides    []any   // of the partition
}

// oldKeys are those of the file that stand elsewhere now; "": they are for people.
var oldKeys = map[string]string{
	"case.id": "", "case.algorithm": "", "case.kind": "case.problem", "case.formula": "", "case.note": "",
	"case.basis": "", "case.source": "", "case.form": "", "case.topology": "", "case.params": "",
	"case.scenario": "", "case.expect": "", "topology.n": "case.nodes",
	"topology.type": "topology.kind", "topology.K": "", "topology.diameter": "", "topology.edges": "",
	"topology.direction": "", "topology.tree": "",
	"params.initial_token": "scenario.holder", "params.initial_last": "", "params.cs_duration": "",
	"scenario.initial_leader": "scenario.leader", "scenario.token_at": "scenario.holder",
	"scenario.cs_duration": "scenario.hold", "scenario.same_instant_order": "scenario.ties",
	"scenario.run_until": "scenario.until", "scenario.score": "params.score",
	"scenario.delta": "params.delta", "scenario.capture_order": "params.capture_order",
	"scenario.names": "", "scenario.ordinary": "", "event.t": "event.at",
	"event.op": "event.do", "event.when": "event.after", "event.note": "",
	"expect.last_decision_at": "expect.all_informed_at", "expect.terminates": "expect.quiescent",
	"expect.deadlocks": "expect.deadlock",
}

// oldWords are values that are called otherwise now.
var oldWords = map[any]string{
	"start": "elect", "network quiescent": "quiet", "immediately after its release": "release",
	"ascending sender id": "ascending", "descending sender id": "descending",
	"edge (i,i+1) has weight i": "by-ids",
	"cyclic: i+1, i+2, ...":     "cyclic", "ascending id": "ascending",
}

// oldRemarks are parameters that say in words what an algorithm does anyway.
var oldRemarks = map[string]any{
	"bully.announce": "lower-ranked", "bully.contact_suspect": true, "bully-ok.announce": "all-others",
	"bully-ok.suppress_duplicates": true, "bully-quality.announce": "all-others",
	"bully-quality.rank": "(score,id)", "bully-modified.announce": "lower-ranked",
	"bully-modified.grant_to_leader": "reply ELECTED to sender only",
	"bully-next-in-line.announce":    "all except self and replaced leader",
	"bully-quorum.order":             "version desc, id asc", "invitation.tie": "inviter leads",
	"ring-list.close_rule": "self-in-list", "chandy-misra.initial_forks": "lower id, dirty",
}

// oldDefaults are parameters, in units, for a case that does not say them: of the unit-delay
// model, and where ours does more than the reference's.
var oldDefaults = map[string]object{
	"":                         {"t_answer": 2.0, "t_coordinator": 4.0},
	"bully-ok":                 {"t_coordinator": 0.0}, // its text waits without end
	"ring-max":                 {"lap_timeout": 0.0},   // likewise
	"bully-candidate-ordinary": {"spacing": 0.0},       // all delays are a case's own
	"bully-quorum":             {"backoff": 7.2e6},     // one round
	"echo-extinction":          {"announce": false},
}

// sharedKeys are those of the experiment that all converted cases have in common.
var sharedKeys = object{"network": object{"latency": "1ms"}, "transport": "sim", "repetitions": 1}

// Convert turns a file of cases of the old form into the experiments that LoadCases reads. Lines
// says where each case began.
func Convert(text []byte) (out []byte, lines []int, found Mistakes) {
	var b bytes.Buffer
	to := yaml.NewEncoder(&b)
	to.SetIndent(2)
	lineOf := func(offset int) int { return 1 + bytes.Count(text[:min(offset, len(text))], []byte("\n")) }
	var top struct{ Cases []json.RawMessage }
	err := json.Unmarshal(text, &top)
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		found.add(lineOf(int(syntax.Offset)), "", "", "not JSON: %v", err)
	} else if err != nil || top.Cases == nil {
		found.add(1, "", "cases", `missing, or no list, expected {"cases": [{"id": "X-1", ...}]}`)
	}
	if len(top.Cases) > 0 {
		_ = to.Encode(sharedKeys) // into memory
	}
	at := 0
	for _, raw := range top.Cases {
		at += bytes.Index(text[at:], raw)
		c, wrong := oldCase{line: lineOf(at)}, (*json.UnmarshalTypeError)(nil)
		if errors.As(json.Unmarshal(raw, &c), &wrong) {
			key := strings.ToLower(wrong.Field[strings.LastIndex(wrong.Field, ".")+1:])
			c.found.add(c.line, c.ID, key, `%s, expected it as in {"id": "X-1", "params": {...}, ...}`,
				wrong.Value)
		} else if c.ID == "" {
			c.found.add(c.line, "", "id", `missing, expected {"id": "X-1", ...}`)
		}
		_ = to.Encode(c.document(raw))
		lines, found = append(lines, c.line), append(found, c.found...)
		at += len(raw)
	}
	return b.Bytes(), lines, found
}

// document is the case with its experiment. If its algorithm is not here, or it says something in
// words, it keeps its old form as a comment.
func (c *oldCase) document(raw []byte) *yaml.Node {
	var whole object
	_ = json.Unmarshal(raw, &whole) // as it was before
	c.alg, _ = algo.Lookup(c.Kind + "/" + c.Algorithm)
	out := object{"problem": c.Kind, "algorithms": []object{{"name": c.Algorithm}}}
	comment := ""
	words := c.inWords()
	if words != nil {
		out["words"] = words
	}
	if words != nil || c.alg == nil {
		comment = string(raw)
	} else {
		out = c.experiment(whole)
	}
	out["case"] = c.ID
	for _, key := range []string{"source", "formula", "note", "basis", "form"} {
		out[key] = whole[key]
	}
	maps.DeleteFunc(out, func(_ string, v any) bool { return v == nil })
	text, _ := json.Marshal(out)
	var plain object
	_ = yaml.Unmarshal(text, &plain) // JSON is YAML, in which whole numbers are no fractions
	place := func(key string) int {
		if i := slices.Index(firstKeys, key); i >= 0 {
			return i
		}
		return len(firstKeys)
	}
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, key := range slices.SortedFunc(maps.Keys(plain), func(a, b string) int {
		return cmp.Or(place(a)-place(b), cmp.Compare(a, b))
	}) {
		name, value := &yaml.Node{}, &yaml.Node{}
		name.SetString(key)
		_ = value.Encode(plain[key])
		lines := []*yaml.Node{value}
		if key == "scenario" { // each of its keys is in a line of its own
			lines = value.Content
		}
		for _, n := range lines {
			n.Style |= yaml.FlowStyle
		}
		root.Content = append(root.Content, name, value)
	}
	root.Content[0].HeadComment = comment
	return root
}

// firstKeys are at the top of a converted case, in this order.
var firstKeys = []string{"case", "source", "formula", "note", "basis", "form", "problem", "algorithms",
	"nodes"}

// experiment is the case as an experiment.
func (c *oldCase) experiment(whole object) object {
	c.out = map[string]object{"case": {}, "topology": {}, "params": {}, "scenario": {}, "expect": {}}
	for name, block := range map[string]object{
		"topology": c.Topology, "params": c.Params, "scenario": c.Scenario, "expect": c.Expect, "case": whole,
	} {
		c.put(name, block)
	}
	c.readScenario()
	c.readParams()
	if inside := c.readExpect(); inside != nil {
		c.out["case"]["inside"] = inside
	}
	if len(c.out["expect"]) > 0 {
		c.out["scenario"]["expect"] = c.out["expect"]
	}
	maps.Copy(c.out["case"], object{
		"algorithms": []object{{"name": c.Algorithm, "params": c.out["params"]}},
		"topology":   c.out["topology"], "scenario": c.out["scenario"],
	})
	return c.out["case"]
}

// inWords is what a reader has to interpret: how things are drawn, or what is to be done. In a
// statistical case that is also a range of sizes, how often it is repeated, and what it expects of
// all repetitions together.
func (c *oldCase) inWords() (keys []string) {
	say := func(key string, v any) {
		text, _ := json.Marshal(v)
		keys = append(keys, fmt.Sprintf("%s %s", key, text))
	}
	for _, name := range []string{"events", "operation", "channels", "workload", "repeat"} {
		v := c.Scenario[name]
		_, list := v.([]any)
		if v != nil && !list && (name != "repeat" || c.Form == statistical) {
			say("scenario."+name, v)
		}
	}
	if order, ok := c.Topology["order"].(string); ok {
		say("topology.order", order)
	}
	if c.Form != statistical {
		return keys
	}
	if n, ok := c.Topology["n"].(string); ok {
		say("topology.n", n)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Expect)) {
		if strings.HasPrefix(name, "mean_") || strings.HasPrefix(name, "runs_with_") {
			say("expect."+name, c.Expect[name])
		}
	}
	return keys
}

// put puts the keys of a block where experiments have them.
func (c *oldCase) put(block string, keys object) {
	for key, v := range keys {
		to, known := oldKeys[block+"."+key]
		if !known {
			to = block + "." + key
		}
		if word, ok := v.(string); ok && oldWords[word] != "" {
			v = oldWords[word]
		}
		if to == "scenario.hold" || to == "event.at" {
			v = inTime(v)
		}
		if at, name, found := strings.Cut(to, "."); found {
			c.out[at][name] = v
		}
	}
}

// take takes what is not put as it is out of a block, if it is of type T.
func take[T any](block object, key string) (v T, ok bool) {
	if v, ok = block[key].(T); ok {
		delete(block, key)
	}
	return v, ok
}

// readScenario is what of the topology and the scenario has another form now.
func (c *oldCase) readScenario() {
	topology, script := c.out["topology"], c.out["scenario"]
	script["kind"] = "script"
	if w, _ := script["window"].([]any); len(w) == 2 {
		delete(script, "window")
		c.from, c.to = number(w[0]), number(w[1])
		script["until"] = w[1]
	}
	if end, ok := script["until"].(float64); ok {
		script["until"] = inTime(end + 0.001) // that instant included
	}
	if topology["kind"] == "ring" {
		need := c.alg.Spec.Needs.Topology
		if need.Arbitrary() {
			need = algo.BidirectionalRing
		}
		if kind := algo.DefaultShape(need).Kind; strings.HasSuffix(kind, "ring") {
			topology["kind"] = kind
		}
	}
	if topology["centre"] == "key-value store" { // it is no process there, and the last one here
		n := number(c.out["case"]["nodes"]) + 1
		c.out["case"]["nodes"], c.out["params"]["store"] = n, n
		c.out["topology"] = object{"kind": "complete"}
	}
	if kind := topology["kind"]; kind == "path" || kind == "star" && topology["centre"] == nil {
		topology["kind"], topology["shape"] = "tree", kind
	}
	words, _ := topology["shape"].(string) // "star centre 1, holder 2"
	for _, word := range []string{"path", "star", "binary", "balanced"} {
		if strings.Contains(words, word) {
			topology["shape"] = word
		}
	}
	if _, who, found := strings.Cut(words, "holder "); found {
		script["holder"] = json.Number(who)
	}
	if words == "single node" {
		delete(topology, "shape")
	}
	events := []any{}
	if c.sides, _ = take[[]any](script, "partition"); c.sides != nil {
		events = append(events, object{"at": "0s", "do": "cut", "groups": c.sides})
	}
	list, ok := script["events"].([]any)
	for _, e := range list {
		if line, ok := e.(object); !ok {
			events = append(events, e)
		} else if line["op"] != "boot" || line["t"] != 0.0 { // which all do at the start
			c.out["event"] = object{}
			c.put("event", line)
			events = append(events, c.out["event"])
		}
	}
	if ok {
		script["events"] = events
	}
}

// readParams is what of the parameters has another form now.
func (c *oldCase) readParams() {
	script, given := c.out["scenario"], c.out["params"]
	if list, ok := take[[]any](script, "candidates"); ok {
		members := object{}
		for _, p := range list {
			members[fmt.Sprint(p)] = 1.0
		}
		given["candidate"] = members
	}
	if list, ok := take[[]any](script, "failover_list"); ok {
		given["list_length"] = len(list)
		next := number(c.out["case"]["nodes"])
		for _, p := range list {
			if next == number(script["leader"]) {
				next--
			}
			if number(p) != next {
				c.found.add(c.line, c.ID, "scenario.failover_list",
					"%v, expected the highest processes after the leader, falling", list)
				break
			}
			next--
		}
	}
	if words, ok := take[string](c.out["topology"], "quorums"); ok {
		given["quorums"] = map[bool]string{true: "grid", false: "plane"}[strings.HasPrefix(words, "grid")]
	}
	for name, v := range oldRemarks {
		if of, param, _ := strings.Cut(name, "."); of == c.Algorithm && given[param] == v {
			delete(given, param)
		}
	}
	for _, p := range c.alg.Spec.Params {
		v, ok := given[p.Name]
		for _, name := range []string{c.Algorithm, ""} {
			if def, known := oldDefaults[name][p.Name]; known && !ok {
				v, ok = def, true
			}
		}
		if ok {
			given[p.Name] = c.value(&p, v)
		}
	}
}

// value is a parameter's: a block goes by process, 0 where it says nothing, and null is 0.
func (c *oldCase) value(p *algo.Param, v any) any {
	if of, ok := v.(object); ok {
		list := make([]any, int(max(min(number(c.out["case"]["nodes"]), 10_000), 0)))
		for i := range list {
			who := strconv.Itoa(i + 1)
			list[i] = c.value(p, of[who])
			delete(of, who)
		}
		for who := range of {
			c.found.add(c.line, c.ID, "params."+p.Name, `%q, expected a process from 1 to %d, as {"3": ...}`,
				who, len(list))
		}
		return list
	}
	if v == nil {
		v = 0.0
	}
	if p.Type == algo.Duration {
		v = inTime(v)
	}
	return v
}

// readExpect is what of the expectations has another form now. It returns those for the
// algorithm's own tests.
func (c *oldCase) readExpect() map[string]any {
	want, others := c.out["expect"], object{}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		v := want[name]
		block, _ := v.(object)
		switch x := check.ExpectationOf(name); {
		case x == nil:
			others[name] = v
			delete(want, name)
		case x.Measure == check.Span:
			want[name] = inTime(v)
		case x.Measure == check.Process && v == nil:
			want[name] = 0
		case x.ByProcess && block != nil: // {"side 1,2,3": 3}
			delete(want, name)
			for side, leader := range block {
				for p := range strings.SplitSeq(strings.TrimPrefix(side, "side "), ",") {
					add(want, name, p, number(leader)) // null: nobody
				}
			}
		case x.ByKind && block != nil: // those that are not named are not sent
			for _, m := range c.alg.Spec.Messages {
				if block[m.Kind()] == nil {
					block[m.Kind()] = 0
				}
			}
		}
	}
	violates := strings.Contains(c.Formula+c.Note, "negative test") || c.sides != nil
	if violates && len(c.Expect) > 0 {
		want["violations"] = object{"min": 0} // what it breaks is no error
	}
	c.special(want, others)
	for name := range others {
		if slices.ContainsFunc(check.Expectations, func(x check.Expectation) bool {
			return algo.Nearest(name, []string{x.Name}) != ""
		}) { // misspelt
			want[name] = others[name]
			delete(others, name)
		}
	}
	if len(others) == 0 {
		return nil
	}
	return others
}

// special moves what is expected of a side or a kind alone.
func (c *oldCase) special(want, others object) {
	for _, m := range c.alg.Spec.Messages {
		kind := m.Kind()
		if v, ok := take[float64](others, kind+"_per_period"); ok {
			others[kind] = v * (c.to - c.from) / number(c.Params[strings.ToLower(kind)+"_period"])
		}
		if v, ok := take[any](others, kind); ok && c.to > 0 {
			add(want, "sent_within", kind, v)
			add(want, "sent_within", "from", inTime(c.from))
			add(want, "sent_within", "to", inTime(c.to))
		} else if ok {
			add(want, "sent_by_kind", kind, v)
		}
		if rest, ok := others["sent_without_"+kind]; ok { // of what is expected anyway
			kinds, _ := want["sent_by_kind"].(object)
			if number(want["sent"])-number(kinds[kind]) == number(rest) {
				delete(others, "sent_without_"+kind)
			}
			if number(rest) <= number(others["sent_without_"+kind+"_max"]) {
				delete(others, "sent_without_"+kind+"_max")
			}
		}
		if v, ok := take[any](others, kind+"_total"); ok {
			add(want, "sent_by_kind", kind, v)
		}
	}
	if p, ok := take[float64](others, "leader_self"); ok {
		add(want, "leaders", fmt.Sprint(p), p)
	}
	if v, ok := take[float64](others, "all_informed_within"); ok {
		want["all_informed_at"] = inTime(object{"min": c.from, "max": c.from + v})
	}
	for name, sign := range map[string]int{"leader_of_minority_side": 1, "leader_of_majority_side": -1} {
		if leader, ok := others[name]; ok && len(c.sides) > 0 {
			delete(others, name)
			size := func(side any) int { members, _ := side.([]any); return sign * len(members) }
			side := slices.MinFunc(c.sides, func(a, b any) int { return size(a) - size(b) })
			members, _ := side.([]any)
			for _, p := range members {
				add(want, "leaders", fmt.Sprint(p), number(leader))
			}
		}
	}
}

func add(to object, name, part string, v any) {
	if to[name] == nil {
		to[name] = object{}
	}
	if block, ok := to[name].(object); ok { // otherwise whoever reads it says what is wrong
		block[part] = v
	}
}

func number(v any) float64 { n, _ := v.(float64); return n }

// inTime is a number of units, or the bounds of one, as a duration.
func inTime(v any) any {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64) + "ms"
	case object:
		out := object{}
		for key := range v {
			out[key] = inTime(v[key])
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = inTime(out[i])
		}
		return out
	}
	return v
}
