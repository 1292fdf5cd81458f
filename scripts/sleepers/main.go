// Command sleepers measures how many workers a hub can feed. It is bench, and has three commands more:
//
//	sleepers sleep URL WORKERS TIME   workers that sleep for that long in place of each simulated trial
//	sleepers relay ADDRESS TARGET DELAY   a TCP relay that holds bytes back for that long in each direction
//	sleepers send URL BLOCKS   puts so many blocks into the queue, and prints how long that takes
//
// With CPUPROFILE set, bench writes a profile of its processor time there. scripts/queue-load.sh uses all of
// it.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime/pprof"
	"strconv"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/runs/queue"
	"github.com/conclave-bench/conclave/internal/runs/work"
	"github.com/conclave-bench/conclave/pkg/cli"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/runner"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

func main() {
	switch args := os.Args; {
	case len(args) == 5 && args[1] == "sleep":
		must(sleep(args[2], args[3], args[4]))
	case len(args) == 5 && args[1] == "relay":
		must(relay(args[2], args[3], args[4]))
	case len(args) == 4 && args[1] == "send":
		must(send(args[2], args[3]))
	default:
		os.Exit(bench())
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "sleepers:", err)
		os.Exit(1)
	}
}

func bench() int {
	if path := os.Getenv("CPUPROFILE"); path != "" {
		f, err := os.Create(path)
		must(err)
		must(pprof.StartCPUProfile(f))
		defer pprof.StopCPUProfile()
	}
	return cli.Bench()
}

// sleep starts the workers, and ends when it is interrupted.
func sleep(url, workers, each string) error {
	n, err := strconv.Atoi(workers)
	if err != nil {
		return err
	}
	s := &sleeper{rows: map[string]map[int]results.Trial{}}
	if s.each, err = time.ParseDuration(each); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var all sync.WaitGroup
	failed := make(chan error, n)
	for i := range n {
		all.Go(func() {
			failed <- queue.Work(ctx, queue.WorkerConfig{Server: queue.Server{URL: url},
				Machine: fmt.Sprintf("sleeper-%d", i), Options: runner.Options{Workers: 1},
				Say: func(string) {}, Run: s.run})
		})
	}
	all.Wait()
	return <-failed
}

// A sleeper hands over rows of trials that it has simulated once, after the time that others would take.
type sleeper struct {
	each time.Duration
	mu   sync.Mutex
	rows map[string]map[int]results.Trial // by experiment and cell
}

// rowsOf are a row of each cell.
func (s *sleeper) rowsOf(e *experiment.Experiment, config []byte) (map[int]results.Trial, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rows := s.rows[e.Hash()]; rows != nil {
		return rows, nil
	}
	one, err := experiment.Parse("once.yaml", config, experiment.Overrides{Set: []string{"repetitions=1"}})
	if err != nil {
		return nil, err
	}
	f, err := results.InMemory(runner.Header(one, nil), config)
	if err != nil {
		return nil, err
	}
	if _, err = runner.Run(context.Background(), one, f, runner.Options{Workers: 1}); err != nil {
		return nil, err
	}
	rows := map[int]results.Trial{}
	err = f.EachTrial(func(t *results.Trial) error {
		rows[t.Cell] = *t
		return nil
	})
	s.rows[e.Hash()] = rows
	return rows, err
}

func (s *sleeper) run(ctx context.Context, e *experiment.Experiment, _ *results.Folder, feed work.Feed,
	_ runner.Options) error {
	config, err := e.Resolved()
	if err != nil {
		return err
	}
	rows, err := s.rowsOf(e, config)
	if err != nil {
		return err
	}
	for {
		blocks, err := feed.Next(ctx)
		if err != nil || len(blocks) == 0 {
			return err
		}
		for _, b := range blocks {
			trials, err := b.Of(e)
			if err != nil {
				return err
			}
			y := work.Yield{Block: b, Of: b.Number, Last: true}
			for _, t := range trials {
				row := rows[t.Cell]
				row.Trial, row.Repetition, row.Round = t.Number, t.Repetition, t.Round
				row.RunOrder, row.Seed = t.Order, t.Seed
				y.Rows = append(y.Rows, row)
			}
			select {
			case <-time.After(s.each * time.Duration(len(trials))):
			case <-ctx.Done():
				return nil
			}
			if err := feed.Yield(y); err != nil {
				return err
			}
		}
	}
}

// send is the runner's part until workers have something to do.
func send(url, blocks string) error {
	n, err := strconv.Atoi(blocks)
	if err != nil {
		return err
	}
	e, err := experiment.Parse("send.yaml", []byte("problem: election\nalgorithms: [bully]\ntransport: sim\n"+
		"repetitions: "+blocks+"\n"), experiment.Overrides{})
	if err != nil {
		return err
	}
	config, err := e.Resolved()
	if err != nil {
		return err
	}
	all := make([]work.Block, n)
	for i := range all {
		all[i] = work.Block{Number: i + 1, Trials: []int{i + 1}, Orders: []int{i + 1}}
	}
	h := runner.Header(e, nil)
	h.Queue = "send"
	begun := time.Now()
	q, err := queue.NewSender(context.Background(), queue.Server{URL: url}, queue.Run{Header: h,
		Config: config, Program: results.ThisSite().Tool, Virtual: true}, func(string) {})
	if err != nil {
		return err
	}
	announced := time.Now()
	if err := q.Send(context.Background(), all); err != nil {
		return err
	}
	fmt.Printf("announced in %.2f s, %d blocks sent in %.2f s\n", announced.Sub(begun).Seconds(), n,
		time.Since(announced).Seconds())
	return q.Close(true)
}

// relay carries connections to a target, until the process is ended.
func relay(address, target, delay string) error {
	d, err := time.ParseDuration(delay)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	for {
		from, err := l.Accept()
		if err != nil {
			return err
		}
		to, err := net.Dial("tcp", target)
		if err != nil {
			_ = from.Close()
			continue
		}
		go hold(from, to, d)
		go hold(to, from, d)
	}
}

// hold carries bytes from one connection to another, each after that time.
func hold(from, to net.Conn, d time.Duration) {
	type piece struct {
		at   time.Time
		data []byte
	}
	pieces := make(chan piece, 1<<16)
	go func() {
		defer func() { _ = to.Close() }()
		for p := range pieces {
			time.Sleep(time.Until(p.at))
			if _, err := to.Write(p.data); err != nil {
				_ = from.Close()
			}
		}
	}()
	defer close(pieces)
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			pieces <- piece{time.Now().Add(d), append([]byte(nil), buf[:n]...)}
		}
		if err != nil {
			if err != io.EOF {
				_ = to.Close()
			}
			return
		}
	}
}
