package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/files"
	"github.com/conclave-bench/conclave/internal/host"
	"github.com/conclave-bench/conclave/internal/host/agent"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// Hosts are machines over which the processes of each trial are spread, as a hosts file
// says.
type Hosts struct {
	Hosts     []Host
	Placement Placement

	file *config.Layers // where mistakes are noted
	root *config.Value
}

// A Host is one of the machines.
type Host struct {
	Name    string // for people, and in results
	Command string // starts the program "node agent" there, as ssh does; split at spaces
	Address string // at which bench and the other hosts reach it
	// Interface is the network interface there whose address it is, where Address is not
	// known beforehand.
	Interface string
	Slots     int    // processes that it may have; 0: any number
	Region    string // of the network's latency, whose processes live there by ByRegion
	Bus       string // the server of the experiment's own bus that they connect to; empty: bus.url
}

// A Placement says which process lives where: one of the kinds, or the host of each region.
type Placement struct {
	Kind  string
	Hosts map[string]string // by region
}

// ByRegion places the processes of a region on the host that names it.
const ByRegion = "region"

// badName is what is wanted instead of s as the name of a host: the column of hosts joins
// names by a plus.
func badName(s string) string {
	if nameRule.MatchString(s) {
		return ""
	}
	return "1 to 64 letters, digits, '.', '_' and '-', beginning with a letter or a digit"
}

var nameRule = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

const likeHost = `{name: lab1, address: 10.0.0.1, command: "ssh lab1 ./node agent"}`

func (h *Hosts) schema() *config.Schema {
	one := config.Block[Host]{
		Like: likeHost,
		Fields: func(h *Host) []config.Field {
			return []config.Field{
				{Name: "name", Required: true, Doc: "what results call the machine",
					Of: config.Words("a name", badName).To(&h.Name)},
				{Name: "command", Required: true, Doc: `what starts "node agent" there`,
					Of: config.SomeText("a command").To(&h.Command)},
				{Name: "address", Doc: "at which bench and the other hosts reach it",
					Of: config.SomeText("a name or an IP address").To(&h.Address)},
				{Name: "interface", Doc: "the network interface there whose address it is",
					Of: config.SomeText("the name of a network interface").To(&h.Interface)},
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
				r.Add(v.At, key, "want either address: or interface:")
			}
		},
	}
	return &config.Schema{
		Noun: "hosts file", Needs: "hosts: [" + likeHost + ", ...]",
		Begin: "begin with docs/many-machines.md",
		Fields: []config.Field{
			{Name: "hosts", Doc: "the machines",
				Of: config.Items(one.Type(), likeHost, 1000, "hosts").To(&h.Hosts)},
			{Name: "placement", Doc: "which process lives where", Default: host.Spread,
				Of: placementType().To(&h.Placement)},
		},
	}
}

// placementType is a kind of placement, or a block of regions.
func placementType() config.Type[Placement] {
	hostName := config.SomeText("the name of a host")
	kinds := config.Choice(host.Spread, host.Pack, ByRegion)
	return config.Type[Placement]{
		Name: kinds.Name + ", or the host of each region, as {frankfurt: lab1}", Words: kinds.Words,
		Read: func(r *config.Reader, key string, v *config.Value) (p Placement, ok bool) {
			if v.Kind != config.Map {
				p.Kind, ok = kinds.Read(r, key, v)
				return p, ok
			}
			p.Kind, p.Hosts = ByRegion, map[string]string{}
			for _, pair := range v.Pairs {
				p.Hosts[pair.Name], ok = hostName.Read(r, config.Join(key, pair.Name), pair.Value)
				if !ok {
					return p, false
				}
			}
			return p, true
		},
		Write:  func(p Placement) *config.Value { return config.TextOf(p.Kind) },
		Schema: kinds.Schema,
	}
}

// LoadHosts reads a hosts file. The error, if any, holds everything that is wrong.
func LoadHosts(path string) (*Hosts, error) {
	h := &Hosts{}
	l := config.NewLayers(h.schema(), algo.Nearest, nil)
	data, err := files.Read(path, config.MaxSize)
	if err != nil {
		return nil, err
	}
	root := l.Parse(path, data)
	if root == nil {
		return nil, l.Err()
	}
	l.Document(root)
	leaves := l.Merged()
	l.Schema.Leaves(func(key string, f *config.Field) {
		if v := leaves[key]; v != nil && v.Value != nil {
			f.Of.Set(v.Value)
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
		l.Add(root.At, "hosts", "missing; want at least one, as %s", likeHost)
		return
	}
	for i, one := range h.Hosts {
		if first := h.index(one.Name); first < i {
			l.Add(list.Items[i].At, config.Item("hosts", i)+".name", "%q is the name of %s as well; give "+
				"each host a name of its own", one.Name, config.Item("hosts", first))
		}
	}
	for region, name := range h.Placement.Hosts {
		if h.index(name) < 0 {
			l.Add(place.At, config.Join("placement", region), "no host %q (has: %s)", name,
				strings.Join(h.names(), ", "))
		}
	}
	if h.Placement.Kind == ByRegion && h.Placement.Hosts == nil && len(h.regions()) == 0 {
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

// regions is the host of each region, by its index.
func (h *Hosts) regions() map[string]int {
	of := map[string]int{}
	for i, one := range h.Hosts {
		if one.Region != "" {
			of[one.Region] = i
		}
	}
	for region, name := range h.Placement.Hosts {
		of[region] = h.index(name)
	}
	return of
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
		_, err := h.placement().Assign(plan, h.slots())
		var why *host.PlaceError
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

func (h *Hosts) placement() host.Placement {
	p := host.Placement{Kind: h.Placement.Kind}
	if p.Kind == ByRegion {
		p.Regions = h.regions()
	}
	return p
}

func (h *Hosts) slots() (list []host.Slots) {
	for _, one := range h.Hosts {
		list = append(list, host.Slots{Name: one.Name, Most: one.Slots})
	}
	return list
}

// Machine is for runner.Options: the machine that all hosts are together.
func (h *Hosts) Machine(_ context.Context, e *experiment.Experiment, _ runner.Options, r runner.Room) (
	runner.Machine, []results.Site, error) {
	cfg := host.MachineConfig{Nodes: r.Nodes, Run: r.Run, Pause: r.Pause, Placement: h.placement()}
	var err error
	if cfg.External, err = external(e).WithoutFiles(); err != nil { // the hosts need not have them
		return nil, nil, err
	}
	if cfg.Authority, err = bus.NewAuthority(); err != nil {
		return nil, nil, err
	}
	var sites []results.Site
	var started []host.Host
	for _, one := range h.Hosts {
		a, err := agent.NewRemote(agent.RemoteConfig{Name: one.Name,
			Command: strings.Fields(one.Command), Address: one.Address, Interface: one.Interface,
			Nodes: r.Nodes, Run: r.Run, Authority: cfg.Authority})
		if err == nil {
			site := results.Site{Name: one.Name}
			started = append(started, host.Host{Agent: a, Address: a.Address(), Slots: one.Slots,
				Bus: one.Bus})
			err = json.Unmarshal(a.About(), &site)
			sites = append(sites, site)
		}
		if err != nil {
			for _, s := range started {
				s.Agent.Close()
			}
			return nil, nil, err
		}
	}
	m, err := host.NewMachineOf(cfg, started...)
	if err != nil {
		return nil, nil, err
	}
	return lent{m}, sites, nil
}

// Names are those of the hosts, in their order.
func (h *Hosts) Names() []string { return slices.Clone(h.names()) }
