package host_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

func init() {
	if len(os.Args) < 2 || os.Args[1] != "entries-bare" {
		return
	}
	if err := unlocked(func() error { return bare(bareEntries) }); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// BenchmarkEntries compares entries per second at full contention, ten processes
// that hold the critical section for no time and request again at once, with the
// same algorithms written by hand on nats.go, in turn. Floor: 0.7.
func BenchmarkEntries(b *testing.B) {
	const nodes = 10
	for _, name := range []string{"ricart-agrawala", "lamport"} {
		b.Run(name, func(b *testing.B) {
			m := newMachine(b, nodes)
			p := plan(b, "mutex/"+name, nodes, harness.Scenario{Plot: &harness.Closed{
				Duration: measured, Think: link.Constant(0), Hold: link.Constant(0),
			}}, nil)
			p.Network.Latency = link.Constant(0)
			p.Scenario.Set("hold", link.Constant(0))
			var ours, theirs []float64
			for b.Loop() {
				o := run(b, m, p)
				ours = append(ours, float64(o.Completed)/measured.Seconds())
				theirs = append(theirs, bareRate(b, nodes, func(int) []string {
					return []string{"entries-bare", name}
				}))
			}
			slices.Sort(ours)
			slices.Sort(theirs)
			a, t := ours[len(ours)/2], theirs[len(theirs)/2]
			b.ReportMetric(a, "entries/s")
			b.ReportMetric(t, "bare-entries/s")
			b.ReportMetric(a/t, "ratio")
		})
	}
}

// The messages of the algorithms by hand: a letter and a number.
const (
	bareRequest = 'Q'
	bareReply   = 'P'
	bareRelease = 'L'
)

// bareMutex is what both algorithms by hand have in common.
type bareMutex struct {
	*bareProcess
	clock    uint64
	own      uint64 // the present request's; 0: none
	entries  int
	request  []uint64 // of each process: Lamport's queue
	last     []uint64 // heard from each: Lamport
	deferred []int    // Ricart and Agrawala
	missing  int      // replies: Ricart and Agrawala
	buf      [9]byte
	err      error
}

func (m *bareMutex) send(to int, kind byte, n uint64) {
	m.buf[0] = kind
	binary.LittleEndian.PutUint64(m.buf[1:], n)
	if err := m.conn.Publish(m.subject[to], m.buf[:]); err != nil {
		m.err = err
	}
}

func (m *bareMutex) tell(kind byte, n uint64) {
	for to := 1; to <= m.n; to++ {
		if to != m.id {
			m.send(to, kind, n)
		}
	}
}

// bareEntries counts the entries of one process. Argument: the algorithm.
func bareEntries(p *bareProcess, over <-chan time.Time) (int, error) {
	m := &bareMutex{bareProcess: p, request: make([]uint64, p.n+1), last: make([]uint64, p.n+1)}
	ask, take := m.askAll, m.ricartAgrawala
	if p.args[0] == "lamport" {
		ask, take = m.askQueue, m.lamport
	}
	ask()
	for m.err == nil {
		select {
		case msg := <-p.in:
			if take(sender(msg), msg.Data[0], binary.LittleEndian.Uint64(msg.Data[1:])) {
				m.entries++
				ask()
			}
		case <-over:
			return m.entries, nil
		}
	}
	return m.entries, m.err
}

// earlier says whether request t of process p comes before the own one.
func (m *bareMutex) earlier(t uint64, p int) bool {
	return t < m.own || t == m.own && p < m.id
}

func (m *bareMutex) askAll() {
	m.clock++
	m.own, m.missing = m.clock, m.n-1
	m.tell(bareRequest, m.own)
}

// ricartAgrawala takes a message; true: it entered and left.
func (m *bareMutex) ricartAgrawala(from int, kind byte, t uint64) bool {
	if kind == bareRequest {
		m.clock = max(m.clock, t)
		if m.earlier(t, from) {
			m.send(from, bareReply, t)
		} else {
			m.deferred = append(m.deferred, from)
		}
		return false
	}
	if m.missing--; m.missing > 0 {
		return false
	}
	for _, to := range m.deferred {
		m.send(to, bareReply, 0)
	}
	m.deferred = m.deferred[:0]
	return true
}

func (m *bareMutex) askQueue() {
	m.clock++
	m.own = m.clock
	m.tell(bareRequest, m.own)
}

// lamport takes a message; true: it entered and left.
func (m *bareMutex) lamport(from int, kind byte, t uint64) bool {
	m.clock = max(m.clock, t) + 1
	m.last[from] = t
	switch kind {
	case bareRequest:
		m.request[from] = t
		m.send(from, bareReply, m.clock)
	case bareRelease:
		m.request[from] = 0
	}
	for p := 1; p <= m.n; p++ {
		if p == m.id {
			continue
		}
		if m.request[p] > 0 && m.earlier(m.request[p], p) || m.earlier(m.last[p], p) {
			return false
		}
	}
	m.clock++
	m.tell(bareRelease, m.clock)
	return true
}
