package nodes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/worlds/host"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// Hosts are machines over which the processes of each trial are spread, as a hosts file
// says.
type Hosts struct {
	Hosts     []Host
	Placement harness.Placement

	file *config.Layers // where mistakes are noted
	root *config.Value
	path string // of the file, and what is in it
	data []byte
	via  *Host // that leads trials in place of this process; nil: this process does
}

// A Host is one of the machines.
type Host struct {
	Name    string // for people, and in results
	Command string // starts the program "node agent" there, as ssh does; split at spaces
	Address string // at which bench and the other hosts reach it
	// Interface is the network interface there whose address it is, where Address is not
	// known beforehand.
	Interface string
	Ports     agent.Ports
	Slots     int    // processes that it may have; 0: any number
	Region    string // of the network's latency, whose processes live there by ByRegion
	Bus       string // the server of the experiment's own bus that they connect to; empty: bus.url

	dial func() (agent.Program, error) // starts it in place of Command; nil: Command does
	argv []string                      // likewise; nil: Command, split
}

const likeHost = `{name: lab1, address: 10.0.0.1, command: "ssh lab1 ./node agent"}`

func (h *Hosts) schema() *config.Schema {
	one := config.Block[Host]{
		Like: likeHost,
		Fields: func(h *Host) []config.Field {
			return []config.Field{
				{Name: "name", Required: true, Doc: "what results call the machine",
					Of: experiment.HostName().To(&h.Name)},
				{Name: "command", Required: true, Doc: `what starts "node agent" there`,
					Of: config.SomeText("a command").To(&h.Command)},
				{Name: "address", Doc: "at which bench and the other hosts reach it",
					Of: config.SomeText("a name or an IP address").To(&h.Address)},
				{Name: "interface", Doc: "the network interface there whose address it is",
					Of: config.SomeText("the name of a network interface").To(&h.Interface)},
				{Name: "ports", Doc: "that it listens on, three of them, as 7000-7002", Default: `""`,
					Of: portsType().To(&h.Ports)},
				{Name: "slots", Doc: "processes that it may have; 0 for any number", Default: "0",
					Of: config.Whole[int](0, 100_000).To(&h.Slots)},
				{Name: "region", Doc: "whose processes live there, with placement: region",
					Of: config.SomeText("the name of a region").To(&h.Region)},
				{Name: "bus", Doc: "the server of bus.url's cluster that they connect to", Default: `""`,
					Of: experiment.BusURL().To(&h.Bus)},
			}
		},
		Check: func(r *config.Reader, key string, v *config.Value, h *Host) {
			if (h.Address == "") == (h.Interface == "") {
				r.Add(v.At, key, "expected either address: or interface:")
			}
		},
	}
	return &config.Schema{
		Noun: "hosts file", Needs: "hosts: [" + likeHost + ", ...]",
		Begin: "begin with docs/how-to/hosts.md",
		Fields: []config.Field{
			{Name: "hosts", Doc: "the machines",
				Of: config.Items(one.Type(), likeHost, 1000, "hosts").To(&h.Hosts)},
			{Name: "placement", Doc: "which process lives where", Default: harness.Spread,
				Of: experiment.PlacementType(harness.Spread, harness.Pack, harness.ByRegion).
					To(&h.Placement)},
		},
	}
}

func portsType() config.Type[agent.Ports] {
	parse := func(text string) agent.Ports {
		p, _ := agent.ParsePorts(text, agent.Needed) // it was read before
		return p
	}
	return config.As(config.Words("a range of ports, as 7000-7002", func(text string) string {
		if text == "" {
			return ""
		}
		if _, err := agent.ParsePorts(text, agent.Needed); err != nil {
			return fmt.Sprintf("a range of %d ports or more, as 7000-7002", agent.Needed)
		}
		return ""
	}), parse, agent.Ports.String)
}

// LoadHosts reads a hosts file. The error, if any, holds everything that is wrong.
func LoadHosts(path string) (*Hosts, error) {
	data, err := files.Read(path, config.MaxSize)
	if err != nil {
		return nil, err
	}
	return parseHosts(path, data)
}

func parseHosts(path string, data []byte) (*Hosts, error) {
	h := &Hosts{path: path, data: data}
	l := config.NewLayers(h.schema(), algo.Nearest, nil)
	root := l.Parse(path, data)
	if root == nil {
		return nil, l.Err()
	}
	l.Document(root)
	leaves := l.Merged()
	l.Schema.Leaves(func(key string, f *config.Field) {
		if v := leaves[key]; v != nil && v.Value != nil {
			config.Of(f).Set(v.Value)
		}
	})
	if err := l.Err(); err != nil {
		return nil, err
	}
	h.file, h.root = l, root
	h.check(l, root)
	return h, l.Err()
}

