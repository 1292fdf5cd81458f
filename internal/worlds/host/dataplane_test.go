package host_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/worlds/host"
	"github.com/conclave-bench/conclave/internal/worlds/host/agent"
	"github.com/conclave-bench/conclave/internal/worlds/host/node"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// Pong goes to and fro; its size is that of an ordinary message.
type Pong struct{ Round, Stamp uint64 }

// Kind is PONG.
func (Pong) Kind() string { return "PONG" }

// pingpong keeps a window of messages in flight from every process.
type pingpong struct{ algo.Config }

func (p *pingpong) Elect(env algo.Env) {
	for i := range p.Params.Int("window") {
		env.Send(p.next(algo.ID(i)), Pong{Stamp: 1 << 40})
	}
}

func (p *pingpong) Receive(env algo.Env, from algo.ID, m algo.Message) {
	env.Send(from, Pong{m.(Pong).Round + 1, 1 << 40})
}

func (p *pingpong) next(i algo.ID) algo.ID {
	n := algo.ID(len(p.Peers))
	return (p.ID+i%(n-1))%n + 1
}

// The roles of child processes. They are told by an argument, before anything
// of the test framework runs.
func init() {
	algo.RegisterElector(algo.Spec{
		Name: "test-pingpong", Summary: "keeps a window of messages in flight",
		Paper:    algo.Paper{Authors: "test", Title: "test", Year: 2026},
		Messages: []algo.Message{Pong{}}, Perpetual: true,
		Params: []algo.Param{
			{Name: "window", Type: algo.Int, Doc: "messages", Default: algo.Const(int64(16))},
			{Name: "lap", Type: algo.Duration, Doc: "of a message", Default: algo.Const(time.Millisecond)},
		},
		Periods: []algo.Period{{Param: "lap", Timer: "lap"}},
	}, func(c algo.Config) algo.Elector { return &pingpong{c} })
	if len(os.Args) < 2 {
		return
	}
	var err error
	switch os.Args[1] {
	case "dataplane-node":
		err = unlocked(func() error { return node.Run(os.Stdin, os.Stdout) })
	case "dataplane-bus":
		err = unlocked(func() error { return bus.ServeProcess(os.Stdin, os.Stdout) })
	case "dataplane-bare":
		err = unlocked(func() error { return bare(barePingpong) })
	default:
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// unlocked runs a role as a main function runs: Go locks init to its thread, so that each
// switch to it would be one of threads. The goroutine is package sync's: one of this package
// would be taken for a plugin's.
func unlocked(role func() error) (err error) {
	var life sync.WaitGroup
	life.Go(func() { err = role() })
	life.Wait()
	return err
}

// A bareProcess is one of the processes that talk over nats.go without Conclave,
// which the stack is measured against.
type bareProcess struct {
	id, n   int
	args    []string // after url, id and n
	conn    *nats.Conn
	in      chan *nats.Msg
	subject []string // of each process
}

// bare connects, waits for "go", and prints what run counts within the measured
// time. Its key and "go" come on the standard input, whose end ends it.
func bare(run func(p *bareProcess, over <-chan time.Time) (int, error)) error {
	number := func(i int) int { v, _ := strconv.Atoi(os.Args[i]); return v }
	p := &bareProcess{
		id: number(3), n: number(4), args: os.Args[5:], in: make(chan *nats.Msg, 65536),
	}
	orders := bufio.NewScanner(os.Stdin)
	orders.Scan()
	key, err := nkeys.FromSeed([]byte(orders.Text()))
	if err != nil {
		return err
	}
	public, _ := key.PublicKey()
	if p.conn, err = nats.Connect(os.Args[2], nats.NoReconnect(), nats.Nkey(public, key.Sign)); err != nil {
		return err
	}
	if _, err := p.conn.ChanSubscribe(fmt.Sprintf("d.bare.*.%d", p.id), p.in); err != nil {
		return err
	}
	if err := p.conn.Flush(); err != nil {
		return err
	}
	for i := range p.n + 1 {
		p.subject = append(p.subject, fmt.Sprintf("d.bare.%d.%d", p.id, i))
	}
	fmt.Println("ready")
	orders.Scan()
	go func() {
		orders.Scan()
		os.Exit(0)
	}()
	count, err := run(p, time.After(measured))
	if err != nil {
		return err
	}
	fmt.Println(count)
	time.Sleep(time.Second) // the others may still talk to it
	return nil
}

// sender is whose message it is.
func sender(msg *nats.Msg) int {
	from, _ := strconv.Atoi(strings.Split(msg.Subject, ".")[2])
	return from
}

// barePingpong is pingpong by hand. Arguments: window, bytes.
func barePingpong(p *bareProcess, over <-chan time.Time) (count int, err error) {
	window, _ := strconv.Atoi(p.args[0])
	size, _ := strconv.Atoi(p.args[1])
	payload := make([]byte, size)
	for i := range window {
		if err := p.conn.Publish(p.subject[(p.id+i%(p.n-1))%p.n+1], payload); err != nil {
			return count, err
		}
	}
	for {
		select {
		case msg := <-p.in:
			count++
			if err := p.conn.Publish(p.subject[sender(msg)], payload); err != nil {
				return count, err
			}
		case <-over:
			return count, nil
		}
	}
}

const measured = 1500 * time.Millisecond

// BenchmarkDataPlane compares messages per second through the whole stack
// (encode, draw, NATS, decode, event loop, accounting) with bare nats.go: same
// number of processes, payload and window, in turn. Floor: 0.8.
func BenchmarkDataPlane(b *testing.B) {
	for _, n := range []int{3, 10} {
		for _, window := range []int{16, 1} {
			b.Run(fmt.Sprintf("n=%d/window=%d", n, window), func(b *testing.B) {
				var ours, theirs []float64
				for b.Loop() {
					ours = append(ours, stack(b, n, window, 0))
					theirs = append(theirs, byHand(b, n, window, n))
				}
				slices.Sort(ours)
				slices.Sort(theirs)
				a, t := ours[len(ours)/2], theirs[len(theirs)/2]
				b.ReportMetric(a, "messages/s")
				b.ReportMetric(t, "bare-messages/s")
				b.ReportMetric(a/t, "ratio")
			})
		}
	}
}

// BenchmarkRoundTrip compares the time that one message takes to another
// process and back, with nothing else going on, with the same over bare
// nats.go. Ceiling: 1.25.
func BenchmarkRoundTrip(b *testing.B) {
	var ours, theirs []float64
	for b.Loop() {
		ours = append(ours, 2e6/stack(b, 2, 1, 1))
		theirs = append(theirs, 2e6/byHand(b, 2, 1, 1))
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	a, t := ours[len(ours)/2], theirs[len(theirs)/2]
	b.ReportMetric(a, "µs")
	b.ReportMetric(t, "bare-µs")
	b.ReportMetric(a/t, "ratio")
}

func machine(b *testing.B, n int) *host.Machine {
	b.Helper()
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	m, err := host.NewMachine(host.MachineConfig{
		Exe: exe, NodeArgs: []string{"dataplane-node"}, BusArgs: []string{"dataplane-bus"}, Nodes: n,
		Run: "dataplane",
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(m.Close)
	return m
}

// stack is the rate through Conclave, with so many initiators (0: all).
func stack(b *testing.B, n, window, initiators int) float64 {
	b.Helper()
	m := machine(b, n)
	defer m.Close()
	p := harness.Plan{
		Trial: "dataplane", Algorithm: "election/test-pingpong", Label: "pingpong", Nodes: n,
		Shape: algo.Shape{Kind: "complete"}, Network: link.Network{Latency: link.Constant(0)},
		Params:   map[string]any{"window": int64(window), "lap": time.Millisecond},
		Scenario: harness.Scenario{Plot: &harness.ColdStart{Initiators: initiators}},
		Detector: harness.NoDetector(), Seed: 1, TimeLimit: measured, InModel: true,
	}
	s, err := p.Setup()
	if err != nil {
		b.Fatal(err)
	}
	var end harness.End
	for range 5 { // as a run repeats trials that something else on the machine has spoilt
		delivered := 0
		end, _, err = m.Run(context.Background(), s, trace.SinkFunc(func(r *trace.Record) {
			if r.Type == trace.Deliver {
				delivered++
			}
		}))
		must(b, err)
		if len(end.Invalid) == 0 {
			return float64(delivered) / end.At.Seconds()
		}
	}
	b.Fatal(end.Invalid)
	return 0
}

// byHand is the rate of bare nats.go over the same kind of server, with so many
// initiators.
func byHand(b *testing.B, n, window, initiators int) float64 {
	b.Helper()
	return bareRate(b, n, func(id int) []string {
		w := window
		if id > initiators {
			w = 0
		}
		// 24 bytes: the frame's header and the payload of a Pong.
		return []string{"dataplane-bare", strconv.Itoa(w), "24"}
	})
}

// bareRate starts n processes that talk over bare nats.go, each in the role and
// with the arguments that args says, and adds up what they counted, per second.
func bareRate(b *testing.B, n int, args func(id int) []string) float64 {
	b.Helper()
	exe, err := os.Executable()
	must(b, err)
	ids, err := bus.NewIdentities(n)
	must(b, err)
	var users []bus.User
	for _, id := range ids {
		users = append(users, bus.User{ID: id.ID, Public: id.Public})
	}
	server, err := agent.StartBus(spawner(b), exe, []string{"dataplane-bus"},
		bus.ServerConfig{MaxNodes: n, Users: users})
	must(b, err)
	defer server.Close()
	sp := spawner(b)
	var children []*proc.Child
	var outs []*bufio.Scanner
	for id := 1; id <= n; id++ {
		role := args(id)
		c, err := sp.Start(proc.Command{Path: exe, Env: []string{"GOMAXPROCS=1"}, Args: append(
			[]string{role[0], server.URL, strconv.Itoa(id), strconv.Itoa(n)}, role[1:]...)})
		must(b, err)
		fmt.Fprintf(c.Stdin, "%s\n", ids[id-1].Secret())
		children = append(children, c)
		outs = append(outs, bufio.NewScanner(c.Stdout))
	}
	for i, out := range outs {
		if !out.Scan() || out.Text() != "ready" {
			b.Fatalf("bare process: %q, %s", out.Text(), children[i].Stderr())
		}
	}
	for _, c := range children {
		fmt.Fprintln(c.Stdin, "go")
	}
	total := 0
	for i, out := range outs {
		if !out.Scan() {
			b.Fatal(children[i].Stderr())
		}
		count, _ := strconv.Atoi(out.Text())
		total += count
	}
	for _, c := range children {
		c.Kill()
	}
	return float64(total) / measured.Seconds()
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func spawner(b *testing.B) *proc.Spawner {
	b.Helper()
	sp := proc.NewSpawner()
	b.Cleanup(func() { _ = sp.Close() })
	return sp
}
