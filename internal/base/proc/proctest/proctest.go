// Package proctest is for tests that start processes: programs inside the test
// binary, and what is left of those that it started.
package proctest

import (
	"fmt"
	"os"
	"testing"
)

// Key is the environment variable that makes a test binary one of its Programs
// instead.
const Key = "CONCLAVE_TEST_CHILD"

// Programs are what the tests of a package start as children. Each file of tests
// adds its own in an init function.
var Programs = map[string]func(){}

// Main is for the TestMain of such a package.
func Main(m *testing.M) {
	name := os.Getenv(Key)
	if name == "" {
		os.Exit(m.Run())
	}
	run, ok := Programs[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "no child program %q\n", name)
		os.Exit(2)
	}
	run()
}
