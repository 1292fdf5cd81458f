package agent

import (
	"math"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
)

// A watch measures how well the machine runs.
type watch struct {
	cpu       clock.CPUTimes
	throttled time.Duration
	clocks    clock.Pair
	probe     *clock.Probe // nil: it does not run
}

// begin is before the nodes start: their start takes the processor as well.
func (w *watch) begin() { w.cpu, _ = clock.ReadCPU() }

// Watch implements Agent.
func (l *Local) Watch() (err error) {
	w := &l.session.watch
	if w.probe, err = clock.NewProbe(); err != nil {
		return err
	}
	w.throttled, _ = clock.ReadThrottled()
	w.clocks = clock.ReadPair(l.cfg.Wall)
	return nil
}

// Health implements Agent.
func (l *Local) Health() (h Health, err error) {
	w := &l.session.watch
	h.SchedDelayP99 = w.end()
	h.ClockStep = clock.ReadPair(l.cfg.Wall).StepSince(w.clocks)
	if now, err := clock.ReadCPU(); err == nil {
		h.Busy, h.Stolen = known(now.BusySince(w.cpu)), known(now.StolenSince(w.cpu))
	}
	if now, err := clock.ReadThrottled(); err == nil {
		h.Throttled = max(now-w.throttled, 0)
	}
	return h, nil
}

// end stops the probe if it runs.
func (w *watch) end() (p99 time.Duration) {
	if w.probe != nil {
		_, p99, _ = w.probe.Stop()
		w.probe = nil
	}
	return p99
}

// known is nil for NaN.
func known(share float64) *float64 {
	if math.IsNaN(share) {
		return nil
	}
	return &share
}
