package cli

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal opens a pseudo-terminal: what is written to its end for programs can
// be read from the other.
func terminal(t *testing.T) (screen, tty *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	fd := int(screen.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Skip(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Skip(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = tty.Close() })
	return screen, tty
}

func TestProgress_OnATerminal(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := write(t, "small.yaml", small)
	cases := []struct {
		name, env, flag string
		frames          bool
	}{
		{"a terminal", "TERM=xterm", "auto", true},
		{"a dumb terminal", "TERM=dumb", "auto", false},
		{"a CI log", "CI=true", "auto", false},
		{"as it was asked", "TERM=xterm", "plain", false},
	}
	for _, c := range cases {
		screen, tty := terminal(t)
		cmd := exec.Command(exe, "run", file, "--out", t.TempDir(), "--progress", c.flag)
		cmd.Env = []string{asBench + "=1", c.env}
		cmd.Stderr = tty
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if err := tty.Close(); err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for buf := make([]byte, 4096); ; {
			n, err := screen.Read(buf)
			text.Write(buf[:n])
			if err != nil { // the last program has closed its end
				break
			}
		}
		if got := strings.Contains(text.String(), "\x1b["); got != c.frames {
			t.Errorf("%s: frames %v, want %v: %q", c.name, got, c.frames, text.String())
		}
		if !c.frames {
			has(t, text.String(), "trial 56/56 ")
		}
	}
}
