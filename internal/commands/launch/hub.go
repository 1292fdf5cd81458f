package launch

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/runs/hub"
	"github.com/conclave-bench/conclave/internal/runs/queue"
)

// HubHere is a hub that is started for a run, and ends with it.
const HubHere = "here"

// findHub finds or starts the hub of the request.
func (f *Request) findHub() (err error) {
	switch {
	case f.Hub == "":
		return nil
	case f.Queue.URL != "" || f.Machines != "" || f.Host != "" || f.Shard != "" || f.Workers > 0:
		return usage("--hub with --queue, --machines, --host, --shard or --workers: the machines of the " +
			"hub run the trials; leave one of them out")
	case f.Hosts != "":
		if n, err := strconv.Atoi(f.Hosts); err != nil || n < 1 {
			return usage("--hosts %q with --hub, expected how many of its machines each trial is spread "+
				"over, as --hosts 3", f.Hosts)
		}
	}
	if f.Hub == HubHere {
		f.hub, err = f.StartHub()
	} else {
		f.hub, err = hub.Find(context.Background(), f.Hub)
	}
	if err == nil && f.Hosts == "" {
		f.Queue = f.hub
	}
	return err
}

// await waits until as many machines of a hub are free as the request says, and returns their names.
func (f *Request) await(s queue.Server) ([]string, error) {
	want, _ := strconv.Atoi(f.Hosts) // findHub has looked
	told := -1
	for {
		list, err := queue.Workers(context.Background(), s, time.Second)
		if err != nil {
			return nil, err
		}
		var names []string
		for _, w := range list {
			if w.Host != nil && w.Host.Busy == "" {
				names = append(names, w.Machine)
			}
		}
		there := len(names)
		if there >= want {
			return names[:want], nil
		}
		if there != told {
			told = there
			f.Note(fmt.Sprintf("waiting for %s of the hub with --address or --interface: %d of %d are there",
				console.Plural(want, "machine", "machines"), there, want))
		}
	}
}
