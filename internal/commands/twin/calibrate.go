package twin

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// HandlingOf is what the handlers of an algorithm took for each message, in a run on real nodes: all their
// time, that for timers and requests included, over the messages.
func HandlingOf(run, label string) (time.Duration, error) {
	t, err := results.ReadTable(run)
	if err != nil {
		return 0, err
	}
	took, messages, labels := 0.0, int64(0), map[string]bool{}
	for i := range t.Trials {
		trial := &t.Trials[i]
		have := ""
		for _, f := range trial.Design {
			if f.Name == "label" {
				have = f.Value
			}
		}
		if label != "" && have != label || trial.Status != trace.OK {
			continue
		}
		if ms, known := trial.Figure(metric.Handling.Name); known && ms >= 0 {
			took, messages, labels[have] = took+ms, messages+trial.Count(metric.Delivered), true
		}
	}
	switch {
	case len(labels) > 1:
		return 0, answer.Mistaken("%s has several algorithms (%s): say which with --label", run,
			strings.Join(slices.Sorted(maps.Keys(labels)), ", "))
	case messages == 0 && label != "":
		return 0, answer.Mistaken("%s has no trial of %q on real nodes, with status ok and messages: "+
			"handling_ms says nothing", run, label)
	case messages == 0:
		return 0, answer.Mistaken("%s has no trial on real nodes, with status ok and messages: handling_ms "+
			"says nothing", run)
	}
	each := time.Duration(took / float64(messages) * float64(time.Millisecond))
	return each.Round(100 * time.Nanosecond), nil
}

// An Again runs a trial of a load on real nodes.
type Again func(*experiment.Experiment, *experiment.Trial) (trace.List, trace.Status, error)

// Calibrate runs the loads, and returns the text of a file of costs, for the disk of its folder. Handling is
// what the handlers of an algorithm take for each message. Busy is called with each load.
func Calibrate(file string, handling time.Duration, again Again, busy func(load string)) ([]byte, error) {
	begun := time.Now()
	disk, err := fsyncs(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	trials, err := loads(again, busy)
	if err != nil {
		return nil, err
	}
	fit, err := Of(trials, runtime.NumCPU())
	if err != nil {
		return nil, err
	}
	fit.Costs.Handling = handling
	comment := fmt.Sprintf("Message-handling costs, by \"bench calibrate\" on a machine with %d "+
		"processors, %s.\n"+
		"From %d trials, %d events that were handled back to back, %d wake-ups.\n",
		runtime.NumCPU(), begun.UTC().Format(time.DateTime+" MST"), len(trials), fit.Handled, fit.Woken)
	for _, l := range fit.Lateness {
		comment += fmt.Sprintf("Messages of %s were late by (p50, p75, p90) %v, with these costs %v.\n",
			l.Load, l.Real, l.Twin)
	}
	comment += fmt.Sprintf("Write times of this disk follow. Real nodes do not wait for writes; to make "+
		"simulated ones\nwait, add save: %s", disk.Literal())
	return experiment.CostsFile(comment, &fit.Costs), nil
}

// loads runs what a calibration looks at.
func loads(again Again, busy func(load string)) (trials []Trial, err error) {
	for i := range Loads {
		load := &Loads[i]
		busy(load.Name)
		e, err := load.Experiment()
		if err != nil {
			return nil, err
		}
		for _, t := range e.Trials() {
			records, status, err := again(e, &t)
			if err != nil {
				return nil, err
			}
			if status == trace.OK {
				trials = append(trials, Trial{Load: load.Name, Plan: t.Plan, Records: records})
			}
		}
	}
	return trials, nil
}

// fsyncs is how long it takes to have some bytes on the disk of a folder.
func fsyncs(dir string) (l link.Latency, err error) {
	f, err := os.CreateTemp(dir, ".calibrate-*")
	if err != nil {
		return l, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	var took []time.Duration
	for range 50 {
		begun := time.Now()
		if _, err = f.Write(make([]byte, 64)); err == nil {
			err = f.Sync()
		}
		if err != nil {
			return l, err
		}
		took = append(took, time.Since(begun).Round(time.Microsecond))
	}
	slices.Sort(took)
	var law link.Quantiles
	for i := 2; i < len(took); i += 5 {
		law.Values = append(law.Values, took[i])
	}
	l.Law = &law
	return l, nil
}
