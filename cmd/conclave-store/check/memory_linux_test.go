package check

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Memory does not grow with the rows.
func TestMemory(t *testing.T) {
	const rows, most = 1_000_000, 128 << 10 // KiB; all rows at once take more
	var b strings.Builder
	b.WriteString("w,r,b,t\n")
	for i := range rows {
		fmt.Fprintf(&b, "%d,%d.5,true,the row with the number %[1]d\n", i, i)
	}
	for _, format := range []string{"parquet", "sqlite"} {
		out := filepath.Join(t.TempDir(), "out")
		if took := peak(t, request(t, 1, format, out, b.String())); took == 0 || took > most {
			t.Errorf("%s: %d KiB for %d rows, want at most %d", format, took, rows, most)
		} else {
			t.Logf("%s: %d KiB", format, took)
		}
	}
}

// peak runs the program and returns how many KiB it had in memory at most. What the system tells
// at its end counts what this process had when it started the other.
func peak(t *testing.T, request string) (kib int) {
	t.Helper()
	c := exec.Command(filepath.Join(folder, "conclave-store"))
	c.Stdin, c.Stderr = strings.NewReader(request), os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			return kib
		case <-time.After(10 * time.Millisecond):
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid)) // it may have ended
			if m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text); m != nil {
				kib, _ = strconv.Atoi(string(m[1]))
			}
		}
	}
}
