package host

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/clock"
	"github.com/conclave-bench/conclave/internal/proc"
	"github.com/conclave-bench/conclave/internal/telemetry"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/host/control"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A trial leads one trial on real nodes: it starts them, lets the coordinator
// lead, carries out what is not a node's own business, and finds quiet.
type trial struct {
	machine     *Machine
	setup       *harness.Setup
	coordinator *harness.Coordinator
	dir         string
	plan        []byte // a line of JSON
	timeline    []harness.Instruction
	links       []harness.Instruction // what is known before the start to happen to links
	nodes       []*child              // by ID - 1: the present incarnation, or the last
	former      []*child              // earlier incarnations
	events      chan occurrence
	closed      chan struct{} // nobody hears events any more
	queue       harness.Queue[harness.Instruction]
	alarm       *clock.Alarm
	start       time.Duration // the common start, by Monotonic
	records     trace.List    // what the host did
	spawned     uint64        // nodes, each of which connects once
	cuts        link.Cuts
	overrides   link.Overrides
	sudden      []control.Order // changes of the network that are not in the timeline
	omissions   []harness.Omission
	tally       *telemetry.Tally
	heardAt     time.Duration // of the last record that a node reported
	invalid     []string
	pace        time.Duration // from one look for quiet to the next
	obeyed      uint64        // instructions, but for alarms
	planned     int           // of those, in queue
	changeAt    time.Duration // when the last change of the network takes effect
	quietAt     uint64        // activity when the coordinator was last told of quiet, plus one
	quietIdle   bool          // it was told then that nothing else is planned either
	end         harness.End
	over        bool
	inTime      bool // the end was known before the start
}

// A child is one incarnation of a node.
type child struct {
	*proc.Child
	id          algo.ID
	incarnation uint32
	telemetry   string
	reader      *telemetry.Reader
	ready       bool
	started     bool          // its process runs, or will at the common start
	dead        bool          // crashed by plan, or not yet started
	abandoned   bool          // crashed before it was ready again
	deadline    time.Duration // of being ready again
	saved       []byte        // what it was started with
	due         time.Duration // when it was to be up
	upAt        time.Duration
	downAt      time.Duration
	paused      bool
	slow        bool
	stalledAt   time.Duration // since when it is paused or slow
	resumedAt   time.Duration // 0: it was never paused
	last        time.Duration // of its last record
	orders      uint64        // that it has to count as executed
	heard       uint64        // records that it reported
	own         []harness.Instruction
	bye         *control.Farewell
	failure     string
}

// An occurrence is what the trial is told of: a node's report, or its end.
type occurrence struct {
	from   *child
	report control.Report
	ended  bool
}

func newTrial(m *Machine, s *harness.Setup, dir string) *trial {
	t := &trial{
		machine: m, setup: s, coordinator: harness.NewCoordinator(s), dir: dir,
		nodes:  make([]*child, s.Nodes),
		events: make(chan occurrence, 4*s.Nodes+64),
		closed: make(chan struct{}),
	}
	t.timeline = t.coordinator.Timeline()
	t.links = slices.DeleteFunc(slices.Concat(t.timeline, t.coordinator.Foreseen()),
		func(i harness.Instruction) bool {
			return i.Do != harness.DoCut && i.Do != harness.DoHeal && i.Do != harness.DoFlaky
		})
	for _, i := range t.links {
		switch {
		case i.Do == harness.DoCut || i.Do == harness.DoHeal:
			t.cuts.Add(change(i, i.At))
		case i.Override != nil:
			t.overrides.Add(*i.Override)
		}
	}
	t.omissions = s.Omissions()
	return t
}

func change(i harness.Instruction, at time.Duration) link.Change {
	return link.Change{At: at, Heal: i.Do == harness.DoHeal, Groups: i.Groups, Links: i.Links}
}

// close leaves no node behind.
func (t *trial) close() {
	close(t.closed)
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
	if t.tally != nil {
		t.tally.Close()
	}
}

// join starts the nodes and waits until all are ready.
func (t *trial) join(ctx context.Context) (harness.End, error) {
	var err error
	if t.alarm, err = clock.NewAlarm(); err != nil {
		return harness.End{}, err
	}
	if t.plan, err = json.Marshal(&t.setup.Plan); err != nil {
		return harness.End{}, err
	}
	t.plan = append(t.plan, '\n')
	if len(t.omissions) > 0 {
		if t.tally, err = telemetry.OpenTally(t.tallyPath(), len(t.omissions)); err != nil {
			return harness.End{}, err
		}
	}
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
			case o.report.Complains() || o.ended:
				return t.stillborn(o), nil
			}
		}
	}
	return harness.End{}, nil
}

