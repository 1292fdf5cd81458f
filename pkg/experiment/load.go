package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/files"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// Overrides is what goes over a file: --set and --transport before the environment. Two
// of the command line that give one key different values are a mistake.
type Overrides struct {
	Transport string   // "" leaves it
	Set       []string // "network.loss=0.1", the value in YAML
	Env       []string // as os.Environ; CONCLAVE_NETWORK__LOSS=0.1
}

// An Override is a value that went over that of the file.
type Override struct {
	Key, Value string // the value as it was given, or Hidden
	From       string // "--set", "--transport" or "environment CONCLAVE_NODES"
}

// Hidden is in place of a value that may hold a password.
const Hidden = "(not shown)"

// FromEnvironment says whether nobody typed the override beside the command.
func (o Override) FromEnvironment() bool { return strings.HasPrefix(o.From, environment) }

func (o Override) String() string {
	return fmt.Sprintf("%s=%s (%s)", clip(o.Key), clip(o.Value), o.From)
}

// Load reads an experiment from a file in YAML, TOML or JSON. The error, if
// any, is an *Error that holds everything that is wrong.
func Load(path string, o Overrides) (*Experiment, error) {
	r := &report{}
	data, err := files.Read(path, maxSize)
	if err != nil {
		r.add(origin{source: path}, "", "cannot be read: %v", reason(err))
		return nil, r.err()
	}
	return load(r, path, data, o)
}

// Parse reads an experiment from data, the content of the file at path, as Load does.
func Parse(path string, data []byte, o Overrides) (*Experiment, error) {
	return load(&report{}, path, data, o)
}

func load(r *report, path string, data []byte, o Overrides) (*Experiment, error) {
	l := newLayers(&parser{report: r, file: path})
	root := l.parse(path, data)
	if root == nil {
		return nil, r.err()
	}
	l.document(root)
	base := filepath.Base(path)
	return l.finish(o, strings.TrimSuffix(base, filepath.Ext(base)))
}

// Build makes an experiment without a file. Nodes is one number or several with
// commas between, which makes a sweep; "" leaves the default.
func Build(algorithms []string, nodes string, o Overrides) (*Experiment, error) {
	p := &parser{report: &report{}}
	l := newLayers(p)
	at := origin{source: "--algorithms"}
	l.given["algorithms"] = typed{source: at.source}
	items := &node{kind: list, at: at}
	for _, a := range algorithms {
		items.items = append(items.items, &node{kind: text, text: a, at: at})
	}
	root := &node{kind: block, at: at, pairs: []*pair{{name: "algorithms", at: at, value: items}}}
	if nodes != "" {
		l.given["nodes"] = typed{source: "--nodes " + clip(nodes)}
		root.pairs = append(root.pairs, l.nodesFlag(nodes)...)
	}
	l.document(root)
	for _, s := range o.Set {
		if strings.Contains(nodes, ",") && strings.HasPrefix(s, "sweep=") {
			p.add(origin{source: "--set sweep"}, "",
				"and several --nodes; put the numbers into the sweep instead")
		}
	}
	return l.finish(o, nameOf(algorithms))
}

// nodesFlag is what --nodes means as keys of a file.
func (l *layers) nodesFlag(nodes string) []*pair {
	at := origin{source: "--nodes " + clip(nodes)}
	over := &node{kind: list, at: at}
	for _, w := range strings.Split(nodes, ",") {
		w = strings.TrimSpace(w)
		n := &node{kind: text, text: w, at: at}
		if decimal().MatchString(w) {
			n.kind = integer
		}
		over.items = append(over.items, n)
	}
	if len(over.items) == 1 {
		return []*pair{{name: "nodes", at: at, value: over.items[0]}}
	}
	key := &node{kind: text, text: "nodes", at: at}
	vary := &node{kind: block, at: at, pairs: []*pair{
		{name: "vary", at: at, value: key}, {name: "over", at: at, value: over}}}
	items := &node{kind: list, at: at, items: []*node{vary}}
	return []*pair{{name: "sweep", at: at, value: items}}
}

// nameOf is the default name of an experiment without a file.
func nameOf(algorithms []string) string {
	short := make([]string, len(algorithms))
	for i, a := range algorithms {
		short[i] = a[strings.LastIndexByte(a, '/')+1:]
	}
	if name := strings.Join(short, "-vs-"); badName(name) == "" {
		return name
	}
	return "experiment"
}

