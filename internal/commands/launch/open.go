package launch

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/internal/commands/replay"
	"github.com/conclave-bench/conclave/internal/runs/queue"
	"github.com/conclave-bench/conclave/internal/worlds/wire"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	"github.com/conclave-bench/conclave/pkg/runner/nodes"
)

// A Request is a run to start, in the words of the command line.
type Request struct {
	Source
	Files                       []string // arguments
	Out, Resume, Shard, Machine string
	Machines                    string // what Host, Hosts or the URL of Queue then is
	Host, Hosts                 string
	Via                         string // the host that leads the trials; "": this process does
	Queue                       queue.Server
	// Hub is what hub.Find takes, or HubHere: a hub that ends with the run. With Hosts, which then is a
	// number of machines, trials are spread over those that have joined it; else they are Queue.
	Hub      string
	StartHub func() (queue.Server, error) // starts that hub, and tells people how to join it
	Workers  int
	Quiet    bool
	Argv     []string               // as it is written down
	Given    func(flag string) bool // whether a flag is there
	Note     func(text string)      // tells people something meanwhile
	spread   *nodes.Hosts           // what the file of hosts says; nil: there is none
	hub      queue.Server           // that of Hub
}

// Open makes the folder of a new run, or opens that of an old one.
func (f *Request) Open() (*experiment.Experiment, *results.Folder, error) {
	if err := errors.Join(f.which(), f.findHub()); err != nil {
		return nil, nil, err
	}
	if f.Resume == "" {
		e, err := f.Load(f.Files)
		if err != nil {
			return nil, nil, err
		}
		if f.Workers > 0 && !e.Virtual() {
			return nil, nil, usage("--workers with transport %s: real nodes run one trial at a time; "+
				"leave it out, or add --transport sim", e.Transport)
		}
		if err := errors.Join(CheckHost(e, f.Host), f.loadHosts(e, "")); err != nil {
			return nil, nil, err
		}
		if err := cmp.Or(f.checkQueue(e), f.checkWire(e)); err != nil {
			return nil, nil, err
		}
		config, err := e.Resolved()
		if err != nil {
			return nil, nil, err
		}
		if f.Shard != "" {
			if e, err = f.part(e); err != nil {
				return nil, nil, err
			}
		} else if f.Machine != "" {
			return nil, nil, usage("--machine without --shard: only a shard names its machine; leave it out")
		}
		header := runner.Header(e, f.Argv)
		header.Host = strings.Fields(f.Host)
		if f.spread != nil {
			header.Hosts = f.spread.Names()
		}
		if f.Queue.URL != "" {
			header.Queue = strings.ReplaceAll(e.Name, ".", "-") + "-" + strings.ToLower(rand.Text()[:12])
			header.Named = !e.Virtual()
		}
		folder, err := f.folder(e, header, config)
		return e, folder, err
	}
	for _, name := range []string{"transport", "set", "params", "seed", "repetitions", "rounds", "algorithms",
		"nodes", "out", "shard"} {
		if f.Given(name) {
			return nil, nil, usage("--%s with --resume: a resumed run keeps its settings; leave it out", name)
		}
	}
	if len(f.Files) > 0 {
		return nil, nil, usage("--resume takes no FILE, and %q is one: a resumed run has its own "+
			"copy of the experiment", f.Files[0])
	}
	e, dir, err := replay.Recorded(f.Resume)
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(f.loadHosts(e, dir), f.checkQueue(e), f.checkWire(e)); err != nil {
		return nil, nil, err
	}
	if err := f.sameHost(dir); err != nil {
		return nil, nil, err
	}
	config, err := e.Resolved()
	if err != nil {
		return nil, nil, err
	}
	folder, err := results.Open(dir, results.Resume{Config: config})
	if err != nil {
		return nil, nil, err
	}
	if err := sameSystems(e, folder); err != nil {
		return nil, nil, errors.Join(err, folder.Close())
	}
	return e, folder, nil
}

// sameSystems refuses to continue a run with other systems than it began with, as after an upgrade: a row of
// the results would mix them.
func sameSystems(e *experiment.Experiment, folder *results.Folder) error {
	if !e.Services() {
		return nil
	}
	return folder.EachTrial(func(t *results.Trial) error {
		if t.Cell > len(e.Cells) {
			return usage("--resume: the run has %d cells or more, and here it has %d; install the systems "+
				"that it began with, or begin a new run", t.Cell, len(e.Cells))
		}
		for i, now := range e.Cells[t.Cell-1].Design {
			if i < len(t.Design) && t.Design[i] != now {
				return usage("--resume: trial %d has %s %s, and here it would have %s; install the system "+
					"that the run began with, or begin a new run", t.Trial, now.Name, t.Design[i].Value,
					now.Value)
			}
		}
		return nil
	})
}

