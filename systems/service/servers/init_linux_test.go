package servers_test

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/conclave-bench/conclave/systems/service"
	"github.com/conclave-bench/conclave/systems/service/servers"
)

// TestUnderInit: a program that waits until an orphan is gone comes to its end, and its exit code is that of
// the whole. So is its signal.
func TestUnderInit(t *testing.T) {
	const orphan = `p=$(sh -c 'sleep 0.1 > /dev/null & echo $!')
i=0
while kill -0 $p 2> /dev/null; do
	sleep 0.05
	i=$((i + 1))
	[ $i -lt 200 ] || exit 3
done
`
	for script, want := range map[string]int{
		orphan + "exit 7": 7, "kill -TERM $$": 128 + 15, "sleep 1 > /dev/null 2>&1 & exit 0": 0,
	} {
		c := servers.UnderInit(service.Command{Name: "sh", Path: "/bin/sh", Args: []string{"-c", script}})
		cmd := exec.Command(c.Path, c.Args...)
		cmd.Env = append(os.Environ(), c.Env...)
		out, err := cmd.Output()
		exit := (*exec.ExitError)(nil)
		if err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() != want {
			t.Errorf("%q: exit code %d, %v, %s; want %d", script, cmd.ProcessState.ExitCode(), err, out, want)
		}
	}
}
