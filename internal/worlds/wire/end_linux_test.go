package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/internal/base/proc/proctest"
	"github.com/conclave-bench/conclave/internal/repo/slowtest"
)

func init() {
	// holder has a wire with a process at each end, names their namespaces, and waits.
	proctest.Programs["holder"] = func() {
		s := proc.NewSpawner()
		w, err := Open(s, config(2))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		for end := uint32(1); end <= 2; end++ {
			c, err := s.Start(proc.Command{Path: config(1).Exe, Net: w.Net(end),
				Env: append(os.Environ(), proctest.Key+"=sleeper")})
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			_, _ = bufio.NewReader(c.Stdout).ReadString('\n')
			fmt.Println(spaceOf(c.Pid()))
		}
		fmt.Println("mover", w.Pid())
		<-w.Done()
		fmt.Println("failed", w.Failed())
		time.Sleep(time.Hour)
	}
	proctest.Programs["sleeper"] = func() {
		fmt.Println("here")
		time.Sleep(time.Hour)
	}
	proctest.Programs["pinger"] = func() { os.Exit(ping()) }
	proctest.Programs["closed"] = func() { os.Exit(closed()) }
}

// A held is a process with a wire.
type held struct {
	*exec.Cmd
	lines  *bufio.Reader
	marker string
}

func hold(t *testing.T) *held {
	t.Helper()
	needWire(t)
	h := &held{marker: "CONCLAVE_TEST_MARKER=" + strconv.FormatInt(int64(clock.Monotonic()), 36)}
	h.Cmd = exec.Command(config(1).Exe)
	h.Env = append(os.Environ(), h.marker, proctest.Key+"=holder")
	h.Stderr = os.Stderr
	out, err := h.StdoutPipe()
	must(t, err)
	h.lines = bufio.NewReader(out)
	must(t, h.Start())
	t.Cleanup(func() { _ = h.Process.Kill(); _ = h.Wait() })
	return h
}

func (h *held) line(t *testing.T) string {
	t.Helper()
	line, err := h.lines.ReadString('\n')
	must(t, err)
	return strings.TrimSpace(line)
}

// gone waits until nothing is left of h: no process, and no network namespace that is not there before.
func (h *held) gone(t *testing.T, spaces ...string) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		pids, err := proctest.Orphans(h.marker)
		must(t, err)
		for _, name := range spaces {
			pids = append(pids, inSpace(name)...)
		}
		if len(pids) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("processes %v are left", pids)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// traces are what a wire could leave in the file system: mounts, named namespaces.
func traces(t *testing.T) string {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	must(t, err)
	named, _ := os.ReadDir("/run/netns") // there may be no such folder
	return fmt.Sprint(strings.Count(string(mounts), "nsfs"), len(named))
}

// TestWire_Killed: of a process with a wire that is killed nothing is left, at whatever instant that is.
func TestWire_Killed(t *testing.T) {
	t.Parallel()
	before := traces(t)
	h := hold(t)
	spaces := []string{h.line(t), h.line(t)}
	if spaces[0] == spaces[1] || len(inSpace(spaces[0])) != 1 || len(inSpace(spaces[1])) != 1 {
		t.Fatalf("namespaces %v, with %v and %v in them: want two, with a process each", spaces,
			inSpace(spaces[0]), inSpace(spaces[1]))
	}
	must(t, h.Process.Kill())
	h.gone(t, spaces...)
	for i := range slowtest.Times(10, 200) {
		h := hold(t)
		time.Sleep(time.Duration(i*7919%100) * time.Millisecond) // whatever it does then
		must(t, h.Process.Kill())
		h.gone(t)
	}
	if after := traces(t); after != before {
		t.Errorf("mounts and names of namespaces: %s, there were %s", after, before)
	}
}

