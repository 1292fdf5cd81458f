package serve

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/console"
)

// A liveMachine is what a machine has done of a run.
type liveMachine struct {
	Name string
	view.Done
	Rate string // trials per minute since the run began
	Cost string // since then; "": its price is not known
}

// machines are those that trials name, in a run that began so long ago and goes on for so long, and what all
// of them cost, in a sentence. Prices are those of an hour.
func machines(u *view.Underway, prices map[string]float64, since, left time.Duration) (list []liveMachine,
	cost string) {
	hourly := 0.0
	for _, name := range slices.Sorted(maps.Keys(u.Machines)) {
		m := liveMachine{Name: name, Done: u.Machines[name]}
		m.Rate = console.Number(view.PerMinute(m.Finished, since))
		if price, known := prices[name]; known {
			hourly += price
			m.Cost = fmt.Sprintf("%.2f", float64(price*since.Hours()))
		}
		list = append(list, m)
	}
	if hourly > 0 {
		_, cost = view.Cost(hourly*since.Hours(), hourly, left)
		cost += ". Machines that have finished no trial are not counted."
	}
	return list, cost
}
