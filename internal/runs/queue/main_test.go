package queue_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/conclave-bench/conclave/internal/runs/queue"
	"github.com/conclave-bench/conclave/pkg/runner"
)

// asWorker is the variable of a process that is a worker of the server at that address, for a
// test to kill.
const asWorker = "CONCLAVE_TEST_WORKER"

// TestMain lets eight tests run at a time on any machine, if the command line names no
// number: they wait for one another's time-outs, and compute little.
func TestMain(m *testing.M) {
	if url := os.Getenv(asWorker); url != "" {
		err := queue.Work(context.Background(), queue.WorkerConfig{Server: queue.Server{URL: url}, Machine: "killed",
			Options: runner.Options{Workers: 1}, Say: func(string) {}})
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