func (t *trial) tallyPath() string { return filepath.Join(t.dir, "tally") }

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
	why := o.report.Error + o.report.Broken
	if why == "" {
		why, _ = o.from.Obituary()
	}
	return harness.End{Invalid: []string{fmt.Sprintf("node p%d was not ready: %s", o.from.id, why)}}
}

// spawn starts the process of c and hands it its plan and assignment.
func (t *trial) spawn(c *child, saved []byte) (err error) {
	cfg := &t.machine.cfg
	env := append([]string{"GOMAXPROCS=1", "CONCLAVE_RUN=" + cfg.Run}, cfg.Telltale...)
	c.Child, err = t.machine.spawner.Start(proc.Command{Path: cfg.Exe, Args: cfg.NodeArgs, Env: env})
	if err != nil {
		return fmt.Errorf("start node p%d: %w", c.id, err)
	}
	t.spawned++
	c.telemetry = filepath.Join(t.dir, fmt.Sprintf("p%d-%d", c.id, c.incarnation))
	a := control.Assignment{
		ID: c.id, Incarnation: c.incarnation, Due: c.due, Saved: saved, Telemetry: c.telemetry,
		Limit: cfg.Limit, Bus: t.machine.access(int(c.id - 1)), Tally: t.tallyPath(),
		Kinds: t.coordinator.WatchedKinds(),
	}
	for _, kind := range []trace.Type{trace.Elected, trace.Up, trace.Granted, trace.Released, trace.Send,
		trace.Deliver} {
		if t.coordinator.Watches(kind) {
			a.Watch = append(a.Watch, kind)
		}
	}
	for _, i := range t.links {
		switch {
		case i.Override != nil:
			a.Overrides = append(a.Overrides, *i.Override)
		case i.Do != harness.DoFlaky:
			a.Cuts = append(a.Cuts, change(i, i.At))
		}
	}
	for _, i := range t.timeline {
		if i.Class() == harness.Application && i.Node == c.id && (c.incarnation == 0 || i.At >= t.now()) {
			a.Timeline = append(a.Timeline, i)
		}
	}
	c.own, c.started, c.saved = a.Timeline, true, saved
	line, err := json.Marshal(&a)
	if err != nil {
		return err
	}
	go t.listen(c, slices.Concat(t.plan, line, []byte{'\n'}))
	return nil
}

// listen hands a node its first lines and turns what it says, and its end, into
// occurrences.
func (t *trial) listen(c *child, lines []byte) {
	// A node that does not read them is noticed by not being ready, or by its end.
	_ = c.Stdin.SetWriteDeadline(time.Now().Add(t.machine.cfg.Ready))
	_, _ = c.Stdin.Write(lines)
	in := bufio.NewScanner(c.Stdout)
	in.Buffer(nil, maxReport)
	in.Split(wholeLines)
	open := true
	for open && in.Scan() {
		open = t.happened(occurrence{from: c, report: parseReport(in.Bytes(), c.id, len(t.nodes))})
	}
	if errors.Is(in.Err(), bufio.ErrTooLong) {
		t.happened(occurrence{from: c, report: control.Report{Error: fmt.Sprintf(
			"wrote a line of more than %d bytes to its standard output", maxReport)}})
	}
	<-c.Done()
	t.happened(occurrence{from: c, ended: true})
}

// maxReport bounds a line of a node's.
const maxReport = 1 << 20

// parseReport reads a line of node id, of so many. A plugin may have written it.
func parseReport(line []byte, id algo.ID, nodes int) (r control.Report) {
	err := json.Unmarshal(line, &r)
	fits := true
	if rec := r.Record; rec != nil {
		_, fits = trace.TypeOf(rec.Type.String())
		// A leader that does not exist is the plugin's, and the judge's to see.
		fits = fits && rec.Process == uint32(id) && (rec.Peer <= uint32(nodes) || rec.Type == trace.Elected)
	}
	if err != nil || !fits {
		return control.Report{Error: fmt.Sprintf("wrote %.80q to its standard output, which is for reports "+
			"to the host: write to standard error instead", line)}
	}
	return r
}

// wholeLines splits at the ends of lines. A line that the node's death cut short
// is none.
func wholeLines(data []byte, _ bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	return 0, nil, nil
}

// happened says whether there was anybody to be told.
func (t *trial) happened(o occurrence) bool {
	select {
	case t.events <- o:
		return true
	case <-t.closed:
		return false
	}
}

// opened is a node that has become ready: its telemetry can be read.
func (t *trial) opened(c *child) (err error) {
	c.ready, c.dead = true, false
	c.reader, err = telemetry.Open(c.telemetry)
	return err
}

// now is the time since the common start.
func (t *trial) now() time.Duration { return clock.Monotonic() - t.start }

