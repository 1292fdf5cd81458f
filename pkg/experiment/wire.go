package experiment

import "github.com/conclave-bench/conclave/pkg/harness"

// wire checks what else is said where messages cross IP packets.
func (v *variant) wire(p *harness.Plan) {
	const key = "network.wire"
	switch {
	case !p.Network.Wire:
	case v.Virtual():
		v.wrong(key, "transport %s has no packets; write transport: nats, or remove wire", v.Transport)
	case p.Network.Real:
		v.wrong(key, "with network.real, which injects nothing; remove one of them")
	case p.PerProcess > 0:
		v.wrong(key, "with hosting.per_process %d, but on a wire each node has a process of its own; remove "+
			"one of them", p.PerProcess)
	case p.Reuse:
		v.wrong(key, "with hosting.reuse, but each trial has a wire, and processes, of its own; remove one "+
			"of them")
	}
}
