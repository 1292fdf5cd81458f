package cli

import (
	"os/exec"
	"testing"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

// TestVerify_Mutants: what cannot be, and what is no package.
func TestVerify_Mutants(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "asks where the program was built from")
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	r := bench(t, "verify", "naimi-trehel", "--mutants", "x", "--cases", "y.json").want(t, Usage)
	has(t, r.errors, "--mutants with --cases or --junit; leave one out")
	r = bench(t, "verify", "naimi-trehel", "--mutants", t.TempDir()).want(t, Usage)
	has(t, r.errors, "no functions to change")
}