// check looks for what goes beyond one host.
func (h *Hosts) check(l *config.Layers, root *config.Value) {
	list, place := root.Get("hosts"), root.Get("placement")
	if len(h.Hosts) == 0 {
		l.Add(root.At, "hosts", "missing; expected at least one, as %s", likeHost)
		return
	}
	for i, one := range h.Hosts {
		if first := h.index(one.Name); first < i {
			l.Add(list.Items[i].At, config.Item("hosts", i)+".name", "%q is the name of %s as well; give "+
				"each host a name of its own", one.Name, config.Item("hosts", first))
		}
	}
	if place != nil {
		experiment.CheckPlacement(l.Diagnostics, place.At, "placement", h.Placement, h.names())
	}
	if h.Placement.Kind != harness.ByRegion {
		return
	}
	of := map[string]string{}
	for _, one := range h.Hosts {
		if one.Region != "" {
			of[one.Region] = one.Name
		}
	}
	maps.Copy(of, h.Placement.Hosts)
	if h.Placement.Hosts = of; len(of) == 0 {
		l.Add(place.At, "placement", "region, but no host has a region:; give each host the one whose "+
			"processes live there")
	}
}

func (h *Hosts) index(name string) int {
	return slices.IndexFunc(h.Hosts, func(one Host) bool { return one.Name == name })
}

func (h *Hosts) names() (list []string) {
	for _, one := range h.Hosts {
		list = append(list, one.Name)
	}
	return list
}

// Check says why the trials of an experiment cannot be run on the hosts, and which line of the
// hosts file is to blame.
func (h *Hosts) Check(e *experiment.Experiment) error {
	list := h.root.Get("hosts")
	for i, one := range h.Hosts {
		if one.Bus != "" && e.Bus.URL == "" {
			h.file.Add(list.Items[i].Get("bus").At, config.Item("hosts", i)+".bus", "without bus.url in the "+
				"experiment, each host has a server of the run's own; leave it out, or add bus.url")
		}
	}
	for i := range e.Cells {
		plan := &e.Cells[i].Plan
		if before := h.file.Count(); plan.Hosts != nil {
			h.checkHosts(plan)
			if h.file.Count() > before {
				break
			}
			continue
		}
		_, err := h.Placement.Assign(plan, h.slots())
		var why *harness.PlaceError
		if !errors.As(err, &why) {
			continue
		}
		at, key := h.root.At, "placement"
		switch v := h.root.Get("placement"); {
		case why.Host >= 0:
			at, key = list.Items[why.Host].Get("slots").At, config.Item("hosts", why.Host)+".slots"
		case why.Slots:
			at, key = list.At, "hosts"
		case v != nil:
			at = v.At
		}
		h.file.Add(at, key, "cell %d, %s with %d processes: %v", i+1, plan.Algorithm, plan.Nodes, err)
		break // the others most probably say the same
	}
	return h.file.Err()
}

// checkHosts compares the hosts with those of a plan.
func (h *Hosts) checkHosts(plan *harness.Plan) {
	list, before := h.root.Get("hosts"), h.file.Count()
	processes := map[string][]algo.ID{}
	var named []string
	for _, one := range plan.Hosts {
		processes[one.Name] = one.Processes
		if named = append(named, one.Name); h.index(one.Name) < 0 {
			h.file.Add(list.At, "hosts", "no host %q, which the experiment has in hosting.hosts (here: %s); "+
				"add it here, or change it there", one.Name, strings.Join(h.names(), ", "))
		}
	}
	for i, one := range h.Hosts {
		at, key := list.Items[i].At, config.Item("hosts", i)
		if !slices.Contains(named, one.Name) {
			h.file.Add(at, key+".name", "%q is none of the hosts that the experiment has in hosting.hosts "+
				"(%s); remove it here, or add it there", one.Name, strings.Join(named, ", "))
		}
		if live := len(processes[one.Name]); one.Slots > 0 && live > one.Slots {
			h.file.Add(at, key+".slots", "%d, but by the experiment's hosting.hosts %d of %d processes live "+
				"there; raise it, or name more hosts", one.Slots, live, plan.Nodes)
		}
	}
	place := h.root.Get("placement")
	if place == nil || h.file.Count() > before {
		return
	}
	if own, err := h.Placement.Assign(plan, h.slots()); err != nil || !same(own, plan.Hosts) {
		h.file.Add(place.At, "placement", "%s, but the experiment itself places the processes "+
			"(hosting.hosts), and differently; remove it here", place.Plain())
	}
}

