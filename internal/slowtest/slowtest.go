// Package slowtest keeps "go test ./..." short: a test that takes long, and whose subject
// a shorter one touches as well, is left to CI and to the night.
package slowtest

import (
	"os"
	"testing"
)

// Skip skips t unless CONCLAVE_SLOW is set, as CI does, or CONCLAVE_NIGHTLY. What says
// what takes long.
func Skip(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CONCLAVE_SLOW") == "" && os.Getenv("CONCLAVE_NIGHTLY") == "" {
		t.Skip(what + ": CONCLAVE_SLOW=1 runs it")
	}
}
