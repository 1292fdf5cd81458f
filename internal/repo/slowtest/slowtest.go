// Package slowtest keeps "go test ./..." short: a test that takes long, and whose subject
// a shorter one touches as well, is left to CI and to the night.
package slowtest

import (
	"os"
	"testing"
)

// Asked says whether CONCLAVE_SLOW is set, as CI does, or CONCLAVE_NIGHTLY.
func Asked() bool { return os.Getenv("CONCLAVE_SLOW") != "" || Night() }

// Night says whether CONCLAVE_NIGHTLY is set: a test then takes as long as it must.
func Night() bool { return os.Getenv("CONCLAVE_NIGHTLY") != "" }

// Skip skips t unless slow tests are asked for. What says what takes long.
func Skip(t testing.TB, what string) {
	t.Helper()
	if !Asked() {
		t.Skip(what + ": CONCLAVE_SLOW=1 runs it")
	}
}

// Times is how often a test repeats what it does: few times, or often if slow tests are asked for.
func Times(few, often int) int {
	if Asked() {
		return often
	}
	return few
}
