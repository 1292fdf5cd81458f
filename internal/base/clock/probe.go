package clock

import "time"

// tick is how often a Probe looks whether the machine lets it run.
const tick = time.Millisecond

// A Probe measures how late this machine runs what is due: every millisecond it
// wants to run, and notes by how much it was late. A tick that was missed
// altogether counts with the lateness that it met, so that one stall of 100 ms is
// a hundred late ticks and not one.
type Probe struct {
	stop chan struct{}
	done chan struct{}
	late Lateness
}

// NewProbe starts a probe. Stop it.
func NewProbe() (*Probe, error) {
	alarm, err := NewAlarm()
	if err != nil {
		return nil, err
	}
	p := &Probe{stop: make(chan struct{}), done: make(chan struct{})}
	go p.run(alarm)
	return p, nil
}

func (p *Probe) run(alarm *Alarm) {
	defer close(p.done)
	defer alarm.Close()
	due, over := Monotonic()+tick, false
	for !over {
		alarm.Set(due)
		select {
		case <-p.stop:
			over = true // what was due by now counts: the machine may not have let it run at all
		case <-alarm.C:
		}
		for now := Monotonic(); due <= now; due += tick {
			p.late.Add(now - due)
		}
	}
}

// Stop ends the probe and returns the median, the 99th percentile and the largest
// lateness since it began; the first two are rounded up by at most 1/32. All are
// zero if no tick was due.
func (p *Probe) Stop() (p50, p99, worst time.Duration) {
	close(p.stop)
	<-p.done
	return p.late.Quantile(0.50), p.late.Quantile(0.99), p.late.Max()
}
