package algotest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
)

// This file turns cases of the old form, a list in JSON with times in units of a
// message's delay, into experiments.

// What an old case may say, level by level. What stands behind the bar is for its
// readers alone.
const (
	fileKeys     = "cases | title model count"
	caseKeys     = "id algorithm kind topology params scenario expect | formula note form basis source"
	topologyKeys = "type n order edges shape quorums | K diameter"
	scenarioKeys = "crashed initial_leader token_at partition cs_duration run_until window events " +
		"workload channels params same_instant_order candidates failover_list score delta | " +
		"names ordinary repeat"
	eventKeys = "t when op node of target groups | note"
	// unbuilt are keys of cases of algorithms that are not here.
	unbuilt = "direction anonymous n_known weights centre tree capture_order failed operation"
)

// An oldCase is one on its way to becoming an experiment.
type oldCase struct {
	*Reference
	found              Mistakes
	raw                map[string]json.RawMessage
	topology, scenario object
	alg                *algo.Algorithm
}

type object = map[string]any

// oldCases reads a file of the old form.
func oldCases(text []byte) (list []Reference, found Mistakes) {
	lineOf := func(offset int) int { return 1 + bytes.Count(text[:min(offset, len(text))], []byte("\n")) }
	var top struct{ Cases []json.RawMessage }
	err := json.Unmarshal(text, &top)
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		found.add(lineOf(int(syntax.Offset)), "", "", "not JSON: %v", err)
		return nil, found
	}
	if err != nil || top.Cases == nil {
		found.add(1, "", "cases", `missing, or no list, want {"cases": [{"id": "X-1", ...}]}`)
		return nil, found
	}
	file := oldCase{Reference: &Reference{Line: 1}}
	file.keys("", text, fileKeys)
	found = file.found
	at := 0
	for _, raw := range top.Cases {
		at += bytes.Index(text[at:], raw)
		c := oldCase{Reference: &Reference{Line: lineOf(at), old: true}}
		c.read(raw)
		found = append(found, c.found...)
		list = append(list, *c.Reference)
		at += len(raw)
	}
	return list, found
}

func (c *oldCase) wrong(key, format string, args ...any) {
	c.found.add(c.Line, c.ID, key, format, args...)
}

// keys is the parts of a block that has no other keys than those.
func (c *oldCase) keys(key string, raw json.RawMessage, known string) (parts map[string]json.RawMessage) {
	if json.Unmarshal(raw, &parts) != nil || parts == nil {
		c.wrong(key, `want a block, as {"key": ...}`)
		return nil
	}
	has := strings.Fields(strings.ReplaceAll(known, "|", ""))
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		switch near := algo.Nearest(name, has); {
		case slices.Contains(has, name):
		case near != "":
			c.wrong(key, "unknown key %q; did you mean %q?", name, near)
		default:
			c.wrong(key, "unknown key %q (has: %s)", name, strings.Join(has, ", "))
		}
	}
	return parts
}

// block is a part of the case as JSON has it.
func (c *oldCase) block(key string, known string) (out object) {
	if c.keys(key, c.raw[key], known); json.Unmarshal(c.raw[key], &out) != nil {
		return object{}
	}
	return out
}

