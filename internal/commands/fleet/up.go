package fleet

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/base/text"
	"github.com/conclave-bench/conclave/internal/runs/queue"
)

// A Config is what a fleet is started with.
type Config struct {
	Folder string // of the fleet, on this machine
	SSH    string // command that runs a shell on a host
	Hub    string // folder of a hub that runs; "": the fleet has its own
	Open   func(hub string) Hub
	Wait   time.Duration // for each host
	Idle   time.Duration // after which workers end that have no work; 0: never
	Price  float64       // per hour, of hosts whose line has none
	Say    func(string)  // tells people something meanwhile
	// Program is a bench for a platform, as linux/arm64.
	Program func(platform string) (path string, err error)
}

// DefaultSSH never asks for anything, and gives up on a host that does not answer.
const DefaultSSH = "ssh -o BatchMode=yes -o ConnectTimeout=10"

// A Hub is where the machines of a fleet join.
type Hub interface {
	// Ensure has it run.
	Ensure(ctx context.Context) error
	// Invite is its address, which bench run --hub takes, and what admits so many machines: bench join
	// takes it.
	Invite(ctx context.Context, machines int) (address, invitation string, err error)
	// Workers are what the workers say that answer within that time.
	Workers(ctx context.Context, wait time.Duration) ([]queue.Status, error)
	// End ends it.
	End(ctx context.Context) error
}

// mostAtOnce is how many connections are made at once.
const mostAtOnce = 32

// each does something for all machines at once, and waits for all.
func each(list []*Machine, do func(i int, m *Machine)) {
	var all sync.WaitGroup
	free := make(chan struct{}, mostAtOnce)
	for i, m := range list {
		all.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			do(i, m)
		})
	}
	all.Wait()
}

// An up is a fleet that is being started.
type up struct {
	*Config
	*state
	hub        Hub
	invitation string
	packed     func(platform string) (*packed, error)
	joined     func() map[string]bool
}

// Up has a worker on each host. Hosts that have one already are let be. Where a host fails, the others go
// on, and nothing is left on it.
func Up(ctx context.Context, c *Config, hosts []Host) (*answer.Document, error) {
	if err := os.MkdirAll(c.Folder, 0o700); err != nil {
		return nil, err
	}
	lock, err := held(c.Folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = lock.Close() }() // ends with this process anyway
	u := &up{Config: c}
	if u.state, err = begin(c); err != nil {
		return nil, err
	}
	list, err := u.admit(hosts)
	if err != nil {
		return nil, err
	}
	u.hub = c.Open(u.state.Hub)
	if err = u.hub.Ensure(ctx); err == nil {
		u.Address, u.invitation, err = u.hub.Invite(ctx, max(len(list), 1))
	}
	if err == nil {
		err = u.change(func() {})
	}
	if err != nil {
		return nil, errors.Join(err, u.giveUp(list))
	}
	u.packed = remembered(c.pack)
	watching, stop := context.WithCancel(ctx)
	defer stop()
	u.joined = watch(watching, u.hub)
	failed := make([]error, len(list))
	each(list, func(i int, m *Machine) { failed[i] = u.start(ctx, m) })
	return u.report(ctx, list, failed)
}

// begin is the fleet in the folder, or a new one.
func begin(c *Config) (*state, error) {
	s, err := load(c.Folder)
	if no := (*none)(nil); errors.As(err, &no) {
		return &state{folder: c.Folder, ID: strings.ToLower(rand.Text()[:12]), SSH: c.SSH, Own: c.Hub == "",
			Hub: cmp.Or(c.Hub, filepath.Join(c.Folder, hubName))}, nil
	}
	switch {
	case err != nil:
	case s.SSH != c.SSH:
		err = answer.Mistaken("the fleet in %s was started with --ssh %q; give the same, or another --folder",
			c.Folder, s.SSH)
	case c.Hub != "" && c.Hub != s.Hub:
		err = answer.Mistaken("the fleet in %s has the hub in %s; leave out --hub, or give another --folder",
			c.Folder, s.Hub)
	}
	return s, err
}

