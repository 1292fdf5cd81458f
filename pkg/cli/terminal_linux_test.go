package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/conclave-bench/conclave/internal/base/console"
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
		text := shown(t, cmd, screen, tty)
		if got := strings.Contains(text, "\x1b["); got != c.frames {
			t.Errorf("%s: frames %v, want %v: %q", c.name, got, c.frames, text)
		}
		if !c.frames {
			has(t, text, "trial 56/56 ")
		}
	}
}

// shown is what a program writes to a terminal until it ends. A terminal holds a few thousand bytes: it is
// read while the program writes.
func shown(t *testing.T, cmd *exec.Cmd, screen, tty *os.File) string {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := tty.Close(); err != nil { // the program has the only other one, whose end ends the reading
		t.Fatal(err)
	}
	var text strings.Builder
	_, _ = io.Copy(&text, screen) // ends with an error where the program does
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// TestWidth: text is as wide as the terminal, or as COLUMNS says, from 80 columns to 200.
func TestWidth(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env         string
		wide        uint16
		least, most int
	}{
		{"TERM=xterm", 40, 60, 80}, {"TERM=xterm", 120, 100, 120}, {"COLUMNS=100", 300, 85, 100},
		{"COLUMNS=wide", 120, 100, 120}, {"COLUMNS=900", 120, 120, 200},
	} {
		screen, tty := terminal(t)
		if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 20, Col: c.wide}); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe, "list", "metrics")
		cmd.Env = []string{asBench + "=1", c.env}
		cmd.Stdout = tty
		widest := 0
		for line := range strings.Lines(shown(t, cmd, screen, tty)) {
			widest = max(widest, console.Width(strings.TrimRight(line, "\r\n")))
		}
		if widest < c.least || widest > c.most {
			t.Errorf("%s in %d columns: lines of %d, want %d to %d", c.env, c.wide, widest, c.least, c.most)
		}
	}
}