// TestWire_MoverKilled: a wire whose packets nobody moves any more says so.
func TestWire_MoverKilled(t *testing.T) {
	t.Parallel()
	h := hold(t)
	h.line(t)
	h.line(t)
	var pid int
	if _, err := fmt.Sscanf(h.line(t), "mover %d", &pid); err != nil {
		t.Fatal(err)
	}
	must(t, syscall.Kill(pid, syscall.SIGKILL))
	if got, want := h.line(t), "failed wire: the process that moves packets has ended: SIGKILL"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// ping is a program that enters and sends a datagram over a wire and back, as the user that runs it.
func ping() int {
	code, done, err := Enter()
	if err != nil {
		fmt.Println(err)
		var u *Unavailable
		if errors.As(err, &u) {
			return u.Exit()
		}
		return 1
	}
	if done {
		return code
	}
	s := proc.NewSpawner()
	defer func() { _ = s.Close() }()
	w, err := Open(s, config(2))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer w.Close()
	if err := w.Do(1, checkDevice); err != nil {
		fmt.Println(err)
		return 1
	}
	for _, net := range []*os.File{w.Net(1), w.Net(2), nil} {
		c, err := s.Start(proc.Command{Path: config(1).Exe, Net: net,
			Env: append(os.Environ(), proctest.Key+"=sleeper")})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		c.Close()
	}
	conns := make(chan error, 1)
	err = w.Do(2, func() error {
		l, err := listenRaw(2)
		if err == nil {
			go func() {
				conn, err := l.Accept()
				if err == nil {
					_, err = io.WriteString(conn, "pong")
					_ = conn.Close()
				}
				conns <- err
			}()
		}
		return err
	})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	conn, err := dialTCP(w, 1, 2, 10*time.Second)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	text, err := io.ReadAll(conn)
	fmt.Println(string(text), err, <-conns, "as user", os.Getuid())
	return 7
}

// closed runs pinger as a user without rights, in a mount namespace of its own with another /dev/net:
// what its argument says.
func closed() int {
	say := func(what string, err error) int {
		fmt.Println(what+":", err)
		return 1
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return say("private", err)
	}
	if err := unix.Mount("tmpfs", "/dev/net", "tmpfs", 0, "mode=0755"); err != nil {
		return say("mount", err)
	}
	const exe = "/dev/net/exe"
	program, err := os.ReadFile(config(1).Exe)
	if err == nil {
		err = os.WriteFile(exe, program, 0o755)
	}
	if err != nil {
		return say("copy", err)
	}
	mode := map[string]uint32{"open": 0o666, "shut": 0o600, "entered": 0o666}[os.Args[1]]
	if mode != 0 {
		if err := unix.Mknod(tunPath, unix.S_IFCHR|mode, int(unix.Mkdev(10, 200))); err != nil {
			return say("mknod", err)
		}
		if err := os.Chmod(tunPath, os.FileMode(mode)); err != nil {
			return say("chmod", err)
		}
	}
	const nobody = 65534
	c := exec.Command(exe)
	c.Dir = "/"
	c.Env = []string{proctest.Key + "=pinger"}
	if os.Args[1] == "entered" { // what a system does that has user namespaces, and gives no rights there
		c.Env = append(c.Env, entered)
	}
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if err := c.Run(); err != nil && c.ProcessState == nil {
		return say("run", err)
	}
	return c.ProcessState.ExitCode()
}

// TestEnter: a user without rights has a wire where user namespaces and /dev/net/tun are open, as the
// same user; where they are not, an error says what to do, in one sentence.
func TestEnter(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("this test makes device files, which takes root")
	}
	needWire(t)
	for how, want := range map[string]struct {
		code int
		says string
	}{
		"open": {7, "pong <nil> <nil> as user 65534\n"},
		"shut": {2, "no wire here: this user may not open /dev/net/tun; run it as root, or let others use " +
			"it with \"chmod 0666 /dev/net/tun\"\n"},
		"missing": {2, "no wire here: /dev/net/tun is missing; load it with \"modprobe tun\" as root, or " +
			"start the container with --device /dev/net/tun\n"},
		"entered": {2, "no wire here: only root may make network namespaces here; run it as root, or open " +
			"user namespaces (sysctl user.max_user_namespaces=10000, and " +
			"kernel.apparmor_restrict_unprivileged_userns=0 where there is such a key; in a container, " +
			"--privileged)\n"},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			c := exec.Command(config(1).Exe, how)
			c.Env = append(os.Environ(), proctest.Key+"=closed")
			c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
			out, err := c.CombinedOutput()
			if c.ProcessState == nil {
				t.Skip("no mount namespaces here:", err)
			}
			if code := c.ProcessState.ExitCode(); code != want.code || string(out) != want.says {
				t.Errorf("exit %d, %q, want %d, %q", code, out, want.code, want.says)
			}
		})
	}
}