// CheckHost says why there is nothing for a host to do.
func CheckHost(e *experiment.Experiment, host string) error {
	switch {
	case host == "":
		return nil
	case e.Virtual():
		return usage("--host with transport %s: a simulation has no nodes; leave it out", e.Transport)
	case e.Bus.URL != "":
		return usage("--host with bus.url: a host has a bus of its own; leave one of them out")
	case len(strings.Fields(host)) == 0:
		return usage("--host %q, expected a command, as \"ssh lab7 ./node host\"", host)
	}
	return nil
}

// which sets what the machines stand for.
func (f *Request) which() error {
	given := f.Queue.URL
	if err := f.Queue.ReadContext(); err != nil {
		return usage("--nats-context: %v", err)
	}
	if f.Hosts != "" || f.Machines != "" { // they say where; the context says how to log in
		f.Queue.URL = given
	}
	url, spread := strings.CutPrefix(f.Machines, "spread ")
	switch {
	case f.Machines == "":
	case f.Host+f.Hosts+f.Queue.URL != "":
		return usage("--machines with --host, --hosts or --queue: each says which machines run the trials; " +
			"leave one of them out")
	case spread:
		f.Hosts = url
	case strings.Contains(f.Machines, "://") && !strings.Contains(f.Machines, " "):
		f.Queue.URL = f.Machines
	case slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(f.Machines)):
		f.Hosts = f.Machines
	default:
		f.Host = f.Machines
	}
	return nil
}

// loadHosts reads the file of hosts, if there is one, or finds workers. A run that goes on
// in dir needs those that it began with.
func (f *Request) loadHosts(e *experiment.Experiment, dir string) (err error) {
	switch {
	case f.Via != "" && (f.Hosts == "" || f.Hub != "" || strings.Contains(f.Hosts, "://")):
		return usage("--via %s without a file of hosts: it is a host there, by whose command bench reaches "+
			"it; add --hosts FILE, or leave --via out", f.Via)
	case f.Hosts == "":
		return nil
	case f.Host != "":
		return usage("--host with --hosts: one machine for all nodes, or several; leave " +
			"one of them out")
	case f.Shard != "":
		return usage("--hosts with --shard: a shard's trials are on one machine; leave one of them out")
	case e.Virtual():
		return usage("--hosts with transport %s: a simulation has no nodes; leave it out", e.Transport)
	}
	if f.Hub != "" || strings.Contains(f.Hosts, "://") {
		err = f.findHosts(e, dir)
	} else if f.spread, err = nodes.LoadHosts(f.Hosts); err != nil {
		err = usage("%v", err)
	}
	if err != nil {
		return err
	}
	if err = f.spread.Check(e); err != nil {
		return usage("%v", err)
	}
	if f.Via == "" {
		return nil
	}
	if err = f.spread.Via(f.Via); err != nil {
		return usage("--via: %v", err)
	}
	return nil
}

// findHosts finds the machines of workers.
func (f *Request) findHosts(e *experiment.Experiment, dir string) error {
	from := f.Queue
	if f.Hub != "" {
		from = f.hub
	} else {
		from.URL = f.Hosts
	}
	if err := from.Check(); err != nil {
		return usage("--hosts: %v", err)
	}
	if e.Bus.URL != "" {
		return usage("--hosts %s with bus.url: hosts that are found have a bus of their own; leave one of "+
			"them out, or list the hosts in a file", f.Hosts)
	}
	var names []string
	if dir != "" {
		h, err := results.ReadHeader(dir)
		if err != nil {
			return err
		}
		names = h.Hosts
	}
	note := func(text string) {
		if !f.Quiet {
			f.Note(text)
		}
	}
	var err error
	if f.Hub != "" && len(names) == 0 {
		if names, err = f.await(from); err != nil {
			return err
		}
	}
	f.spread, err = nodes.FindHosts(context.Background(), from, e, names, note)
	return err
}

// checkQueue says why workers elsewhere cannot run the trials.
func (f *Request) checkQueue(e *experiment.Experiment) error {
	switch {
	case f.Queue.URL == "":
		return nil
	case f.Host != "" || f.Hosts != "" || f.Shard != "" || f.Workers > 0:
		return usage("--queue with --host, --hosts, --shard or --workers: the workers say where and how " +
			"they run; leave one of them out")
	case e.Bus.URL != "":
		return usage("--queue with bus.url: workers have a bus of their own; leave one of them out")
	case slices.ContainsFunc(e.Cells, func(c experiment.Cell) bool { return c.Plan.Network.Real }):
		return usage("--queue with network.real: a worker has all nodes of a trial on one machine, and no " +
			"network between hosts is measured; use --hosts in place of --queue, or --hosts N with --hub")
	}
	if err := f.Queue.Check(); err != nil {
		return usage("--queue: %v", err)
	}
	return nil
}