// parse reads the file into nodes; nil, with a report, if there is nothing to go
// on with.
func (l *layers) parse(path string, data []byte) *node {
	at := origin{source: path}
	if len(data) > maxSize {
		l.add(at, "", "larger than 1 MiB, want an experiment file")
		return nil
	}
	var root *node
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".yaml", ".yml", ".json":
		root = readYAML(l.report, path, 1, data)
	case ".toml":
		root = readTOML(l.report, path, data)
	default:
		l.add(at, "", "a file of type %q, want .yaml, .yml, .toml or .json", ext)
		return nil
	}
	switch {
	case root == nil && len(l.mistakes) == 0, root != nil && root.kind == null:
		l.add(at, "", "empty; \"bench init\" prints an experiment to begin with")
		return nil
	case root != nil && root.kind != block:
		l.add(root.at, "", "%s, want a block of keys, as algorithms: [...]", root.kind)
		return nil
	}
	return root
}

// reason is an error of the file system without the path, which stands in front.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// finish applies the overrides, and makes the experiment if all is well.
func (l *layers) finish(o Overrides, name string) (*Experiment, error) {
	l.environment(o.Env)
	l.settings(o)
	d := &draft{layers: l, leaves: l.merged()}
	d.defaultName(name)
	d.findAlgorithms()
	d.findSweep()
	if err := l.err(); err != nil {
		return nil, err
	}
	e := d.experiment()
	if err := l.err(); err != nil {
		return nil, err
	}
	return e, nil
}

// defaultName names the experiment after its file.
func (d *draft) defaultName(name string) {
	if d.leaves["name"] != nil {
		return
	}
	if want := badName(name); want != "" {
		d.add(origin{source: d.file}, "name", "missing, and the file's own name %q is none; "+
			"write name: with %s", clip(name), want)
	}
	d.leaves["name"] = &leaf{&node{kind: text, text: name, at: byDefault}, name}
}

// findAlgorithms looks the algorithms up and reads their parameters.
func (d *draft) findAlgorithms() {
	l := d.leaves["algorithms"]
	if l == nil {
		d.add(d.top(), "algorithms",
			"missing, want a list, as [bully, ring-list] (\"bench list\" shows all)")
		return
	}
	entries, _ := l.value.([]entry)
	problem := d.problem(entries)
	labels := map[string]origin{}
	for _, e := range entries {
		a := d.contender(e, problem)
		if a == nil {
			continue
		}
		if first, twice := labels[a.Label]; twice {
			d.add(e.at, e.key, "label %q stands twice, first in %s; give one another, as "+
				"{name: %s, label: ...}", a.Label, place(first), e.name)
		}
		labels[a.Label] = e.at
		d.contenders = append(d.contenders, a)
	}
	for _, o := range d.params {
		d.overrideParam(o)
	}
}

// top is the origin of what is missing.
func (d *draft) top() origin {
	if d.file == "" {
		return origin{source: "--algorithms"}
	}
	return origin{source: d.file}
}

// problem is the one that the file names, or that of the names in full.
func (d *draft) problem(entries []entry) string {
	if l := d.leaves["problem"]; l != nil {
		s, _ := l.value.(string)
		return s
	}
	found := ""
	for _, e := range entries {
		head, _, full := strings.Cut(e.name, "/")
		if full && (head == "election" || head == "mutex") && found == "" {
			found = head
		}
	}
	if found == "" && len(entries) > 0 {
		hint := "write problem: election or problem: mutex"
		for _, a := range algo.All() {
			if a.Spec.Name == entries[0].name {
				hint = "write problem: " + string(a.Problem)
				break
			}
		}
		d.add(entries[0].at, "problem", "missing, and %s is not a name in full; %s",
			clip(entries[0].name), hint)
	}
	if found != "" {
		d.leaves["problem"] = &leaf{&node{kind: text, text: found, at: byDefault}, found}
	}
	return found
}

