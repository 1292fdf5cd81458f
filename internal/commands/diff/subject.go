// Package diff compares two trials event by event: where they diverge, what follows, and how each ends.
package diff

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/internal/commands/replay"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// A Subject is a trial that programs are asked to simulate.
type Subject struct {
	Name    string
	Problem algo.Problem
	header  results.Header
	config  []byte // of the experiment: as it stands, so that each program has its own defaults
	trial   int
}

// ReadSubject reads the experiment of a file, or of a folder of results.
// Its trial is 1 if it has no other, and none is named.
func ReadSubject(path string, trial *int) (*Subject, error) {
	e, config, err := experimentIn(path, experiment.Overrides{})
	if err != nil {
		return nil, err
	}
	if !transport.Repeats(e.Transport) {
		if e, _, err = experimentIn(path, experiment.Overrides{Transport: transport.Sim.Name}); err != nil {
			return nil, err
		}
		config = nil
	}
	if config == nil || filepath.Ext(path) == ".toml" {
		if config, err = e.Resolved(); err != nil {
			return nil, err
		}
	}
	if *trial == 0 {
		if *trial = 1; len(e.Trials()) != 1 {
			return nil, answer.Mistaken("%s has %d trials; add --trial N", path, len(e.Trials()))
		}
	}
	if _, err := replay.TrialOf(e, *trial); err != nil {
		return nil, err
	}
	return &Subject{Name: fmt.Sprintf("trial %d of %s", *trial, path), Problem: e.Problem,
		header: runner.Header(e, []string{"bench", "diff"}), config: config, trial: *trial}, nil
}

// experimentIn is the experiment in a file or a folder of results, and its text.
func experimentIn(path string, over experiment.Overrides) (*experiment.Experiment, []byte, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		dir, _, config, err := results.ReadConfig(path)
		if err != nil {
			return nil, nil, err
		}
		e, err := experiment.LoadContent(filepath.Join(dir, results.ConfigFile), config, over)
		return e, config, err
	}
	e, err := experiment.Load(path, over)
	if err != nil {
		return nil, nil, err
	}
	text, err := files.Read(path, config.MaxSize)
	return e, text, err
}

// By has a program simulate the trial, and returns what it says of it. The program finds a run
// that was killed before its first trial.
func (w *Subject) By(ctx context.Context, program string) (*replay.Side, error) {
	root, err := os.MkdirTemp("", "bench-diff-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root) // in the folder for what may go
	folder, err := results.Create(root, w.header, w.config)
	if err != nil {
		return nil, err
	}
	if err := folder.Close(); err != nil {
		return nil, err
	}
	if program, err = filepath.Abs(program); err != nil {
		return nil, err
	}
	var out, said bytes.Buffer
	c := exec.CommandContext(ctx, program, "replay", folder.Dir(), "--trial", fmt.Sprint(w.trial),
		"--state", "--json")
	c.Stdout, c.Stderr = &out, &said
	c.WaitDelay = time.Second // for what a script has started, once it was killed
	err = c.Run()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	side := &replay.Side{Name: program}
	if bad := answer.Unmarshal(out.Bytes(), side); bad != nil || side.Events == nil {
		text := strings.TrimSpace(proc.Harmless(said.String()))
		return nil, fmt.Errorf("%s does not simulate trial %d: %w%s", program, w.trial,
			cmp.Or(err, bad, errNoEvents), strings.TrimSuffix(": "+text, ": "))
	}
	return side, nil
}

var errNoEvents = errors.New("it names no events")