// admit takes the hosts in that have no worker yet, and writes down that they may be touched.
func (u *up) admit(hosts []Host) (list []*Machine, err error) {
	for _, h := range hosts {
		h.Price = cmp.Or(h.Price, u.Config.Price)
		m := u.machine(h.Name)
		if m != nil && m.Target != h.Target {
			return nil, answer.Mistaken("the fleet has a machine %s already, which is %s; give %s another "+
				"name, as name=%s-2", h.Name, m.Target, h.Target, h.Name)
		}
		if m == nil {
			u.Machines = append(u.Machines, &Machine{Host: h})
			m = u.Machines[len(u.Machines)-1]
		} else if !m.Since.IsZero() {
			u.Say(h.Name + ": is there already")
			continue
		}
		m.Host = h
		list = append(list, m)
	}
	return list, u.change(func() {})
}

// start has a worker on the host within the time that it has.
func (u *up) start(ctx context.Context, m *Machine) error {
	begun := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, u.Wait, fmt.Errorf("not there within %v; see whether a "+
		"firewall drops what it sends to the hub at %s", u.Wait, u.Address))
	defer cancel()
	err := u.bring(ctx, m)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		u.Say(m.Name + ": " + err.Error())
		return err
	}
	u.Say(fmt.Sprintf("%s: joined after %v", m.Name, time.Since(begun).Round(100*time.Millisecond)))
	return u.change(func() { m.Since = time.Now().UTC().Truncate(time.Second) })
}

