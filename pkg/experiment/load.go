package experiment

import (
	"path/filepath"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/pkg/config"
)

// Overrides is what goes over a file: --set and flags before the environment. Two
// of the command line that give one key different values are a mistake.
type Overrides struct {
	Transport string   // "" leaves it
	Set       []string // "network.loss=0.1", the value in YAML
	Env       []string // as os.Environ; CONCLAVE_NETWORK__LOSS=0.1
}

// ours are variables that mean something else: the mark of child processes, the
// plugins that they inherit, and what makes the tests thorough.
var ours = []string{"CONCLAVE_RUN", "CONCLAVE_PLUGINS", "CONCLAVE_NIGHTLY", "CONCLAVE_SLOW",
	"CONCLAVE_SCHEDULES"}

// Load reads an experiment from a file in YAML, TOML or JSON. The error, if
// any, is an *Error that holds everything that is wrong.
func Load(path string, o Overrides) (*Experiment, error) {
	data, err := files.Read(path, config.MaxSize)
	if err != nil {
		d := newDraft(path, folder{})
		d.Add(d.top(), "", "cannot be read: %v", reason(err))
		return nil, d.Err()
	}
	return LoadContent(path, data, o)
}

// LoadContent is Load of the file at path, whose content the caller has read.
func LoadContent(path string, data []byte, o Overrides) (*Experiment, error) {
	return newDraft(path, folder{dir: filepath.Dir(path)}).load(data, o)
}

// Parse reads an experiment from memory, without a file system: it may not name files.
// The name stands in messages, and its extension says whether data is YAML, TOML or JSON.
func Parse(name string, data []byte, o Overrides) (*Experiment, error) {
	return newDraft(name, folder{memory: true}).load(data, o)
}

func (d *draft) load(data []byte, o Overrides) (*Experiment, error) {
	root := d.Parse(d.file, data)
	if root == nil {
		return nil, d.Err()
	}
	d.Document(root)
	base := filepath.Base(d.file)
	return d.finish(o, strings.TrimSuffix(base, filepath.Ext(base)))
}

// Build makes an experiment without a file. Nodes is one number or several with
// commas between, which makes a sweep; "" leaves the default.
func Build(algorithms []string, nodes string, o Overrides) (*Experiment, error) {
	d := newDraft("", folder{})
	at := d.top()
	d.Claim("algorithms", "", at.Source)
	list := &config.Value{Kind: config.List, At: at}
	for _, a := range algorithms {
		list.Items = append(list.Items, &config.Value{Kind: config.Text, Text: a, At: at})
	}
	root := config.Wrap("algorithms", list)
	if nodes != "" {
		at := config.Place{Source: "--nodes " + config.Clip(nodes)}
		d.Claim("nodes", "", at.Source)
		root.Pairs = append(root.Pairs, nodesFlag(at, nodes).Pairs...)
	}
	d.Document(root)
	for _, s := range o.Set {
		if strings.Contains(nodes, ",") && strings.HasPrefix(s, "sweep=") {
			d.Add(config.Place{Source: "--set sweep"}, "",
				"and several --nodes; put the numbers into the sweep instead")
		}
	}
	return d.finish(o, nameOf(algorithms))
}

// nodesFlag is what --nodes means as a key of a file.
func nodesFlag(at config.Place, nodes string) *config.Value {
	over := &config.Value{Kind: config.List, At: at}
	for _, w := range strings.Split(nodes, ",") {
		w = strings.TrimSpace(w)
		n := &config.Value{Kind: config.Text, Text: w, At: at}
		if config.IsDecimal(w) {
			n.Kind = config.Int
		}
		over.Items = append(over.Items, n)
	}
	if len(over.Items) == 1 {
		return config.Wrap("nodes", over.Items[0])
	}
	vary := config.Wrap("vary", &config.Value{Kind: config.Text, Text: "nodes", At: at}).With("over", over)
	return config.Wrap("sweep", &config.Value{Kind: config.List, At: at, Items: []*config.Value{vary}})
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

// finish applies the overrides, and makes the experiment if all is well.
func (d *draft) finish(o Overrides, name string) (*Experiment, error) {
	d.Environment("CONCLAVE", o.Env, ours)
	if o.Transport != "" {
		d.Assign("transport", o.Transport, "--transport "+config.Clip(o.Transport), "--transport")
	}
	for _, s := range o.Set {
		d.Layers.Set("--set", s, secret)
	}
	d.leaves = d.Merged()
	d.defaultName(name)
	d.findAlgorithms()
	d.findSweep()
	if err := d.Err(); err != nil {
		return nil, err
	}
	e := d.experiment()
	if err := d.Err(); err != nil {
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
		d.Add(config.Place{Source: d.file}, "name", "missing, and the file's own name %q is none; "+
			"write name: with %s", config.Clip(name), want)
		name = "experiment"
	}
	d.fill(d.leaves, "name", name)
}
