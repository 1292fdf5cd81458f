package host

import (
	"fmt"
	"os"
	"testing"
)

// childKey is the environment variable that makes the test binary one of the
// programs below instead.
const childKey = "CONCLAVE_TEST_CHILD"

// childMains are programs that tests start as children. Each file of tests adds
// its own in an init function.
var childMains = map[string]func(){}

func TestMain(m *testing.M) {
	name := os.Getenv(childKey)
	if name == "" {
		os.Exit(m.Run())
	}
	run, ok := childMains[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "no child program %q\n", name)
		os.Exit(2)
	}
	run()
}

// childCommand starts the test binary as a program of childMains.
func childCommand(tb testing.TB, name string, env ...string) Command {
	tb.Helper()
	exe, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return Command{Path: exe, Env: append(append(os.Environ(), env...), childKey+"="+name)}
}
