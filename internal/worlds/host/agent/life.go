package agent

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/worlds/host/control"
)

// A life is what a node runs in: a process of its own, or a place in one that it shares.
type life interface {
	order(list []control.Order) error
	kill() (at time.Duration, err error) // right after it
	pause() (at time.Duration, err error)
	resume() (at time.Duration, err error) // right before it
	done() <-chan struct{}                 // closed after its end
	usage() proc.Usage                     // after its end, in all its life; zero if nobody knows
	stop()                                 // ends it, and whatever shares its process
	close()                                // waits for that
}

// alone is a node with a process of its own.
type alone struct{ child *proc.Child }

func (a alone) order(list []control.Order) error {
	var lines []byte
	for i := range list {
		line, err := json.Marshal(&list[i])
		if err != nil {
			return err
		}
		lines = append(append(lines, line...), '\n')
	}
	_ = a.child.Stdin.SetWriteDeadline(time.Now().Add(orderPatience))
	if _, err := a.child.Stdin.Write(lines); errors.Is(err, os.ErrDeadlineExceeded) {
		return errUnread
	}
	return nil
}

var errUnread = fmt.Errorf("has not read its orders for %v", orderPatience)

func (a alone) kill() (time.Duration, error)  { return a.child.Kill(), nil }
func (a alone) pause() (time.Duration, error) { return a.child.Pause() }
func (a alone) done() <-chan struct{}         { return a.child.Done() }
func (a alone) usage() proc.Usage             { return a.child.Usage() }
func (a alone) stop()                         { a.child.Kill() }
func (a alone) close()                        { a.child.Close() }

func (a alone) resume() (time.Duration, error) {
	at := clock.Monotonic() // before the node can do anything
	_, err := a.child.Resume()
	return at, err
}

// A crew is a process that several nodes share, its members.
type crew struct {
	session *session
	child   *proc.Child
	room    int // for members that are not there yet

	mu      sync.Mutex
	members []*member
	byRef   map[Ref]*member
	waiting []byte        // calls that are not written yet
	more    chan struct{} // there are some
	blamed  bool          // a member has said what is wrong
}

// A member is a node of a crew.
type member struct {
	crew  *crew
	node  *node
	at    chan time.Duration // when what took the place of a signal took effect
	dying atomic.Bool        // it is to crash
	over  chan struct{}
	ended sync.Once
}

// join makes a node a member: of the crew of its last incarnation, or of one with room.
func (l *Local) join(n *node, a *control.Assignment) error {
	s := l.session
	var c *crew
	for _, have := range s.nodes {
		if have.ID == n.ID {
			c = have.life.(*member).crew
		}
	}
	if c == nil {
		if len(s.crews) > 0 {
			c = s.crews[len(s.crews)-1]
		}
		if c == nil || c.room == 0 {
			child, err := l.spawn(nil)
			if err != nil {
				return err
			}
			child.LimitOutput(proc.MostOutput)
			c = &crew{session: s, child: child, room: s.PerProcess, byRef: map[Ref]*member{},
				more: make(chan struct{}, 1), waiting: append([]byte(s.Plan), '\n')}
			s.crews = append(s.crews, c)
			go c.write(l.cfg.Ready)
			go c.listen()
		}
		c.room--
	}
	m := &member{crew: c, node: n, at: make(chan time.Duration, 1), over: make(chan struct{})}
	n.life = m
	s.add(n)
	c.mu.Lock()
	c.members, c.byRef[n.Ref] = append(c.members, m), m
	c.mu.Unlock()
	return c.call(n.Ref, control.Call{Assignment: a})
}

// call has a line written to a member.
func (c *crew) call(to Ref, call control.Call) error {
	call.ID, call.Incarnation = to.ID, to.Incarnation
	line, err := json.Marshal(&call)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.waiting = append(append(c.waiting, line...), '\n')
	c.mu.Unlock()
	select {
	case c.more <- struct{}{}:
	default:
	}
	return nil
}

// write writes what is called, many lines at once if they come fast: nobody waits for members
// to read. The first time they may take longer.
func (c *crew) write(patience time.Duration) {
	for {
		select {
		case <-c.more:
		case <-c.child.Done():
			return
		}
		c.mu.Lock()
		lines := c.waiting
		c.waiting = nil
		c.mu.Unlock()
		_ = c.child.Stdin.SetWriteDeadline(time.Now().Add(patience))
		if _, err := c.child.Stdin.Write(lines); errors.Is(err, os.ErrDeadlineExceeded) {
			c.session.report(Report{Lost: fmt.Sprintf("the process of nodes %s has not read its "+
				"orders for %v", c, patience)})
			return
		}
		patience = orderPatience
	}
}

