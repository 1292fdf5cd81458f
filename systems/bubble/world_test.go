package bubble_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
	"github.com/conclave-bench/conclave/systems/bubble"
)

// A notebook is a library whose processes write a number every 100 ms, and whose goroutines go on for a second
// after a crash. Process 1 calls process 2 each time, and notes how that ends.
type notebook struct {
	*bubble.Process
	page  int
	ended chan struct{}
}

var notes struct {
	sync.Mutex
	found []int    // what incarnations after the first have found on their disks
	calls []string // how calls ended, in their order
}

func init() {
	bubble.Register(algo.Spec{Name: "test-notebook", Summary: "writes and calls",
		Paper:    algo.Paper{Authors: "nobody", Title: "none", Year: 2026},
		Messages: []algo.Message{Hello{}}, Perpetual: true, Promises: algo.Promises{Announced: true},
		Breaks: "It elects nobody.",
	}, "none", func(p *bubble.Process) bubble.Subject {
		return &notebook{Process: p, ended: make(chan struct{})}
	})
}

func (n *notebook) Start() error {
	n.page, _ = n.Disk.Contents().(int)
	if n.Incarnation > 0 {
		notes.Lock()
		notes.found = append(notes.found, n.page)
		notes.Unlock()
	}
	n.Disk.Mount(func() any { return n.page })
	go func() {
		defer close(n.ended)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for left := time.Second; left > 0; {
			<-tick.C
			_ = n.Disk.Write(8, func() { n.page++ })
			if n.ID == 1 {
				n.call()
			}
			select {
			case <-n.Done():
				left -= 100 * time.Millisecond
			default:
			}
		}
	}()
	return nil
}

func (n *notebook) Stop() { <-n.ended }

func (n *notebook) call() {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	begun := time.Now()
	got, err := bubble.Call(ctx, n.Process, 2, Hello{}, Hello{}, 10, func(s bubble.Subject) (algo.ID, int) {
		return s.(*notebook).ID, 10
	})
	notes.Lock()
	defer notes.Unlock()
	switch took := time.Since(begun); {
	case err == nil:
		notes.calls = append(notes.calls, fmt.Sprintf("answer of %d after %v", got, took))
	case errors.Is(err, bubble.ErrCrashed): // the trial is over
	default:
		notes.calls = append(notes.calls, fmt.Sprintf("%v after %v", err, took))
	}
}

// TestWorld: a crash leaves what was on the disk at its instant; a pause holds writes and messages back; a call is
// answered after a round trip, refused after one by a process that is down, and waits in vain for a message lost.
func TestWorld(t *testing.T) {
	at := func(ms int, do string, p algo.ID) harness.Event {
		return harness.Event{At: time.Duration(ms) * time.Millisecond, Do: do, Node: p}
	}
	cut := harness.Event{At: 4050 * time.Millisecond, Do: harness.DoCut, Shape: "isolate", Node: 2}
	p := algotest.MustPlan(t, "election/test-notebook", 3, harness.Scenario{Plot: &harness.Script{
		Until: 5050 * time.Millisecond, Events: []harness.Event{at(1050, harness.DoCrash, 2), at(2050, harness.DoRestart, 2),
			at(2050, harness.DoPause, 3), at(3050, harness.DoResume, 3), cut}}}, nil)
	p.Leader, p.Network.Latency, p.InModel = algo.None, link.Constant(2*time.Millisecond), false
	s, err := p.Setup()
	if err != nil {
		t.Fatal(err)
	}
	notes.found, notes.calls = nil, nil
	var records trace.List
	if end := bubble.Run(s, &records); end.Err != nil {
		t.Fatal(end.Err)
	}
	if !slices.Equal(notes.found, []int{10}) {
		t.Errorf("found on the disk: %v, want [10]: what was written within 1050 ms", notes.found)
	}
	var want []string
	for _, c := range []struct {
		n    int
		text string
	}{{10, "answer of 2 after 4ms"}, {10, "connection refused after 4ms"}, {20, "answer of 2 after 4ms"},
		{10, "context deadline exceeded after 50ms"}} {
		want = append(want, slices.Repeat([]string{c.text}, c.n)...)
	}
	// The last call may not have ended when the trial does.
	if got := notes.calls; len(got) < 49 || !slices.Equal(got, want[:min(len(got), len(want))]) {
		t.Errorf("%d calls: %q", len(got), got)
	}
	for _, r := range records {
		if r.Type == trace.Save && r.Process == 3 && r.At > 2050*time.Millisecond && r.At < 3050*time.Millisecond {
			t.Errorf("process 3 writes at %v, in its pause", r.At)
		}
	}
}
