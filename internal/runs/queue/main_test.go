package queue_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/conclave-bench/conclave/internal/runs/queue"
	"github.com/conclave-bench/conclave/pkg/runner"
)

const (
	// asWorker is the variable of a process that is a worker of the server at that address, for a
	// test to kill.
	asWorker = "CONCLAVE_TEST_WORKER"
	// stuckAt is the variable of the trial of its run behind which such a worker stops working.
	stuckAt = "CONCLAVE_TEST_STUCK"
)

// TestMain lets eight tests run at a time on any machine, if the command line names no
// number: they wait for one another's time-outs, and compute little.
func TestMain(m *testing.M) {
	if url := os.Getenv(asWorker); url != "" {
		rows := 0
		err := queue.Work(context.Background(), queue.WorkerConfig{Server: queue.Server{URL: url}, Machine: "killed",
			Options: runner.Options{Workers: 1, Progress: func(runner.Progress) {
				if rows++; strconv.Itoa(rows) == os.Getenv(stuckAt) {
					select {}
				}
			}}, Say: func(string) {}})
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
