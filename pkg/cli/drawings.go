package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/conclave-bench/conclave/internal/commands/launch"
	"github.com/conclave-bench/conclave/internal/commands/replay"
	"github.com/conclave-bench/conclave/internal/worlds/isolate"
	"github.com/conclave-bench/conclave/pkg/experiment"
)

// aTrial is what --trial takes.
const aTrial = "the trial with number `N`, from 1 (default: the only one)"

// recorded loads the experiment of the run at path.
func recorded(path string) (*experiment.Experiment, string, error) { return replay.Recorded(path) }

// again runs trials of experiments again, those on real nodes on a host.
func (s *streams) again(host string) replay.Again {
	return func(e *experiment.Experiment, t *experiment.Trial) (*replay.Rerun, error) {
		if err := launch.CheckHost(e, host); err != nil {
			return nil, err
		}
		options, err := programs()
		if err != nil {
			return nil, err
		}
		options.Host, options.Stderr = strings.Fields(host), s.err
		ctx, stop := s.interruptible(context.Background())
		defer stop()
		return replay.Run(ctx, e, t, options)
	}
}

// drawingRole draws a trial of a run, in a process of its own.
const drawingRole = "__drawing"

// draw draws a trial. The algorithm may run again for that, apart from this process.
func (s *streams) draw(d *replay.Sketch) ([][]byte, error) {
	if !isolate.Possible() {
		return d.Draw(s.again(""))
	}
	exe, err := executable()
	if err != nil {
		return nil, err
	}
	order, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	work := isolate.Work{Exe: exe, Name: os.Args[0], Args: []string{isolatedRole, drawingRole, string(order)},
		Called: fmt.Sprintf("trial %d of %s", d.Number, d.Dir)}
	end, err := work.Run()
	if err != nil {
		return nil, &replay.Unrunnable{Err: err}
	}
	out, err := replay.Sent(end.Output)
	if errors.As(err, new(*json.SyntaxError)) {
		err = fmt.Errorf("%s: %w: %s", work.Called, err, end.Said)
	}
	return out, err
}
