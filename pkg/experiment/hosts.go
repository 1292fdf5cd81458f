package experiment

import (
	"maps"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/text"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
)

// hosts is what the key hosting.hosts says: machines, or what stands for them, and what runs on each.
type hosts struct {
	Names     []string
	Placement harness.Placement
	Slots     int // processes on each; 0: any number
}

// hostsType is the names of hosts, or a block.
func hostsType() config.Type[hosts] {
	const like = "[lab1, lab2, lab3]"
	names := listed(HostName(), "a list of names, as "+like,
		func(r *config.Reader, key string, v *config.Value, name string, before []string) {
			if slices.Contains(before, name) {
				r.Add(v.At, key, "%q appears twice; give each host a name of its own", name)
			}
		})
	block := config.Block[hosts]{Like: "{names: " + like + ", placement: pack, slots: 3}",
		Fields: func(h *hosts) []config.Field {
			return []config.Field{
				{Name: "names", Example: "[lab1, lab2]", Doc: "the " +
					"hosts", Required: true, Of: names.To(&h.Names)},
				{Name: "placement", Example: "pack", With: "names: [lab1, lab2]", Doc: "spread: in turn; " +
					"pack: the first is filled first; or the host of each region", Default: harness.Spread,
					Of: PlacementType(harness.Spread, harness.Pack).To(&h.Placement)},
				{Name: "slots", Example: "3", With: "names: [lab1, lab2]", Doc: "processes on each host at " +
					"most; 0: any number", Default: "0", Of: config.Whole[int](0, maxID).To(&h.Slots)},
			}
		},
		Check: func(r *config.Reader, key string, v *config.Value, h *hosts) {
			if place := v.Get("placement"); place != nil && h.Names != nil {
				CheckPlacement(r.Diagnostics, place.At, config.Join(key, "placement"), h.Placement, h.Names)
			}
		}}.Type()
	list := config.As(names,
		func(names []string) hosts {
			return hosts{Names: names, Placement: harness.Placement{Kind: harness.Spread}}
		},
		func(h hosts) []string { return h.Names })
	plain := func(h hosts) bool { return h.Placement.Kind == harness.Spread && h.Slots == 0 }
	return config.Union(list, block, plain,
		func(v *config.Value) *config.Value { return config.Wrap("names", v) })
}

// HostName is the type of a host's name. Results join names by a plus.
func HostName() config.Type[string] {
	const pattern = `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`
	rule := text.Lazy(pattern)
	return config.Words("the name of a host", func(s string) string {
		if rule().MatchString(s) {
			return ""
		}
		return "1 to 64 letters, digits, '.', '_' and '-', beginning with a letter or a digit"
	}).Like(config.Object{"type": "string", "pattern": pattern})
}

// PlacementType is the type of a placement: one of the kinds, or the host of each region.
func PlacementType(kinds ...string) config.Type[harness.Placement] {
	word, name := config.Choice(kinds...), HostName()
	kind := config.As(word, func(kind string) harness.Placement { return harness.Placement{Kind: kind} },
		func(p harness.Placement) string { return p.Kind })
	regions := config.Type[harness.Placement]{
		Name: "the host of each region, as {frankfurt: lab1}",
		Read: func(r *config.Reader, key string, v *config.Value) (p harness.Placement, ok bool) {
			before := r.Count()
			p = harness.Placement{Kind: harness.ByRegion, Hosts: map[string]string{}}
			for _, pair := range v.Pairs {
				p.Hosts[pair.Name], _ = name.Read(r, config.Join(key, pair.Name), pair.Value)
			}
			return p, r.Count() == before
		},
		Write: func(p harness.Placement) *config.Value {
			out := config.MapOf()
			for _, region := range slices.Sorted(maps.Keys(p.Hosts)) {
				out.Set(region, config.TextOf(p.Hosts[region]))
			}
			return out
		},
		Schema: func() config.Object {
			return config.Object{"type": "object", "additionalProperties": name.Schema()}
		}}
	return config.Union(kind, regions, func(p harness.Placement) bool { return p.Hosts == nil }, nil)
}

// CheckPlacement reports a host of p that is none of names.
func CheckPlacement(d *config.Diagnostics, at config.Place, key string, p harness.Placement, names []string) {
	if region, host := p.Check(names); region != "" {
		d.Add(at, config.Join(key, region), "no host %q (has: %s)", host, strings.Join(names, ", "))
	}
}

// house says which processes of the cell live on which host, and puts them into the events
// that name one.
func (v *variant) house(p *harness.Plan) {
	var slots []harness.Slots
	for _, name := range v.hosts.Names {
		slots = append(slots, harness.Slots{Name: name, Most: v.hosts.Slots})
	}
	if slots != nil {
		var err error
		if p.Hosts, err = v.hosts.Placement.Assign(p, slots); err != nil {
			v.wrong("hosting.hosts", "%s with %d processes: %v", v.contender.Label, p.Nodes, err)
			return
		}
	}
	for _, list := range []*[]event{&v.script, &v.faultEvents} {
		*list = slices.Clone(*list)
		for i := range *list {
			if e := &(*list)[i]; e.Host != "" {
				v.eventHost(e, p)
			}
		}
	}
}

// eventHost makes an event of a host one of its processes.
func (v *variant) eventHost(e *event, p *harness.Plan) {
	wrong := func(format string, args ...any) {
		v.Add(e.at, config.Join(e.key, "host"), format, args...)
	}
	i := slices.IndexFunc(p.Hosts, func(h harness.Host) bool { return h.Name == e.Host })
	switch f := fault.Named(e.Do); {
	case p.Hosts == nil:
		wrong("%q, and the experiment has no hosts; name them, as hosting: {hosts: [lab1, lab2, lab3]}",
			e.Host)
	case i < 0:
		wrong("no host %q%s (has: %s)", e.Host, v.Meant(e.Host, v.hosts.Names),
			strings.Join(v.hosts.Names, ", "))
	case len(p.Hosts[i].Processes) == 0:
		wrong("%s hosts none of the %d processes; use more nodes, or fewer hosts", e.Host, p.Nodes)
	case len(p.Hosts[i].Processes) == p.Nodes && f != nil && f.Network != nil:
		wrong("%s hosts all %d processes, so that none of their messages leaves it; name more hosts",
			e.Host, p.Nodes)
	default:
		e.Nodes = p.Hosts[i].Processes
	}
}