// checkWire says why the trials cannot have the wire that e asks for.
func (f *Request) checkWire(e *experiment.Experiment) error {
	switch {
	case !slices.ContainsFunc(e.Cells, func(c experiment.Cell) bool { return c.Plan.Network.Wire }):
		return nil
	case f.Hosts != "":
		return usage("--hosts with network.wire: a wire is on one machine; leave one of them out")
	case f.Host != "" || f.Queue.URL != "": // the machines there say so
		return nil
	}
	return wire.Available()
}

// KeyFile is in the folder of a run that uses a queue, until the run is over.
const KeyFile = ".queue-key"

// sender puts the trials of a run into the queue.
func (f *Request) sender(e *experiment.Experiment,
	folder *results.Folder) func(context.Context) (runner.Queue, error) {
	return func(ctx context.Context) (runner.Queue, error) {
		config, err := e.Resolved()
		if err != nil {
			return nil, err
		}
		return queue.NewSender(ctx, f.Queue, queue.Run{Header: folder.Header(), Config: config,
			Program: results.ThisSite().Tool, Virtual: e.Virtual(),
			KeyFile: filepath.Join(folder.Dir(), KeyFile)},
			f.Note)
	}
}

// part is the shard of e that is asked for.
func (f *Request) part(e *experiment.Experiment) (*experiment.Experiment, error) {
	shard, err := experiment.ParseShard(f.Shard)
	if err != nil {
		return nil, usage("--shard %v", err)
	}
	if e, err = e.Only(shard); err != nil {
		return nil, usage("--shard: %v", err)
	}
	if e.Virtual() && f.Machine != "" {
		return nil, usage("--machine with transport %s: a simulation is the same on every machine; "+
			"leave it out", e.Transport)
	}
	return e, nil
}

// folder makes the folder of a new run, or opens that of a shard that was begun: whoever
// starts jobs again need not know how far one had come.
func (f *Request) folder(e *experiment.Experiment, h results.Header, config []byte) (
	*results.Folder, error) {
	if h.Shard == nil {
		return results.Create(f.Out, h, config)
	}
	if !e.Virtual() {
		name, err := f.machineName()
		if err != nil {
			return nil, err
		}
		h.Shard.Host = name
	}
	dir := results.ShardDir(f.Out, h.Name, *h.Shard)
	if _, err := results.Resolve(dir); err != nil {
		return results.Create(f.Out, h, config)
	}
	if err := f.sameHost(dir); err != nil {
		return nil, err
	}
	folder, err := results.Open(dir, results.Resume{Config: config})
	if err != nil {
		err = fmt.Errorf("shard %v exists already: %w, in another folder (--out)", h.Shard, err)
	}
	return folder, err
}

// machineName is what the machine that measures a shard is called.
func (f *Request) machineName() (string, error) {
	switch {
	case f.Machine != "":
		return f.Machine, nil
	case f.Host != "":
		return "", usage("--shard with --host: expected the name of that machine, as --machine lab7")
	}
	name, err := os.Hostname()
	if err != nil {
		return "", usage("--shard: the name of this machine is unknown: %v; give it one with --machine", err)
	}
	return name, nil
}

// sameHost makes sure that a run goes on where it began. The command in its folder
// is never executed by itself: somebody else may have written it.
func (f *Request) sameHost(dir string) error {
	h, err := results.ReadHeader(dir)
	if err != nil {
		return err
	}
	began := program.Quote(strings.Join(h.Host, " "))
	var hosts []string
	if f.spread != nil {
		hosts = f.spread.Names()
	}
	switch {
	case h.Queue != "" && f.Queue.URL == "":
		return usage("--resume: workers ran its trials; add --queue and the address of their NATS server, " +
			"or --hub and that of their hub")
	case h.Queue == "" && f.Queue.URL != "":
		return usage("--queue or --hub with --resume: the run began without one; leave it out")
	case !slices.Equal(h.Hosts, hosts):
		return usage("--resume: the run began on the hosts %s, and now they are %s; continue with the file "+
			"of hosts (--hosts) that it began with", orNone(h.Hosts), orNone(hosts))
	case slices.Equal(h.Host, strings.Fields(f.Host)):
	case len(h.Host) == 0:
		return usage("--host with --resume: the run began without one; leave it out")
	default:
		return usage("--resume: the run began on another host; add --host %s", began)
	}
	if h.Shard == nil || h.Shard.Host == "" {
		return nil
	}
	name, err := f.machineName()
	if err == nil && name != h.Shard.Host {
		return usage("shard %v began on machine %q, and this is %q: a repetition is not divided over "+
			"machines; continue there, or remove %s and run the shard again; or add --machine %s if this is "+
			"that one", h.Shard, h.Shard.Host, name, program.Quote(dir), program.Quote(h.Shard.Host))
	}
	return err
}

// orNone is a list in words.
func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