// String names the nodes of c.
func (c *crew) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	least, most := c.members[0].node.ID, c.members[0].node.ID
	for _, m := range c.members {
		least, most = min(least, m.node.ID), max(most, m.node.ID)
	}
	return fmt.Sprintf("p%d to p%d", least, most)
}

// listen turns what the process says, and its end, into reports of members.
func (c *crew) listen() {
	s := c.session
	in := bufio.NewScanner(c.child.Stdout)
	in.Buffer(nil, maxReport)
	in.Split(wholeLines)
	heard := true
	for heard && in.Scan() {
		var r control.Reply
		err := json.Unmarshal(in.Bytes(), &r)
		m := c.member(Ref{r.ID, r.Incarnation})
		switch {
		case m == nil || err != nil || !fits(&r.Report, r.ID, s.Nodes):
			heard = c.complain(c.member(c.first()), noReport(in.Bytes()))
			continue
		case r.At != nil:
			m.confirmed(*r.At)
			continue
		case r.Complains():
			heard = c.complain(m, r.Report)
			continue
		case r.Ready:
			r.Report = s.openTelemetry(m.node)
		}
		heard = s.report(Report{Node: m.node.Ref, Report: r.Report})
	}
	if errors.Is(in.Err(), bufio.ErrTooLong) {
		c.complain(c.member(c.first()), longLine)
	}
	<-c.child.Done()
	why, plugin := c.child.Obituary()
	c.mu.Lock()
	list := c.members
	c.mu.Unlock()
	told := c.blamed
	for _, m := range list {
		if !plugin && s.endedInHandler(m.node) {
			why, plugin = fmt.Sprintf("%s while p%d handled an event", why, m.node.ID), true
		}
	}
	for _, m := range list {
		if m.end() {
			s.report(Report{Node: m.node.Ref, Ended: &Death{Plugin: plugin, Told: told,
				Why: fmt.Sprintf("with all that share its process, %s: %s", c, why)}})
			told = true
		}
	}
}

// complain reports what is wrong with a member. Its end is no news then, nor is that of
// others, if they end with it.
func (c *crew) complain(m *member, r control.Report) bool {
	c.blamed = true
	return c.session.report(Report{Node: m.node.Ref, Report: r})
}

// first is a member that is there in any case.
func (c *crew) first() Ref {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.members[0].node.Ref
}

func (c *crew) member(n Ref) *member {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byRef[n]
}

// end says whether this is the end of m, which comes once.
func (m *member) end() (now bool) {
	m.ended.Do(func() { close(m.over); now = true })
	return now
}

func (m *member) confirmed(at time.Duration) {
	if m.dying.Load() {
		m.end()
	}
	select {
	case m.at <- at:
	default: // nobody has asked
	}
}

func (m *member) order(list []control.Order) error {
	for i := range list {
		if err := m.crew.call(m.node.Ref, control.Call{Order: &list[i]}); err != nil {
			return err
		}
	}
	return nil
}

// confirmPatience is how long a member may take over an event while it is to crash or to pause.
const confirmPatience = 5 * time.Second

// signal gives an order that takes the place of a signal, and waits until it is in effect.
func (m *member) signal(o control.Order) (at time.Duration, err error) {
	if err := m.order([]control.Order{o}); err != nil {
		return 0, err
	}
	late := time.NewTimer(confirmPatience)
	defer late.Stop()
	select {
	case at = <-m.at:
		return at, nil
	case <-m.crew.child.Done():
		return clock.Monotonic(), nil
	case <-late.C:
		return 0, fmt.Errorf("it does not come to its orders within %v: it hangs, or the plugin's handler "+
			"does not return", confirmPatience)
	}
}

func (m *member) kill() (time.Duration, error) {
	m.dying.Store(true)
	return m.signal(control.Order{Crash: true})
}

func (m *member) pause() (time.Duration, error)  { return m.signal(control.Order{Pause: true}) }
func (m *member) resume() (time.Duration, error) { return m.signal(control.Order{Resume: true}) }
func (m *member) done() <-chan struct{}          { return m.over }
func (m *member) usage() proc.Usage              { return proc.Usage{} }
func (m *member) stop()                          { m.crew.child.Kill() }
func (m *member) close()                         { m.crew.child.Close() }