func (c *oldCase) read(raw json.RawMessage) {
	var id struct{ ID string }
	_ = json.Unmarshal(raw, &id)
	c.ID = id.ID
	c.raw = c.keys("", raw, caseKeys)
	for _, key := range []string{"id", "algorithm", "kind", "topology", "scenario", "expect"} {
		if c.raw != nil && c.raw[key] == nil {
			c.wrong(key, "missing")
		}
	}
	if c.found != nil {
		return
	}
	var about struct{ Algorithm, Kind, Formula, Note, Basis, Source, Form string }
	if err := json.Unmarshal(raw, &about); err != nil {
		c.wrong("", "%v", err)
		return
	}
	c.About = About{ID: c.ID, Formula: about.Formula, Note: about.Note, Basis: about.Basis,
		Source: about.Source, Form: about.Form}
	c.Algorithm = about.Kind + "/" + about.Algorithm
	c.topology = c.block("topology", topologyKeys+" "+unbuilt)
	c.scenario = c.block("scenario", scenarioKeys+" "+unbuilt)
	if events, ok := c.scenario["events"].([]any); ok {
		for i, e := range events {
			text, _ := json.Marshal(e) // it came from there
			c.keys(fmt.Sprintf("scenario.events[%d]", i), text, eventKeys)
		}
	}
	var err error
	if c.alg, err = algo.Lookup(c.Algorithm); err != nil || c.found != nil {
		return // cases of other algorithms are counted
	}
	_, inWords := c.scenario["events"].(string)
	if inWords || c.scenario["channels"] != nil || c.scenario["workload"] != nil {
		c.Form = "statistical" // it says in words what is random
	}
	if c.Form == "statistical" {
		return // such cases are counted as well
	}
	if c.scenario["events"] == nil {
		c.wrong("scenario.events", `missing, want a list, as [{"t": 0, "op": "request", "node": 3}]`)
	}
	for _, key := range strings.Fields(unbuilt) {
		if c.topology[key] != nil || c.scenario[key] != nil {
			c.wrong(key, "nothing here understands this yet")
		}
	}
	out := c.experiment(about.Kind, about.Algorithm)
	if c.text, err = json.Marshal(out); err != nil {
		c.wrong("", "%v", err)
	}
}

// experiment is the case as the keys of an experiment.
func (c *oldCase) experiment(problem, name string) object {
	out := object{"problem": problem, "transport": "sim", "nodes": c.topology["n"], "repetitions": 1,
		"topology": c.shape(), "network": object{"latency": "1ms"}}
	script := object{"kind": "script", "events": c.events()}
	move := func(to, from string) {
		if v := c.scenario[from]; v != nil {
			script[to] = v
		}
	}
	move("crashed", "crashed")
	move("leader", "initial_leader")
	move("holder", "token_at")
	if v := c.scenario["cs_duration"]; v != nil {
		script["hold"] = inTime(v)
	}
	switch c.scenario["same_instant_order"] {
	case nil, "ascending sender id":
	case "descending sender id":
		script["ties"] = "descending"
	default:
		c.wrong("scenario.same_instant_order", `want "ascending sender id" or "descending sender id"`)
	}
	if end := c.end(); end != 0 {
		script["until"] = (inUnits(end) + time.Microsecond).String() // that instant included
		out["time_limit"] = (inUnits(end) + time.Second).String()
	}
	out["scenario"] = script
	out["algorithms"] = []object{{"name": name, "params": c.parameters(script)}}
	script["expect"] = c.expected()
	return out
}

// inUnits is a time in units as a duration.
func inUnits(n float64) time.Duration {
	return time.Duration(math.Round(min(n, 1e9) * float64(time.Millisecond)))
}

// inTime is a value, or the bounds of one, with units for its numbers.
func inTime(v any) any {
	switch v := v.(type) {
	case float64:
		return inUnits(v).String()
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = inTime(v[i])
		}
		return out
	case object:
		out := object{}
		for key := range v {
			out[key] = inTime(v[key])
		}
		return out
	}
	return v
}

func number(v any) float64 { n, _ := v.(float64); return n }

// window is the time in which kinds of messages are counted.
func (c *oldCase) window() (from, to float64) {
	if w, _ := c.scenario["window"].([]any); len(w) == 2 && number(w[0]) < number(w[1]) {
		return number(w[0]), number(w[1])
	} else if c.scenario["window"] != nil {
		c.wrong("scenario.window", "%v, want [from, to]", c.scenario["window"])
	}
	return 0, 0
}

// end is the end of the case, in units; 0: when all is quiet.
func (c *oldCase) end() float64 {
	_, to := c.window()
	if until := number(c.scenario["run_until"]); until != 0 {
		return until
	}
	return to
}

