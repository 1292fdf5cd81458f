package host

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A trial leads one trial on real nodes: it starts them, lets the director
// lead, carries out what is not a node's own business, and finds quiet.
type trial struct {
	machine  *Machine
	setup    *harness.Setup
	director *harness.Director
	dir      string
	plan     []byte // a line of JSON
	timeline []harness.Instruction
	nodes    []*child // by ID - 1: the present incarnation, or the last
	former   []*child // earlier incarnations
	events   chan occurrence
	queue    harness.Queue[harness.Instruction]
	alarm    *Alarm
	start    time.Duration // the common start, by Monotonic
	records  trace.List    // what the host did
	cuts     bus.Cuts
	invalid  []string
	quietAt  uint64 // activity when the director was last told of quiet, plus one
	end      harness.End
	over     bool
}

// A child is one incarnation of a node.
type child struct {
	*Child
	id          algo.ID
	incarnation uint32
	telemetry   string
	reader      *TelemetryReader
	ready       bool
	started     bool // its process runs, or will at the common start
	dead        bool // crashed by plan, or not yet started
	upAt        time.Duration
	downAt      time.Duration
	last        time.Duration // of its last record
	orders      uint64        // that it has to count as executed
	heard       uint64        // records that it reported
	own         []harness.Instruction
	bye         *farewell
	failure     string
}

// An occurrence is what the trial is told of: a node's report, or its end.
type occurrence struct {
	from   *child
	report report
	ended  bool
}

func newTrial(m *Machine, s *harness.Setup, dir string) *trial {
	t := &trial{
		machine: m, setup: s, director: harness.NewDirector(s), dir: dir,
		nodes:  make([]*child, s.Nodes),
		events: make(chan occurrence, 4*s.Nodes+64),
	}
	t.timeline = t.director.Timeline()
	for _, i := range t.timeline {
		if i.Do == harness.DoCut || i.Do == harness.DoHeal {
			t.cuts.Add(change(i, i.At))
		}
	}
	return t
}

func change(i harness.Instruction, at time.Duration) bus.Change {
	return bus.Change{At: at, Heal: i.Do == harness.DoHeal, Groups: i.Groups}
}

// close leaves no node behind.
func (t *trial) close() {
	for _, c := range append(t.former, t.nodes...) {
		if c == nil {
			continue
		}
		if c.Child != nil {
			c.Child.Close()
		}
		if c.reader != nil {
			_ = c.reader.Close()
		}
	}
	if t.alarm != nil {
		t.alarm.Close()
	}
}

// join starts the nodes and waits until all are ready.
func (t *trial) join(ctx context.Context) (harness.End, error) {
	var err error
	if t.alarm, err = NewAlarm(); err != nil {
		return harness.End{}, err
	}
	if t.plan, err = json.Marshal(&t.setup.Plan); err != nil {
		return harness.End{}, err
	}
	t.plan = append(t.plan, '\n')
	missing := 0
	for i := range t.nodes {
		c := &child{id: algo.ID(i + 1)}
		t.nodes[i] = c
		if slices.Contains(t.setup.Crashed, c.id) {
			c.dead, c.downAt = true, -1
			continue
		}
		if err := t.spawn(c, nil); err != nil {
			return harness.End{}, err
		}
		missing++
	}
	deadline := time.NewTimer(t.machine.cfg.Ready)
	defer deadline.Stop()
	for missing > 0 {
		select {
		case <-ctx.Done():
			return harness.End{}, context.Cause(ctx)
		case <-deadline.C:
			return t.notReady(), nil
		case o := <-t.events:
			switch {
			case o.report.Ready:
				missing--
				if err := t.opened(o.from); err != nil {
					return harness.End{}, err
				}
			case o.report.Error != "" || o.ended:
				return t.stillborn(o), nil
			}
		}
	}
	return harness.End{}, nil
}

func (t *trial) notReady() harness.End {
	var late []string
	for _, c := range t.nodes {
		if !c.dead && !c.ready {
			late = append(late, fmt.Sprintf("p%d", c.id))
		}
	}
	return harness.End{Invalid: []string{fmt.Sprintf("%d of %d nodes were not ready within %v: %s",
		len(late), len(t.nodes), t.machine.cfg.Ready, strings.Join(late, ", "))}}
}

func (t *trial) stillborn(o occurrence) harness.End {
	why := o.report.Error
	if why == "" {
		why = t.obituary(o.from)
	}
	return harness.End{Invalid: []string{fmt.Sprintf("node p%d was not ready: %s", o.from.id, why)}}
}

// obituary is how a node ended that should not have.
func (t *trial) obituary(c *child) string {
	text := c.Exit().String()
	if last := strings.TrimSpace(c.Stderr()); last != "" {
		text += ": " + last
	}
	return text
}

