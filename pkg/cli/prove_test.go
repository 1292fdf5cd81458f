package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
)

// TestProve_Whole: a search that has seen every schedule says how large the system is.
func TestProve_Whole(t *testing.T) {
	t.Parallel()
	r := bench(t, "prove", "naimi-trehel", "--quiet").want(t, Good)
	has(t, r.out, "mutex/naimi-trehel, nodes=3 requests=2: 1530 states, 3113 steps, depth 22,",
		"probability of a missed state: 6e-14", "mutex/naimi-trehel: no broken promise in any schedule")
	r = bench(t, "prove", "naimi-trehel", "--quiet", "--json").want(t, Good)
	got, err := answer.Decode([]byte(r.out))
	if err != nil {
		t.Fatal(err)
	}
	if f := got.Facts; f["states"] != 1530.0 || f["complete"] != true || f["broken"] != "" {
		t.Errorf("%+v", f)
	}
}

// TestProve_Finds: what is found is printed as a schedule, saved, and repeated by bench run.
func TestProve_Finds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "found.yaml")
	r := bench(t, "prove", "test-greedy", "--out", path, "--workers", "1", "--quiet").want(t, Violated)
	has(t, r.out, "  1. p1 requests, enters\n  2. p2 requests, enters",
		"violation: mutex/test-greedy: p2 granted while p1 is inside, after 2 events; no schedule is shorter",
		"2 lines, minimal", "reproduce: bench run "+path)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	has(t, string(text), "Found and minimised by bench prove. It breaks the rule", "mutual-exclusion: ")
	if got := strings.Count(string(text), "do: request"); got != 2 {
		t.Errorf("%d requests, want 2:\n%s", got, text)
	}
	r = bench(t, "run", path, "--out", t.TempDir()).want(t, Violated)
	has(t, r.out, "violation 1")
	r = bench(t, "prove", "test-greedy", "--out", path).want(t, Usage)
	has(t, r.errors, "exists; name another file")
}

// TestProve_Beyond: what breaks beyond the model is a finding.
func TestProve_Beyond(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "found.yaml")
	r := bench(t, "prove", "naimi-trehel", "--losses", "1", "--workers", "1", "--quiet", "--out", path).
		want(t, Good)
	has(t, r.out, "does not survive message loss", "TOKEN{} from p1 to p2 is lost", "finding: mutex/naimi-trehel: ")
	r = bench(t, "run", path, "--out", t.TempDir())
	has(t, r.out, "in_model=false")
}

// TestProve_Stops: a search that is not complete says how far it came.
func TestProve_Stops(t *testing.T) {
	t.Parallel()
	r := bench(t, "prove", "naimi-trehel", "--nodes", "4", "--states", "5000", "--workers", "1", "--quiet").want(t, Incomplete)
	has(t, r.out, "incomplete, stopped at 5000 states: no broken promise in the schedules of up to ",
		" states are left to explore, and each of the last levels was ")
}

// TestProve_Checkpoint: the same command continues a search that was saved, until it is over, and with no
// other.
func TestProve_Checkpoint(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "search")
	args := []string{"prove", "naimi-trehel", "--states", "900", "--quiet", "--checkpoint", path}
	r := bench(t, args...).want(t, Incomplete)
	has(t, r.out, "the search is kept in "+path)
	r = bench(t, "prove", "naimi-trehel", "--requests", "3", "--quiet", "--checkpoint", path).want(t, Usage)
	has(t, r.errors, "holds another search: of mutex/naimi-trehel, nodes=3 requests=2")
	r = bench(t, args...).want(t, Good)
	has(t, r.out, "mutex/naimi-trehel, nodes=3 requests=2: 1530 states, 3113 steps, depth 22,",
		"no broken promise in any schedule", path+" is removed")
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("%s is there: %v", path, err)
	}
	here := write(t, "damaged", "conclave prove checkpoint 1\n{}\n"+strings.Repeat("x", 40))
	r = bench(t, "prove", "naimi-trehel", "--checkpoint", here).want(t, Usage)
	has(t, r.errors, "is damaged: its checksum does not match; remove it to start anew")
	r = bench(t, "prove", "naimi-trehel", "--states", "100", "--quiet", "--checkpoint",
		filepath.Join(path, "nowhere")).want(t, CouldNotRun)
	has(t, r.errors, "the search cannot be saved")
}

func TestProve_Usage(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"":                              "0 algorithms, expected one",
		"naimi-trehel --nodes 9":        "9 processes, expected 1 to 8",
		"naimi-trehel --requests 0":     "0 requests, expected 1 to 15",
		"naimi-trehel --losses 16":      "16 losses, expected 0 to 15",
		"naimi-trehel --cuts 16":        "16 cuts, expected 0 to 15",
		"naimi-trehel --time-outs -2":   "-2 time-outs, expected 0 to 255, or any",
		"naimi-trehel --states -1":      "--states -1, expected 1 or more",
		"naimi-trehel --memory 0":       "--memory 0, expected 1 or more",
		"naimi-trehel --time 0s":        "--time 0s, expected a duration above 0",
		"naimi-trehel --workers 17":     "--workers 17, expected 1 to 16",
		"naimi-trehel --params nothing": "NAME=VALUE",
		"naimi-trehel --out here.txt":   "expected a file of type .yaml",
		"nobody":                        `unknown algorithm "nobody"`,
	} {
		r := bench(t, append([]string{"prove"}, strings.Fields(args)...)...).want(t, Usage)
		has(t, r.errors, want)
	}
}