func (d *draft) contender(e entry, problem string) *contender {
	if e.name == "" || problem == "" && !strings.Contains(e.name, "/") {
		return nil
	}
	full := e.name
	if !strings.Contains(full, "/") {
		full = problem + "/" + full
	}
	if head, _, _ := strings.Cut(full, "/"); problem != "" && head != problem &&
		(head == "election" || head == "mutex") {
		d.add(e.at, e.key, "%s, but the problem is %s; an experiment has one", clip(full), problem)
		return nil
	}
	a, err := algo.Lookup(full)
	if err != nil {
		d.add(e.at, e.key, "%s", d.unknownAlgorithm(full, problem))
		return nil
	}
	c := &contender{Algorithm: Algorithm{ID: a.ID, Label: e.label, Params: map[string]any{}},
		alg: a, at: e.at, key: e.key, origins: map[string]origin{}}
	if c.Label == "" {
		c.Label = a.Spec.Name
	}
	if e.params != nil && e.params.kind == block {
		for _, q := range e.params.pairs {
			d.giveParam(c, q.name, join(join(e.key, "params"), q.name), q.at, q.value)
		}
	}
	return c
}

func (d *draft) unknownAlgorithm(full, problem string) string {
	ids := []string{}
	for _, a := range algo.All() {
		if problem == "" || string(a.Problem) == problem {
			ids = append(ids, a.ID)
		}
	}
	near := ""
	if len(full) <= 64 {
		near = algo.Nearest(strings.ToLower(full), ids)
	}
	_, short, _ := strings.Cut(full, "/")
	if near == "" {
		for _, a := range algo.All() {
			if a.Spec.Name == short {
				near = a.ID
			}
		}
	}
	text := "unknown algorithm " + strconv.Quote(clip(full))
	if near != "" {
		return text + "; did you mean " + strconv.Quote(near) + "?"
	}
	return text + " (\"bench list\" shows all: " + strings.Join(ids, ", ") + ")"
}

// overrideParam sets a parameter of every algorithm that has it.
func (d *draft) overrideParam(o assignment) {
	found := false
	for _, c := range d.contenders {
		if c.param(o.key) != nil {
			found = true
			d.giveParam(c, o.key, "params."+o.key, o.at, o.node)
		}
	}
	if !found && len(d.contenders) > 0 {
		d.add(o.at, "params."+o.key, "unknown parameter%s", d.paramsHint(o.key))
	}
}

// paramsHint says which parameters there are.
func (d *draft) paramsHint(name string) string {
	var all, have []string
	for _, c := range d.contenders {
		var own []string
		for _, p := range c.alg.Spec.Params {
			own = append(own, p.Name)
		}
		all = append(all, own...)
		text := c.alg.ID + " has none"
		if len(own) > 0 {
			text = c.alg.ID + " has: " + strings.Join(own, ", ")
		}
		if !slices.Contains(have, text) {
			have = append(have, text)
		}
	}
	return meant(name, all) + " (" + strings.Join(have, "; ") + ")"
}

// checkBus checks the files that a connection to an external bus needs.
func (d *draft) checkBus(s *settings) {
	b := &s.Bus
	if s.Transport != "nats" {
		return
	}
	files := map[string]string{"bus.credentials": b.Credentials, "bus.tls.ca": b.TLS.CA,
		"bus.tls.cert": b.TLS.Cert, "bus.tls.key": b.TLS.Key}
	for _, key := range []string{"bus.credentials", "bus.tls.ca", "bus.tls.cert", "bus.tls.key"} {
		if files[key] == "" {
			continue
		}
		at := d.leaves[key].raw.at
		if b.URL == "" {
			d.add(at, key, "without bus.url; the embedded server has credentials of its own")
			continue
		}
		info, err := os.Stat(files[key])
		switch {
		case err != nil:
			d.add(at, key, "%s cannot be read: %v", clip(d.leaves[key].raw.text), reason(err))
		case info.IsDir():
			d.add(at, key, "%s is a folder", clip(d.leaves[key].raw.text))
		case (key == "bus.credentials" || key == "bus.tls.key") && runtime.GOOS != "windows" &&
			info.Mode().Perm()&0o077 != 0:
			d.add(at, key, "%s can be read by others (mode %v); run chmod 600",
				clip(d.leaves[key].raw.text), info.Mode().Perm())
		}
	}
	if (b.TLS.Cert == "") != (b.TLS.Key == "") {
		d.add(d.top(), "bus.tls", "want both cert and key, or neither")
	}
}