// shape is the topology in one word, or with its keys.
func (c *oldCase) shape() any {
	t, need := c.topology, c.alg.Spec.Needs.Topology
	kind, _ := t["type"].(string)
	words, _ := t["shape"].(string)
	out := object{"kind": kind}
	switch ring := need == algo.LogicalRing || need == algo.Ring || need == algo.BidirectionalRing; {
	case kind == "ring" && ring:
		out["kind"] = algo.DefaultShape(need).Kind
	case kind == "ring":
		out["kind"] = "bidirectional-ring"
	case kind == "path", kind == "star":
		out["kind"], words = "tree", kind
	case kind == "graph":
		out["kind"], out["edges"] = "file", t["edges"]
	case !slices.Contains([]string{"complete", "tree", "grid"}, kind):
		c.wrong("topology.type", "unknown topology %q (has: complete, ring, tree, path, star, grid, graph)",
			kind)
	}
	if t["order"] != nil {
		out["order"] = t["order"]
	}
	for _, word := range []string{"path", "star", "binary", "balanced"} {
		if out["kind"] == "tree" && strings.Contains(words, word) {
			out["shape"] = word
		}
	}
	if out["kind"] == "tree" && out["shape"] == nil && number(t["n"]) > 1 {
		c.wrong("topology.shape", "%q, want a path, a star, a binary or a balanced tree", words)
	}
	return out
}

// events is the script's lines; a partition from the start on is the first of them.
func (c *oldCase) events() []object {
	out := []object{}
	if groups, ok := c.scenario["partition"].([]any); ok && len(groups) > 0 {
		out = append(out, object{"at": "0s", "do": "cut", "groups": groups})
	}
	list, _ := c.scenario["events"].([]any)
	for i, item := range list {
		e, _ := item.(object)
		to := object{}
		for name, v := range e {
			switch {
			case name == "t":
				to["at"] = inTime(v)
			case name == "op" && v == "start":
				to["do"] = "elect"
			case name == "op":
				to["do"] = v
			case name == "when" && v == "network quiescent":
				to["after"] = "quiet"
			case name == "when" && v == "immediately after its release":
				to["after"] = "release"
			case name == "when":
				c.wrong(fmt.Sprintf("scenario.events[%d].when", i),
					"%q, want \"network quiescent\" or \"immediately after its release\"", v)
			case name != "note":
				to[name] = v
			}
		}
		switch {
		case to["do"] != "boot":
			out = append(out, to)
		case to["at"] != "0s": // which all do at the start
			c.wrong(fmt.Sprintf("scenario.events[%d]", i),
				"want boot at t 0; later it is a restart of one crashed")
		}
	}
	return out
}

// presets are the parameters of the unit-delay model, in units, for a case that does not
// say them; those of one algorithm are where ours does more than the reference's.
var presets = map[string]object{
	"":                                  {"t_answer": 2.0, "t_coordinator": 4.0},
	"election/bully-ok":                 {"t_coordinator": 0.0}, // its text waits for ever
	"election/ring-max":                 {"lap_timeout": 0.0},   // likewise
	"election/bully-candidate-ordinary": {"spacing": 0.0},       // all delays are a case's own
	"election/bully-quorum":             {"backoff": 7.2e6},     // one round
}

// remarks are parameters that say in words what an algorithm does anyway.
var remarks = map[string]object{
	"election/bully":         {"announce": "lower-ranked", "contact_suspect": true},
	"election/bully-ok":      {"announce": "all-others", "suppress_duplicates": true},
	"election/bully-quality": {"announce": "all-others", "rank": "(score,id)"},
	"election/bully-modified": {
		"announce": "lower-ranked", "grant_to_leader": "reply ELECTED to sender only",
	},
	"election/bully-next-in-line": {"announce": "all except self and replaced leader"},
	"election/bully-quorum":       {"order": "version desc, id asc"},
	"election/invitation":         {"tie": "inviter leads"},
	"election/ring-list":          {"close_rule": "self-in-list"},
}