// spawn starts the process of c and hands it its plan and assignment.
func (t *trial) spawn(c *child, saved []byte) (err error) {
	cfg := &t.machine.cfg
	env := append([]string{"GOMAXPROCS=1", "CONCLAVE_RUN=" + cfg.Run}, cfg.Telltale...)
	c.Child, err = t.machine.spawner.Start(Command{Path: cfg.Exe, Args: cfg.NodeArgs, Env: env})
	if err != nil {
		return fmt.Errorf("start node p%d: %w", c.id, err)
	}
	c.telemetry = filepath.Join(t.dir, fmt.Sprintf("p%d-%d", c.id, c.incarnation))
	a := assignment{
		ID: c.id, Incarnation: c.incarnation, Saved: saved, Telemetry: c.telemetry,
		Bus: t.machine.access(int(c.id - 1)),
	}
	for _, kind := range []trace.Type{trace.Elected, trace.Up, trace.Released} {
		if t.director.Watches(kind) {
			a.Watch = append(a.Watch, kind)
		}
	}
	for _, i := range t.timeline {
		switch {
		case i.Do == harness.DoCut || i.Do == harness.DoHeal:
			a.Cuts = append(a.Cuts, change(i, i.At))
		case i.Class() == harness.Application && i.Node == c.id && c.incarnation == 0:
			a.Timeline = append(a.Timeline, i)
		}
	}
	c.own, c.started = a.Timeline, true
	line, err := json.Marshal(&a)
	if err != nil {
		return err
	}
	// A node that dies now is noticed by its end; a write error says no more.
	_, _ = c.Stdin.Write(t.plan)
	_, _ = c.Stdin.Write(append(line, '\n'))
	go t.listen(c)
	return nil
}

// listen turns what a node says, and its end, into occurrences.
func (t *trial) listen(c *child) {
	in := bufio.NewReaderSize(c.Stdout, 4096)
	for {
		var r report
		if err := readLine(in, &r); err != nil {
			break
		}
		t.events <- occurrence{from: c, report: r}
	}
	<-c.Done()
	t.events <- occurrence{from: c, ended: true}
}

// opened is a node that has become ready: its telemetry can be read.
func (t *trial) opened(c *child) (err error) {
	c.ready, c.dead = true, false
	c.reader, err = OpenTelemetry(c.telemetry)
	return err
}

// now is the time since the common start.
func (t *trial) now() time.Duration { return Monotonic() - t.start }

// order sends o to c. A node that is gone is noticed elsewhere.
func (t *trial) order(c *child, o order) {
	if o.Start == nil && !o.Stop {
		c.orders++
	}
	line, err := json.Marshal(&o)
	if err != nil {
		panic(err) // plain data
	}
	_, _ = c.Stdin.Write(append(line, '\n'))
}

// run is the trial from the common start to its end.
func (t *trial) run(ctx context.Context) (harness.End, error) {
	// Far enough ahead that every node has read its order by then.
	t.start = Monotonic() + t.machine.lead
	for _, c := range t.nodes {
		if !c.dead {
			t.order(c, order{Start: &t.start})
		}
	}
	for _, i := range t.timeline {
		if i.Class() == harness.Control {
			t.queue.Push(i.At, i.Class(), i.Node, i)
		}
	}
	gone := t.machine.busGone()
	for !t.over {
		now := t.now()
		for !t.over && t.queue.Due(now) {
			_, i := t.queue.Pop()
			t.obey(i)
		}
		if t.over {
			break
		}
		if now >= t.setup.TimeLimit {
			t.finish(t.setup.TimeLimit, harness.TimeLimit)
			break
		}
		t.lookForQuiet()
		t.alarm.Set(t.start + t.wake(now))
		select {
		case <-ctx.Done():
			return t.end, context.Cause(ctx)
		case <-gone:
			t.spoil("the bus died")
		case o := <-t.events:
			t.hear(o)
		case <-t.alarm.C:
		}
	}
	return t.end, nil
}

// wake is when to look again: at the next instruction, or for quiet.
func (t *trial) wake(now time.Duration) time.Duration {
	n := time.Duration(len(t.nodes))
	at := now + max(200*time.Microsecond, n*n*200*time.Nanosecond)
	if t.queue.Len() > 0 {
		at = min(at, t.queue.Next())
	}
	return max(min(at, t.setup.TimeLimit), 0)
}

// spoil ends the trial because the harness skewed it.
func (t *trial) spoil(format string, args ...any) {
	t.invalid = append(t.invalid, fmt.Sprintf(format, args...))
	t.finish(t.now(), harness.Broken)
}

func (t *trial) finish(at time.Duration, why harness.Reason) {
	if !t.over {
		t.over = true
		t.end = harness.End{At: at, Reason: why}
	}
}

// hear takes a node's report, or its end.
func (t *trial) hear(o occurrence) {
	c := o.from
	switch {
	case o.ended && !c.dead && c.bye == nil && c == t.nodes[c.id-1]:
		t.died(c)
	case o.report.Error != "":
		c.failure = o.report.Error
		t.broke(c, o.report.Error)
	case o.report.Ready:
		if err := t.opened(c); err != nil {
			t.spoil("node p%d: %v", c.id, err)
			return
		}
		c.upAt = t.now()
		t.order(c, order{Start: &t.start})
		t.introduce(c)
	case o.report.Bye != nil:
		c.bye = o.report.Bye
	case o.report.Record != nil:
		c.heard++
		t.instruct(t.observe(o.report.Record))
	}
}

func (t *trial) observe(r *trace.Record) []harness.Instruction {
	if r.Type == trace.Done {
		return t.director.Done()
	}
	return t.director.Observe(r)
}

// died is a node whose process ended though nobody meant it to.
func (t *trial) died(c *child) {
	why := t.obituary(c)
	if strings.Contains(why, "panic:") {
		t.broke(c, why)
		return
	}
	t.spoil("node p%d died: %s", c.id, why)
}

// broke is a node on which the plugin failed, or what it needs of the harness.
func (t *trial) broke(c *child, why string) {
	if strings.Contains(why, "panic:") || strings.Contains(why, "invariant of process") {
		t.finish(t.now(), harness.Broken)
		t.end.Err = fmt.Errorf("process %d: %s", c.id, why)
		return
	}
	t.spoil("node p%d: %s", c.id, why)
}
