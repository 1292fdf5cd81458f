package runner

import (
	"context"
	"fmt"
	"slices"

	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/link"
)

// watchNetwork measures the network between the hosts of a machine before the trials, and returns what does
// so after them. What the messages of the trials met is kept even if the run was interrupted.
func (r *run) watchNetwork(m Machine) (after func(context.Context), err error) {
	real := slices.ContainsFunc(r.experiment.Cells, func(c experiment.Cell) bool {
		return c.Plan.Network.Real
	})
	part, err := m.Network(link.Before)
	if err != nil {
		return nil, fmt.Errorf("measure the network between the hosts: %w", err)
	}
	if !real && len(part.Hosts) < 2 {
		return func(context.Context) {}, nil
	}
	return func(ctx context.Context) {
		for _, phase := range []string{link.During, link.After} {
			if phase == link.After && ctx.Err() != nil {
				continue
			}
			more, err := m.Network(phase)
			if err != nil {
				r.notes = append(r.notes, fmt.Sprintf("the network between the hosts was not measured %s "+
					"the trials: %v", phase, err))
				continue
			}
			part.Routes = append(part.Routes, more.Routes...)
		}
		if r.network == nil {
			r.network = part
		} else {
			r.network.Join(part)
		}
	}, nil
}
