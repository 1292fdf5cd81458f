package queue_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain lets eight tests run at a time on any machine, if the command line names no
// number: they wait for one another's time-outs, and compute little.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
