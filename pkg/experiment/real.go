package experiment

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/results"
)

// usuallyAtMost is what default time-outs reckon with where the network is real: most places are
// nearer.
const usuallyAtMost = 100 * time.Millisecond

// realNetwork checks what else is said of a network that is real.
func (v *variant) realNetwork(p *harness.Plan) {
	own := []string{"network.real", "network.at_most"}
	if !p.Network.Real {
		if l := v.leaves["network.at_most"]; l.Explicit() && v.recording == nil {
			v.Add(l.Raw.At, "network.at_most", "without real or recorded, where it means nothing; write "+
				"latency")
		}
		return
	}
	if v.Virtual() {
		v.wrong("network.real", "transport %s has no real network; to simulate one that a run has measured, "+
			"write network: {recorded: {run: FOLDER}}, or let bench twin do it", v.Transport)
	}
	for _, f := range networkFields(&v.files, &settings{}) {
		key := "network." + f.Name
		if l := v.leaves[key]; !slices.Contains(own, key) && l.Explicit() {
			v.Add(l.Raw.At, key, "with network.real, which injects nothing; remove one of them")
		}
	}
	p.Network.AtMost = cmp.Or(p.Network.AtMost, usuallyAtMost)
	p.Network.Latency = link.Constant(p.Network.AtMost)
}

// realLinks refuses faults that give links a latency that a real network has of itself.
func (v *variant) realLinks(p *harness.Plan) {
	if !p.Network.Real || v.Count() > 0 {
		return
	}
	for e := range p.Timeline() {
		if e.Latency != nil {
			v.wrong("network.real", "an event sets the latency of links, which are real; give it loss "+
				"alone, or leave real out")
			return
		}
	}
}

// replayed makes the links those that a run has measured between the hosts of the processes.
func (v *variant) replayed(p *harness.Plan) {
	if v.recording == nil || p.Network.Real {
		return
	}
	for _, key := range []string{"latency", "loss", "links"} {
		if l := v.leaves["network."+key]; l.Explicit() {
			v.Add(l.Raw.At, "network."+key, "with network.recorded, which says it; remove one of them")
		}
	}
	m := v.recording.matrix
	if m == nil {
		v.resampled(p)
		return
	}
	hosts := p.Hosts
	if hosts == nil {
		var slots []harness.Slots
		for _, h := range m.Hosts {
			slots = append(slots, harness.Slots{Name: h.Name, Most: h.Slots})
		}
		var err error
		if hosts, err = (harness.Placement{Kind: m.Placement}).Assign(p, slots); err != nil {
			v.wrong("network.recorded", "%d processes on the hosts of the run: %v", p.Nodes, err)
			return
		}
	}
	p.Network.Latency = link.Constant(0)
	for _, from := range hosts {
		for _, to := range hosts {
			own := linksBetween(from, to)
			if len(own.Links) == 0 {
				continue
			}
			way := m.Between(from.Name, to.Name)
			if way == nil && from.Name == to.Name { // next to what there is between hosts it takes no time
				own := link.Constant(0)
				way = &link.Own{Latency: &own}
			}
			if way == nil {
				v.wrong("network.recorded", "the run has no message from %s to %s that arrived; run it with "+
					"an algorithm that sends between them, or name other hosts in hosting.hosts (it has: %s)",
					from.Name, to.Name, lodges(m))
				return
			}
			own.Latency, own.Loss = way.Latency, way.Loss
			p.Network.Links = append(p.Network.Links, own)
			p.Network.Latency = link.Constant(max(p.Network.Latency.Average(), own.Latency.Average()))
		}
	}
}

// linksBetween are the links from each process of a host to each of another, or of the same.
func linksBetween(from, to harness.Host) (own link.Own) {
	for _, p := range from.Processes {
		for _, q := range to.Processes {
			if p != q {
				own.Links = append(own.Links, [2]uint32{uint32(p), uint32(q)})
			}
		}
	}
	return own
}

func lodges(m *link.Matrix) string {
	var names []string
	for _, h := range m.Hosts {
		names = append(names, h.Name)
	}
	return strings.Join(names, ", ")
}

// matrixType is a matrix in one line.
func matrixType() config.Type[link.Matrix] {
	read := func(s string) (m link.Matrix, err error) {
		if err = json.Unmarshal([]byte(s), &m); err == nil {
			err = m.Check()
		}
		return m, err
	}
	text := config.Words("a matrix as JSON", func(s string) string {
		if _, err := read(s); err != nil {
			return "a matrix as a run has measured it: " + err.Error()
		}
		return ""
	})
	return config.As(text, func(s string) link.Matrix { m, _ := read(s); return m },
		func(m link.Matrix) string { b, _ := json.Marshal(&m); return string(b) })
}

// matrix is what a run has measured.
func (f *folder) matrix(at config.Place, name string) (m link.Matrix, err error) {
	if f.memory {
		return m, errMemory
	}
	manifest, err := results.ReadManifest(f.path(at, name))
	if err != nil {
		return m, err
	}
	if manifest.Network == nil {
		return m, errors.New("this run has measured no network: expected one with network: {real: true}")
	}
	return manifest.Network.Condensed(), nil
}

// latencyName is what the design calls the latency of the plan.
func (v *variant) latencyName(p *harness.Plan) string {
	switch {
	case p.Network.Real:
		return "real"
	case v.recording != nil:
		return "recorded"
	}
	return p.Network.Latency.Distribution()
}