// same says whether the same processes live on each host, in whatever order the hosts are.
func same(a, b []harness.Host) bool {
	return !slices.ContainsFunc(a, func(x harness.Host) bool {
		return !slices.ContainsFunc(b, func(y harness.Host) bool {
			return x.Name == y.Name && slices.Equal(x.Processes, y.Processes)
		})
	})
}

func (h *Hosts) slots() (list []harness.Slots) {
	for _, one := range h.Hosts {
		list = append(list, harness.Slots{Name: one.Name, Most: one.Slots})
	}
	return list
}

// Machine is for runner.Options: the machine that all hosts are together.
func (h *Hosts) Machine(ctx context.Context, e *experiment.Experiment, _ runner.Options, r runner.Room) (
	runner.Machine, []results.Site, error) {
	own, err := external(e).WithoutFiles() // the hosts need not have them
	if err != nil {
		return nil, nil, err
	}
	var plans []*harness.Plan
	for i := range e.Cells {
		plans = append(plans, &e.Cells[i].Plan)
	}
	if h.via != nil {
		return h.led(ctx, own, plans, r)
	}
	return h.start(own, plans, r)
}

// start connects to all hosts, for trials of such plans.
func (h *Hosts) start(external bus.DialConfig, plans []*harness.Plan, r runner.Room) (
	runner.Machine, []results.Site, error) {
	cfg := host.MachineConfig{Nodes: r.Nodes, Run: r.Run, Pause: r.Pause, Placement: h.Placement,
		External: external}
	var err error
	if cfg.Authority, err = bus.NewAuthority(); err != nil {
		return nil, nil, err
	}
	var sites []results.Site
	var started []host.Host
	for i, one := range h.Hosts {
		command := one.argv
		if command == nil {
			command = strings.Fields(one.Command)
		}
		a, err := agent.NewRemote(agent.RemoteConfig{Name: one.Name,
			Command: command, Dial: one.dial, Address: one.Address,
			Interface: one.Interface, Ports: one.Ports,
			Nodes: r.Nodes, Run: r.Run, Authority: cfg.Authority})
		if err == nil {
			site := results.Site{Name: one.Name}
			started = append(started, host.Host{Agent: a, Address: a.Address(), Ports: one.Ports,
				Slots: one.Slots, Bus: one.Bus})
			err = json.Unmarshal(a.About(), &site)
			sites = append(sites, site)
		}
		if err != nil {
			for _, s := range started {
				s.Agent.Close()
			}
			var wrong *agent.WrongClock
			if errors.As(err, &wrong) { // a mistake on that host
				h.file.Add(h.root.Get("hosts").Items[i].At, config.Item("hosts", i), "%v", wrong)
				err = h.file.Err()
			}
			return nil, nil, err
		}
	}
	m, err := host.NewMachineOf(cfg, started...)
	if err != nil {
		return nil, nil, err
	}
	if err = h.checkClocks(m, plans); err != nil {
		m.Close()
		return nil, nil, err
	}
	for i := range sites {
		sites[i].ClockSource = m.ClockSource(i)
	}
	return m, sites, nil
}

// checkClocks says which hosts are too far from each other for any trial of a cell to be valid: the two
// that know least of each other's clocks.
func (h *Hosts) checkClocks(m interface {
	FarClocks(plans []*harness.Plan) ([]host.FarPair, error)
}, plans []*harness.Plan) error {
	far, err := m.FarClocks(plans)
	if err != nil || len(far) == 0 {
		return err
	}
	f := slices.MaxFunc(far, func(a, b host.FarPair) int { return cmp.Compare(a.Wants, b.Wants) })
	others := ""
	if n := len(far) - 1; n > 0 {
		others = fmt.Sprintf(", and between %d other pairs likewise", n)
	}
	h.file.Add(h.root.Get("hosts").Items[f.Hosts[1]].At, config.Item("hosts", f.Hosts[1]), "a time between "+
		"%s and %s can be known to %v at best%s, for so long a message and its answer take; cell %d, whose "+
		"fastest link takes %v on average, allows %v (half of that, but never less than 200µs): use a "+
		"latency of %v or more, or hosts that are nearer to each other", h.Hosts[f.Hosts[0]].Name,
		h.Hosts[f.Hosts[1]].Name, f.Best.Round(10*time.Microsecond), others, f.Plan+1, f.Fastest, f.Most,
		f.Wants)
	return h.file.Err()
}

// Names are those of the hosts, in their order.
func (h *Hosts) Names() []string { return slices.Clone(h.names()) }
