package agent

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/worlds/host/control"
	"github.com/conclave-bench/conclave/internal/worlds/telemetry"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A node is one incarnation of a node.
type node struct {
	Ref
	net       *os.File // its network namespace; nil: that of the agent
	life      life
	telemetry string                           // path
	reader    atomic.Pointer[telemetry.Reader] // nil until it is ready, and after the trial
	closing   sync.Mutex                       // of reader
	saved     []byte                           // what it was started with
	killed    bool                             // by an order
	doomed    atomic.Bool                      // likewise, or about to be
	harmed    bool                             // killed, stopped or slowed: its process is not to be reused
	left      atomic.Bool                      // it has said goodbye, and its process waits for another trial
	links     map[algo.ID]*Link                // as far as its records are read
	read      uint64                           // the place in its journal up to which they are
}

// savedBy is what the last incarnation of a process saved, or was started with if it
// saved nothing. It waits for the end of that, which was killed: a moment.
func (s *session) savedBy(id algo.ID) []byte {
	var former *node
	for _, n := range s.nodes {
		if n.ID == id {
			former = n
		}
	}
	if former == nil {
		return nil
	}
	saved := former.saved
	if r := former.reader.Load(); r != nil {
		<-former.life.done()
		_ = r.Each(func(rec *trace.Record) error {
			if rec.Type == trace.Save && rec.Peer == trace.Kept {
				saved = []byte(rec.Text)
			}
			return nil
		})
	}
	return saved
}

// usage is what the process of n has used since it started. Of one that was killed the
// system knows what it used in its whole life. It waits for the end of n.
func (n *node) usage(r *telemetry.Reader) proc.Usage {
	before, after := readUsage(r, control.WordBefore), readUsage(r, control.WordAfter)
	if after.CPU == 0 {
		after = n.life.usage()
	}
	if before.CPU == 0 || after.CPU < before.CPU { // it did not start, or nothing is known
		return proc.Usage{}
	}
	return after.Since(before)
}

func readUsage(r *telemetry.Reader, word int) proc.Usage {
	return proc.Usage{
		CPU: time.Duration(r.Word(word)), Voluntary: r.Word(word + 1), Involuntary: r.Word(word + 2),
	}
}

// listen hands a node its first lines and turns what it says, and its end, into
// reports.
func (s *session) listen(n *node, child *proc.Child, lines []byte) {
	child.LimitOutput(proc.MostOutput)
	_, _ = child.Stdin.Write(lines)
	in := bufio.NewScanner(child.Stdout)
	in.Buffer(nil, maxReport)
	in.Split(wholeLines)
	heard := true
	for heard && in.Scan() {
		r := parseReport(in.Bytes(), n.ID, s.Nodes)
		if r.Ready {
			r = s.openTelemetry(n)
		}
		if s.Reuse && r.Bye != nil {
			n.left.Store(len(r.Bye.Faults) == 0)
			s.report(Report{Node: n.Ref, Report: r})
			return
		}
		heard = s.report(Report{Node: n.Ref, Report: r})
	}
	if errors.Is(in.Err(), bufio.ErrTooLong) {
		s.report(Report{Node: n.Ref, Report: longLine})
	}
	<-child.Done()
	why, plugin := child.Obituary()
	if !plugin && s.endedInHandler(n) {
		why, plugin = why+" while it handled an event", true
	}
	s.report(Report{Node: n.Ref, Ended: &Death{Why: why, Plugin: plugin}})
}

// endedInHandler says whether code of the plugin ran when the process of n ended, which nobody
// here wanted. A busy machine ends no process, except where it has no memory left.
func (s *session) endedInHandler(n *node) bool {
	n.closing.Lock()
	defer n.closing.Unlock()
	r := n.reader.Load()
	return r != nil && r.Word(control.WordInHandler) != 0 && !n.doomed.Load() &&
		proc.OutOfMemoryKills() == s.kills
}

// openTelemetry opens what a node that is ready writes down.
func (s *session) openTelemetry(n *node) control.Report {
	r, err := telemetry.Open(n.telemetry)
	if err != nil {
		return control.Report{Error: err.Error()}
	}
	if !n.reader.CompareAndSwap(nil, r) { // it has said so before
		_ = r.Close()
	}
	return control.Report{Ready: true}
}

// report says whether there was anybody to be told.
func (s *session) report(r Report) bool {
	select {
	case s.reports <- r:
		return true
	case <-s.over:
		return false
	}
}

var longLine = control.Report{
	Error: fmt.Sprintf("wrote a line of more than %d bytes to its standard output", maxReport),
}

// maxReport bounds a line of a node's.
const maxReport = 1 << 20

// parseReport reads a line of node id, of so many. A plugin may have written it.
func parseReport(line []byte, id algo.ID, nodes int) (r control.Report) {
	if err := json.Unmarshal(line, &r); err != nil || !fits(&r, id, nodes) {
		return noReport(line)
	}
	return r
}

// fits says whether node id, of so many, can have reported r.
func fits(r *control.Report, id algo.ID, nodes int) bool {
	rec := r.Record
	if rec == nil {
		return true
	}
	_, known := trace.TypeOf(rec.Type.String())
	// A leader that does not exist is the plugin's, and the judge's to see.
	return known && rec.Process == uint32(id) && (rec.Peer <= uint32(nodes) || rec.Type == trace.Elected)
}

// noReport is what there is to say of a line that is none.
func noReport(line []byte) control.Report {
	return control.Report{Error: fmt.Sprintf("wrote %.80q to its standard output, which is for reports "+
		"to the host: write to standard error instead", line)}
}

// wholeLines splits at the ends of lines. A line that the node's death cut short
// is none.
func wholeLines(data []byte, _ bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	return 0, nil, nil
}