// order sends o to c. A node that is gone is noticed elsewhere.
func (t *trial) order(c *child, o control.Order) {
	if !o.Stop {
		c.orders++
	}
	line, err := json.Marshal(&o)
	if err != nil {
		panic(err) // plain data
	}
	_ = c.Stdin.SetWriteDeadline(time.Now().Add(orderPatience))
	if _, err = c.Stdin.Write(append(line, '\n')); errors.Is(err, os.ErrDeadlineExceeded) {
		t.spoil("node p%d has not read its orders for %v", c.id, orderPatience)
	}
}

// orderPatience is how long a node may leave its orders unread when there is no
// more room for them.
const orderPatience = 2 * time.Second

// run is the trial from the common start to its end.
func (t *trial) run(ctx context.Context) error {
	// Far enough ahead that every node has read its order by then.
	t.start = clock.Monotonic() + t.machine.lead
	for _, c := range t.nodes {
		if !c.dead {
			t.order(c, control.Order{Start: &t.start})
		}
	}
	for _, i := range t.timeline {
		if i.Class() == harness.Control {
			t.push(i)
		}
	}
	gone := t.machine.busGone()
	for !t.over {
		now := t.now()
		for !t.over && t.queue.Due(now) {
			_, i := t.queue.Pop()
			if !i.Alarm() {
				t.planned--
			}
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
		t.lookForLate(now)
		if t.over {
			break
		}
		t.alarm.Set(t.start + t.wake(now))
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-gone:
			t.spoil(busDied)
		case o := <-t.events:
			t.hear(o)
		case <-t.alarm.C:
		}
	}
	return nil
}

// lookForLate ends a trial that waits in vain for a node to be up again.
func (t *trial) lookForLate(now time.Duration) {
	for _, c := range t.nodes {
		if c.joining() && now > c.deadline {
			t.spoil("node p%d was not ready again within %v", c.id, t.machine.cfg.Ready)
		}
	}
}

// joining says that c is on its way up.
func (c *child) joining() bool { return c.Child != nil && c.started && !c.ready && !c.abandoned }

// wake is when to look again: at the next instruction, or for quiet. The longer
// the algorithm is busy, the less often it is looked at, so that looking does
// not take the processor from it.
func (t *trial) wake(now time.Duration) time.Duration {
	n := time.Duration(len(t.nodes))
	t.pace = min(t.pace*5/4, max(time.Millisecond, n*n*200*time.Nanosecond))
	t.pace = max(t.pace, 100*time.Microsecond)
	at := now + t.pace
	if t.queue.Len() > 0 {
		at = min(at, t.queue.Next())
	}
	return max(min(at, t.setup.TimeLimit), 0)
}

const busDied = "the bus died"

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
	case c.abandoned || c != t.nodes[c.id-1]: // what it has to say is of a former life
		if o.report.Record != nil {
			c.heard++
		}
	case o.report.Complains() && c.dead && !c.joining(): // it would not have mattered
	case o.ended && c.failure != "": // after it said why
	case o.ended && c.joining():
		why, _ := c.Obituary()
		t.spoil("node p%d was not ready again: %s", c.id, why)
	case o.ended && !c.dead && c.bye == nil:
		t.died(c)
	case o.report.Complains():
		t.broke(c, o.report)
	case o.report.Ready:
		if err := t.opened(c); err != nil {
			t.spoil("node p%d: %v", c.id, err)
			return
		}
		c.upAt = t.now()
		t.order(c, control.Order{Start: &t.start})
		for i := range t.sudden {
			t.order(c, t.sudden[i])
		}
		t.introduce(c)
	case o.report.Bye != nil:
		c.bye = o.report.Bye
	case o.report.Record != nil:
		c.heard++
		t.heardAt = max(t.heardAt, o.report.Record.At)
		t.instruct(t.observe(o.report.Record), t.heardAt)
	}
}

func (t *trial) observe(r *trace.Record) []harness.Instruction {
	if r.Type == trace.Done {
		return t.coordinator.Done(algo.ID(r.Process))
	}
	return t.coordinator.Observe(r)
}

// died is a node whose process ended though nobody meant it to.
func (t *trial) died(c *child) {
	why, plugin := c.Obituary()
	c.failure = why
	if plugin {
		t.blame(fmt.Sprintf("process %d: %s", c.id, why))
		return
	}
	t.spoil("node p%d died: %s", c.id, why)
}

// broke is a node on which the plugin failed, or what it needs of the harness.
func (t *trial) broke(c *child, r control.Report) {
	if c.failure = r.Broken; c.failure != "" {
		t.blame(r.Broken)
		return
	}
	c.failure = r.Error
	t.spoil("node p%d: %s", c.id, r.Error)
}

// blame ends the trial by a fault of the plugin.
func (t *trial) blame(why string) {
	t.finish(t.now(), harness.Broken)
	t.end.Reason, t.end.Err = harness.Broken, errors.New(why)
}
