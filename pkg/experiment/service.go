package experiment

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// Services says whether systems that people run are among the algorithms.
func (e *Experiment) Services() bool {
	return slices.ContainsFunc(e.Cells, func(c Cell) bool {
		a, err := algo.Lookup(c.Algorithm)
		return err == nil && a.Service
	})
}

// servers adds the servers of a system to the plan, behind the processes that the experiment asks for, and
// checks what a system needs of the rest of the experiment.
func (v *variant) servers(p *harness.Plan) {
	a := v.contender.alg
	if !a.Service {
		return
	}
	if v.Transport != transport.NATS.Name {
		v.wrong("transport", "%s, but %s is a system of real programs; write transport: %s", v.Transport,
			a.ID, transport.NATS.Name)
	} else if !p.Network.Wire {
		v.wrong("network.wire", "missing, but the packets of %s cross a network of their own; write "+
			"network: {wire: true}", a.ID)
	}
	p.Detector = harness.NoDetector() // it has its own
	if a.Spec.Servers == "" {
		return
	}
	params, errs := a.Spec.Resolve(v.params, p.Known())
	if len(errs) > 0 { // they are reported when all is known that parameters follow from
		return
	}
	p.Servers = a.Spec.ServersOf(params)
	p.Nodes += p.Servers
}

// facts finds out what a reader of the figures of a system has to know, and refuses a row without it.
func (v *variant) facts(p *harness.Plan) {
	a := v.contender.alg
	if a.Spec.Facts == nil || len(p.Params) < len(a.Spec.Params) {
		return
	}
	known, err := a.Spec.Facts(p.Params)
	if err != nil { // it was installed a moment ago
		v.wrong("algorithms", "%s: %v", a.ID, err)
		return
	}
	v.known = map[string]string{metric.ServiceServers.Name: strconv.Itoa(p.Nodes - p.Clients()),
		metric.ServiceNetwork.Name: "wire"}
	if p.Servers == 0 {
		v.known[metric.ServiceServers.Name] = strconv.Itoa(p.Nodes)
	}
	maps.Copy(v.known, known)
	for _, c := range metric.ServiceColumns {
		if v.known[c.Name] == "" {
			v.wrong("algorithms", "%s does not tell its %s, without which its figures mean nothing; mend "+
				"its adapter", a.ID, c.Name)
		}
	}
}

// absent says why a system that is named cannot take part: it is not installed. "": it can.
func absent(a *algo.Algorithm) string {
	if a.Spec.Facts == nil {
		return ""
	}
	if _, err := a.Spec.Facts(a.Spec.Defaults(algo.Network{Nodes: 3})); err != nil {
		return err.Error()
	}
	return ""
}

// serverFault refuses a fault of a machine that the servers of a system cannot have.
func (v *variant) serverFault(e *event, f *fault.Fault) {
	a := v.contender.alg
	c := fault.Choices.Named(e.Who)
	switch {
	case a.Spec.Servers != "" && (c == nil || !c.Serves):
		v.Add(e.at, config.Join(e.key, "who"), "%s of a client of %s, which is a process of this program; "+
			"expected a server, as who: server-leader", e.Do, a.ID)
		return
	case a.Spec.Ails == nil:
		v.Add(e.at, config.Join(e.key, "do"), "%s cannot happen to %s: its adapter has no faults of disks, "+
			"clocks and processors; use crash, pause or a fault of links", e.Do, a.ID)
		return
	}
	if err := a.Spec.Ails(f.Name); err != nil {
		v.Add(e.at, config.Join(e.key, "do"), "%s cannot happen to %s: %v", e.Do, a.ID, err)
	}
}

// serverless says whether the event is about the servers of a system, and this algorithm has none.
func (v *variant) serverless(e *event) bool {
	c := fault.Choices.Named(e.Who)
	return c != nil && c.Serves && v.contender.alg.Spec.Servers == ""
}

// checkServerless refuses an event about servers where no algorithm that is compared has any.
func (v *variant) checkServerless(e *event) {
	if v.serverless(e) && len(v.skipped) == 0 && !slices.ContainsFunc(v.contenders, func(c *contender) bool {
		return c.alg.Spec.Servers != ""
	}) {
		v.Add(e.at, e.key+".who", "%s, but no algorithm of the experiment is a system with servers (has: %s)",
			e.Who, strings.Join(serviceNames(v.contender.alg.Problem), ", "))
	}
}

// serviceNames are the systems with servers that this program links.
func serviceNames(problem algo.Problem) []string {
	var names []string
	for _, a := range algo.All() {
		if a.Service && a.Spec.Servers != "" && a.Problem == problem {
			names = append(names, a.ID)
		}
	}
	if names == nil {
		return []string{"none; bench-systems links them"}
	}
	return names
}