// parameters turns the case's into the plugin's; where the token is stands in the script.
func (c *oldCase) parameters(script object) object {
	all := object{}
	for _, id := range []string{"", c.Algorithm} {
		for name, v := range presets[id] {
			if c.param(name) != nil {
				all[name] = v
			}
		}
	}
	given := object{}
	if raw := c.raw["params"]; raw != nil && json.Unmarshal(raw, &given) != nil {
		c.wrong("params", `want a block, as {"t_answer": 2}`)
	}
	special, _ := c.scenario["params"].(object)
	maps.Copy(given, special)
	for _, name := range []string{"score", "delta"} {
		if v := c.scenario[name]; v != nil {
			given[name] = v
		}
	}
	if list, ok := c.scenario["candidates"].([]any); ok {
		members := object{}
		for _, p := range list {
			members[fmt.Sprint(p)] = 1.0
		}
		given["candidate"] = members
	}
	if list, ok := c.scenario["failover_list"].([]any); ok {
		given["list_length"] = float64(len(list))
		next := number(c.topology["n"])
		for _, p := range list {
			if next == number(c.scenario["initial_leader"]) {
				next--
			}
			if number(p) != next {
				c.wrong("scenario.failover_list",
					"%v, want the highest processes after the leader, falling", list)
				break
			}
			next--
		}
	}
	if words, ok := c.topology["quorums"].(string); ok {
		given["quorums"] = map[bool]string{true: "grid", false: "plane"}[strings.HasPrefix(words, "grid")]
	}
	if _, who, found := strings.Cut(fmt.Sprint(c.topology["shape"]), "holder "); found {
		given["initial_token"] = json.Number(who)
	}
	for name, v := range given {
		always, remark := remarks[c.Algorithm][name]
		switch {
		case remark && v != always:
			c.wrong("params."+name, "%v, but here it is always %v", v, always)
		case remark, name == "initial_last", name == "cs_duration":
		case name == "initial_token":
			script["holder"] = v
		default:
			all[name] = v
		}
	}
	for name := range all {
		if p := c.param(name); p != nil {
			all[name] = c.value(p, all[name])
		}
	}
	return all
}

func (c *oldCase) param(name string) *algo.Param {
	for i := range c.alg.Spec.Params {
		if p := &c.alg.Spec.Params[i]; p.Name == name {
			return p
		}
	}
	return nil
}

// value is a parameter's value as experiments have it: a block goes by process, 0 where
// it says nothing, and null is 0.
func (c *oldCase) value(p *algo.Param, v any) any {
	switch of := v.(type) {
	case nil:
		v = 0.0
	case object:
		n := int(min(number(c.topology["n"]), 10_000))
		list := make([]any, max(n, 0))
		for i := range list {
			who := fmt.Sprint(i + 1)
			list[i] = c.value(p, of[who])
			delete(of, who)
		}
		for who := range of {
			c.wrong("params."+p.Name, `%q, want a process from 1 to %d, as {"3": ...}`, who, n)
		}
		return list
	case string:
		var share float64
		if _, err := fmt.Sscanf(of, "%g x maximum one-way delay", &share); err == nil {
			v = share
		}
	}
	if p.Type == algo.Duration {
		return inTime(v)
	}
	return v
}

// renamed is what expectations of the old form are called now; those that are not there
// are called the same.
var renamed = map[string]string{
	"last_decision_at": "all_informed_at", "terminates": "quiescent", "deadlocks": "deadlock",
}