// bring starts a worker on the host.
func (u *up) bring(ctx context.Context, m *Machine) error {
	s, err := u.shell(ctx, m)
	if err != nil {
		return answer.Mistaken("cannot be reached: %v", err)
	}
	defer func() { _ = s.close() }() // its output has been read
	if err := u.install(s, m); err != nil {
		return err
	}
	if err := s.send(`cat >"$d/invitation"`, []byte(u.invitation+"\n")); err != nil {
		return err
	}
	if output, code, err := s.do(u.command(m)); err != nil || code != 0 {
		return cmp.Or(err, errors.New(text.Printable(output)))
	}
	for tick := time.NewTicker(200 * time.Millisecond); ; {
		if u.joined()[m.Name] {
			return nil
		}
		if _, code, err := s.do("alive"); err != nil || code != 0 {
			said, _, _ := s.do(`tail -n 1 "$d/log"`)
			return cmp.Or(err, errors.New("its worker has ended: "+text.Printable(strings.TrimSpace(said))))
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// install has the right program in the folder of the fleet on the host.
func (u *up) install(s *shell, m *Machine) error {
	system, _, err := s.do("uname -sm")
	if err != nil {
		return err
	}
	platform, err := platformOf(system)
	if err != nil {
		return err
	}
	p, err := u.packed(platform)
	if err != nil {
		return answer.Mistaken("%v", err)
	}
	if err := u.change(func() { m.Platform = platform }); err != nil {
		return err
	}
	if output, code, err := s.do(defined(u.state, m) + ended + `&& mkdir "$d"`); err != nil || code != 0 {
		return cmp.Or(err, answer.Mistaken("no folder can be made there: %s", text.Printable(output)))
	}
	space, _, err := s.do(`df -Pk "$d"`)
	if err != nil {
		return err
	}
	if free, ok := available(space); ok && free < p.size+spare {
		return answer.Mistaken("%d MiB are free there, and the program needs %d MiB: free some, or give the "+
			"host a TMPDIR with more room", free/files.MiB, (p.size+spare)/files.MiB)
	}
	if err := s.send(`gzip -dc >"$d/bench" && chmod 700 "$d/bench"`, p.content); err != nil {
		if strings.Contains(err.Error(), "No space left") {
			return answer.Mistaken("no space is left there: %v; free some, or give the host a TMPDIR with "+
				"more room", err)
		}
		return err
	}
	return nil
}

// spare is what a worker needs beside its program, in bytes.
const spare = 16 * files.MiB

// available is what df -Pk says is free, in bytes.
func available(df string) (free int64, ok bool) {
	lines := strings.Split(strings.TrimSpace(df), "\n")
	words := strings.Fields(lines[len(lines)-1])
	for i, word := range words {
		if i > 0 && strings.HasSuffix(word, "%") {
			kib, err := strconv.ParseInt(words[i-1], 10, 64)
			return kib << 10, err == nil
		}
	}
	return 0, false
}

// platformOf is what Go calls a platform, from the words of uname -sm.
func platformOf(uname string) (string, error) {
	systems := map[string]string{"Linux": "linux", "Darwin": "darwin"}
	processors := map[string]string{"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
	words := strings.Fields(uname)
	if len(words) != 2 || systems[words[0]] == "" || processors[words[1]] == "" {
		return "", answer.Mistaken("it is %q, and workers run on Linux and macOS, on x86_64 and arm64: "+
			"remove it from the list", text.Printable(strings.TrimSpace(uname)))
	}
	return systems[words[0]] + "/" + processors[words[1]], nil
}

// command starts the worker so that it outlives the connection, and leaves what it writes in its folder.
func (u *up) command(m *Machine) string {
	args := "--machine " + quoted(m.Name)
	if m.Address != "" {
		args += " --address " + quoted(m.Address)
	}
	if m.Cores > 0 {
		args += fmt.Sprintf(" --cores %d", m.Cores)
	}
	if u.Idle > 0 {
		args += fmt.Sprintf(" --idle %v", u.Idle)
	}
	// The number is there before the program is, and both are in the folder, whose end is theirs. No
	// other user there sees the invitation.
	return `cd "$d" && export TMPDIR="$d" XDG_CACHE_HOME="$d" XDG_STATE_HOME="$d"
` + apart(`echo $$ >"$d/pid" && exec <"$d/invitation" && rm "$d/invitation" &&
	exec "$d/bench" join - `+args, "log")
}

// A packed is a program as it travels.
type packed struct {
	content []byte
	size    int64 // when it is unpacked
}

// pack reads the program for a platform.
func (c *Config) pack(platform string) (*packed, error) {
	path, err := c.Program(platform)
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	_, err = z.Write(b)
	if err = errors.Join(err, z.Close()); err != nil {
		return nil, err
	}
	return &packed{out.Bytes(), int64(len(b))}, nil
}

// remembered is f, called once for each argument.
func remembered[V any](f func(string) (V, error)) func(string) (V, error) {
	var mu sync.Mutex
	known := map[string]func() (V, error){}
	return func(key string) (V, error) {
		mu.Lock()
		if known[key] == nil {
			known[key] = sync.OnceValues(func() (V, error) { return f(key) })
		}
		one := known[key]
		mu.Unlock()
		return one()
	}
}

// watch asks the hub again and again who is there, until ctx ends.
func watch(ctx context.Context, h Hub) func() map[string]bool {
	var mu sync.Mutex
	var there map[string]bool
	go func() {
		for ctx.Err() == nil {
			if list, err := h.Workers(ctx, 300*time.Millisecond); err == nil { // else the next one may
				now := map[string]bool{}
				for _, w := range list {
					now[w.Machine] = true
				}
				mu.Lock()
				there = now
				mu.Unlock()
			}
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
			}
		}
	}()
	return func() map[string]bool {
		mu.Lock()
		defer mu.Unlock()
		return there
	}
}

// giveUp ends what was begun of the fleet that has no machine yet.
func (u *up) giveUp(list []*Machine) error {
	_, err := u.end(context.Background(), list, u.hub)
	return err
}

// report says which machines are there, and what comes next. Those that failed are cleaned up.
func (u *up) report(ctx context.Context, list []*Machine, failed []error) (*answer.Document, error) {
	d := answer.New("fleet up", "Machines of the fleet")
	t := d.Table("machines", answer.Columns(answer.Everybody, "machine host state platform note")...)
	t.Empty = "every host has a worker already"
	var clean []*Machine
	for i, m := range list {
		if failed[i] != nil {
			clean = append(clean, m)
			d.Exit = max(d.Exit, answer.ExitOf(failed[i]))
		}
	}
	if ctx.Err() != nil {
		return nil, errors.Join(context.Cause(ctx), u.giveUp(clean))
	}
	left, err := u.end(ctx, clean, u.hub)
	if err != nil {
		return nil, err
	}
	for i, m := range list {
		state, note := "there", ""
		if failed[i] != nil {
			state, note = "failed", failed[i].Error()
		}
		if why := left[m.Name]; why != nil && failed[i] != nil {
			note += "; it may not be clean: repeat bench fleet down"
		}
		t.Row(m.Name, m.Target, state, m.Platform, note)
	}
	there := 0
	for _, m := range u.Machines {
		if !m.Since.IsZero() {
			there++
		}
	}
	d.Add(answer.Facts{
		{Name: "hub", Value: u.Address},
		{Name: "folder", Value: filepath.Clean(u.folder)},
		{Name: "there", Value: there},
	})
	if there > 0 {
		d.Say("Run next:\n  bench run FILE --hub " + u.Address + "\n  bench fleet status\n  bench fleet down")
	}
	return d, nil
}
