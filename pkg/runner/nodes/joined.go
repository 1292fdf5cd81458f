package nodes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/runs/queue"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/results"
)

const (
	// answerWait is how long workers may take to say that they are there.
	answerWait = time.Second
	// dialWait is how long one may take to come back.
	dialWait = 30 * time.Second
)

// FindHosts finds the machines of workers that offer them, at a NATS server: those of that
// name, or else those that the experiment names, or else all that are free and run this
// program. Note reports each machine that takes part and each that does not.
func FindHosts(ctx context.Context, s queue.Server, e *experiment.Experiment, names []string,
	note func(string)) (*Hosts, error) {
	list, err := queue.Workers(ctx, s, answerWait)
	if err != nil {
		return nil, err
	}
	if first := e.Cells[0].Plan.Hosts; len(names) == 0 {
		for _, one := range first {
			names = append(names, one.Name)
		}
	}
	list = slices.DeleteFunc(list, func(w queue.Status) bool {
		return w.Host == nil || len(names) > 0 && !slices.Contains(names, w.Machine)
	})
	ours := results.ThisSite().Tool.Binary
	var out []string
	list = slices.DeleteFunc(list, func(w queue.Status) bool {
		why := ""
		switch theirs := w.Site.Tool.Binary; {
		case theirs != ours:
			why = fmt.Sprintf("it runs another build, %.12s, and this is %.12s; use the same on all machines",
				theirs, ours)
		case w.Host.Busy != "":
			why = "it is busy with " + w.Host.Busy
		default:
			return false
		}
		out = append(out, fmt.Sprintf("host %s is left out: %s", w.Machine, why))
		return true
	})
	var missing []string
	for _, name := range names {
		if !slices.ContainsFunc(list, func(w queue.Status) bool { return w.Machine == name }) {
			missing = append(missing, name)
		}
	}
	if len(list) == 0 || len(missing) > 0 {
		what := "no host is free"
		if len(missing) > 0 {
			what = "these hosts are required but not free: " + strings.Join(missing, ", ")
		}
		out = append(out, fmt.Sprintf("%s at %s; start one on each machine, as: %s", what, s.URL,
			s.Invitation(true)))
		return nil, errors.New(strings.Join(out, "\n"))
	}
	for _, text := range out {
		note(text)
	}
	return hostsOf(s, e, list, note)
}

// hostsOf is what a hosts file of these workers would be.
func hostsOf(s queue.Server, e *experiment.Experiment, list []queue.Status, note func(string)) (
	*Hosts, error) {
	regions := e.Cells[0].Plan.Hosts == nil
	for i := range e.Cells {
		regions = regions && len(e.Cells[i].Plan.Network.Latency.Places()) > 0
	}
	var text strings.Builder
	text.WriteString("hosts:\n")
	for _, w := range list {
		one := map[string]any{"name": w.Machine, "address": w.Host.Address, "slots": w.Host.Slots,
			"command": "bench work"}
		if w.Host.Region != "" {
			one["region"] = w.Host.Region
		}
		if w.Host.Ports != (agent.Ports{}) {
			one["ports"] = w.Host.Ports.String()
		}
		line, err := json.Marshal(one)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&text, "- %s\n", line)
		regions = regions && w.Host.Region != ""
		load, _, _ := strings.Cut(w.Load, " ")
		note(fmt.Sprintf("host %s: %s, %d cores, load %s", w.Machine, w.Host.Address, w.Site.Machine.Cores,
			cmp.Or(load, "unknown")))
	}
	if regions {
		fmt.Fprintf(&text, "placement: %s\n", harness.ByRegion)
	}
	h, err := parseHosts(s.URL+" as hosts.yaml", []byte(text.String()))
	if err != nil {
		return nil, err
	}
	for i := range h.Hosts {
		name := h.Hosts[i].Name
		h.Hosts[i].dial = func() (agent.Program, error) { return s.Dial(name, dialWait) }
	}
	return h, nil
}