// expected is what the case expects, but for what nobody here can look at.
func (c *oldCase) expected() object {
	out, want := object{}, object{}
	if json.Unmarshal(c.raw["expect"], &want) != nil || len(want) == 0 {
		c.wrong("expect", `nothing, want what the case leads to, as {"sent": 6}`)
	}
	negative := strings.Contains(c.Formula+c.Note, "negative test")
	if negative || c.scenario["partition"] != nil {
		out["violations"] = object{"min": 0} // what it breaks is no error
	}
	names := slices.Sorted(maps.Keys(want))
	for _, name := range slices.Backward(names) { // all kinds, then single ones
		v := want[name]
		to := name
		if now, ok := renamed[name]; ok {
			to = now
		}
		x := check.ExpectationOf(to)
		switch {
		case x == nil, name == "leaders":
			c.special(out, name, v)
		case x.Measure == check.Span:
			out[to] = inTime(v)
		case x.Measure == check.Process && v == nil:
			out[to] = 0
		case x.Measure == check.Truth:
			out[to] = v == true || number(v) > 0
		case x.ByKind:
			block, _ := v.(object)
			for kind := range block {
				add(out, to, kind, block[kind])
			}
			for _, kind := range c.alg.Codec.Kinds()[:len(c.alg.Spec.Messages)] {
				if block[kind] == nil {
					add(out, to, kind, 0)
				}
			}
		default:
			out[to] = v
		}
	}
	return out
}

func add(to object, name, part string, v any) {
	if to[name] == nil {
		to[name] = object{}
	}
	to[name].(object)[part] = v
}

// special is the expectations that have another form now.
func (c *oldCase) special(out object, name string, v any) {
	from, to := c.window()
	kind, part := name, ""
	for _, m := range c.alg.Spec.Messages {
		if rest, found := strings.CutPrefix(name, m.Kind()); found {
			kind, part = m.Kind(), rest
		}
	}
	within := func(v any) {
		add(out, "sent_within", kind, v)
		add(out, "sent_within", "from", inUnits(from).String())
		add(out, "sent_within", "to", inUnits(to).String())
	}
	sides, _ := v.(object)
	switch {
	case name == "leaders":
		for side, leader := range sides {
			for _, p := range strings.Split(strings.TrimPrefix(side, "side "), ",") {
				add(out, "leaders", p, leader)
			}
		}
	case name == "leader_of_majority_side", name == "leader_of_minority_side":
		for _, p := range c.side(name == "leader_of_majority_side") {
			add(out, "leaders", fmt.Sprint(p), number(v))
		}
	case name == "all_informed_within":
		out["all_informed_at"] = inTime(object{"min": from, "max": from + number(v)})
	case part == "_per_period":
		period := c.param(strings.ToLower(kind) + "_period")
		if period == nil || to == 0 {
			c.wrong("expect."+name, "takes a window and a parameter %s_period", strings.ToLower(kind))
			return
		}
		given := object{}
		_ = json.Unmarshal(c.raw["params"], &given)
		within(number(v) * (to - from) / number(given[period.Name]))
	case kind != name && part == "_total", part == "" && c.kind(name) && to == 0:
		add(out, "sent_by_kind", kind, v)
	case part == "" && c.kind(name):
		within(v)
	default:
		c.unseen(name, v)
	}
}

func (c *oldCase) kind(name string) bool {
	return slices.Contains(c.alg.Codec.Kinds()[:len(c.alg.Spec.Messages)], name)
}

// side is the larger or the smaller side of the case's partition.
func (c *oldCase) side(larger bool) (members []any) {
	for _, side := range c.scenario["partition"].([]any) {
		list, _ := side.([]any)
		if members == nil || larger == (len(list) > len(members)) {
			members = list
		}
	}
	return members
}

// unseen is an expectation for the algorithm's own tests, unless it is misspelt.
func (c *oldCase) unseen(name string, v any) {
	var has []string
	for _, x := range check.Expectations {
		has = append(has, x.Name)
	}
	if near := algo.Nearest(name, has); near != "" {
		c.wrong("expect."+name, "unknown expectation; did you mean %q?", near)
		return
	}
	if c.Inside == nil {
		c.Inside = map[string]any{}
	}
	c.Inside[name] = v
}
