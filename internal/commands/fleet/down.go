package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/base/text"
)

// defined is what the scripts for a machine begin with: the folder of the fleet there.
func defined(s *state, m *Machine) string {
	return `d="${TMPDIR:-/tmp}"/` + quoted("bench-fleet-"+s.ID+"-"+m.Name) + "\n" + alive
}

// alive says whether the program of folder d is alive. Its arguments name that folder: a number that
// another process has by now is not its.
const alive = `args() {
	if [ -d /proc/self ]; then tr '\0' ' ' <"/proc/$1/cmdline"; else ps -o args= -p "$1"; fi
}
alive() {
	p=$(cat "$d/pid" 2>/dev/null) && case "$(args "$p" 2>/dev/null)" in *"$d/"*) true ;; *) false ;; esac
}
`

// apart has a script outlive the connection, with its output in a log, and waits until it is alive.
func apart(script, log string) string {
	return `apart=$(command -v setsid || command -v nohup)
export d
$apart sh -c ` + quoted(script) + ` >"$d/` + log + `" 2>&1 &
i=0
until alive || [ $i -ge 50 ]; do i=$((i + 1)); sleep 0.1; done`
}

// stopped ends the program, which has ten seconds to do so by itself; ended removes its folder, too.
const stopped = `i=0
while alive; do
	case $i in 0) kill "$p" ;; 100) kill -KILL "$p" ;; 150) break ;; esac
	i=$((i + 1))
	sleep 0.1
done
! alive`

const ended = stopped + ` && rm -rf "$d" && [ ! -e "$d" ]`

// endWithin is how long a machine has to end.
const endWithin = 45 * time.Second

// end ends the workers on these machines, and takes those that are clean out of the fleet; left says
// why others are not. When the last machine has gone the hub goes, and the folder.
func (s *state) end(ctx context.Context, list []*Machine, hub Hub) (left map[string]error, err error) {
	var mu sync.Mutex
	left = map[string]error{}
	each(list, func(_ int, m *Machine) {
		why := s.clean(ctx, m)
		mu.Lock()
		defer mu.Unlock()
		if why != nil {
			left[m.Name] = why
			return
		}
		err = errors.Join(err, s.change(func() {
			s.Machines = slices.DeleteFunc(s.Machines, func(o *Machine) bool { return o.Name == m.Name })
		}))
	})
	if err != nil || len(s.Machines) > 0 {
		return left, err
	}
	if s.Own {
		if err := hub.End(ctx); err != nil {
			return left, err
		}
	}
	return left, s.remove()
}

// clean ends the worker on a machine and removes what it has there. A host that was not touched is clean.
func (s *state) clean(ctx context.Context, m *Machine) error {
	if m.Platform == "" {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, endWithin,
		fmt.Errorf("it did not answer within %v", endWithin))
	defer cancel()
	shell, err := s.shell(ctx, m)
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	output, code, err := shell.do(defined(s, m) + ended)
	if err := errors.Join(err, shell.close()); err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	if code != 0 {
		return fmt.Errorf("its folder or its worker is still there: %s",
			text.Printable(strings.TrimSpace(output)))
	}
	return nil
}

// Down ends the fleet in a folder: nothing of it stays on a machine. One that cannot be reached stays in the
// fleet, so that the next call tries it again.
func Down(ctx context.Context, folder string, hub func(own string) Hub) (*answer.Document, error) {
	s, release, err := locked(folder)
	if err != nil {
		return nil, err
	}
	defer release()
	list := slices.Clone(s.Machines)
	h := hub(s.Hub)
	left, err := s.end(ctx, list, h)
	if err == nil && len(left) > 0 && s.Own { // without it there is no work
		err = h.End(ctx)
	}
	if err != nil {
		return nil, err
	}
	d := answer.New("fleet down", "Machines that have left the fleet")
	t := d.Table("machines", answer.Columns(answer.Everybody, "machine host state note")...)
	for _, m := range list {
		state, note := "clean", ""
		if why := left[m.Name]; why != nil {
			state, note = "left", why.Error()
			d.Exit = answer.CouldNotRun
		}
		t.Row(m.Name, m.Target, state, note)
	}
	t.Empty, t.DropEmpty = "the fleet had no machines", true
	if len(left) > 0 {
		d.Add(answer.Note{Text: fmt.Sprintf("%d of %d machines could not be cleaned; repeat bench fleet "+
			"down when they can be reached", len(left), len(list)), Aside: true})
	}
	return d, nil
}

// locked is the fleet in a folder, which nobody else changes until it is released.
func locked(folder string) (s *state, release func(), err error) {
	if _, err := load(folder); err != nil { // of a folder that is not there, no lock is made
		return nil, nil, err
	}
	lock, err := held(folder)
	if err != nil {
		return nil, nil, err
	}
	release = func() { _ = lock.Close() } // ends with this process anyway
	if s, err = load(folder); err != nil {
		release()
		return nil, nil, err
	}
	return s, release, nil
}

// mostLogged is how much of a worker's log is shown, in bytes; mostHubLog bounds that of the hub.
const mostLogged, mostHubLog = 1 << 20, 64 * files.MiB

// Logs are what the workers have written, of all machines or the one of that name, and the hub.
func Logs(ctx context.Context, folder, name string) (*answer.Document, error) {
	s, err := load(folder)
	if err != nil {
		return nil, err
	}
	list := s.Machines
	if name != "" && name != hubName {
		m := s.machine(name)
		if m == nil {
			return nil, answer.Mistaken("the fleet has no machine %s; bench fleet status lists them", name)
		}
		list = []*Machine{m}
	}
	logs, failed := make([]string, len(list)), make([]error, len(list))
	if name != hubName {
		each(list, func(i int, m *Machine) { logs[i], failed[i] = s.log(ctx, m) })
	}
	d := answer.New("fleet logs", "Logs of the fleet")
	t := d.Table("logs", answer.Columns(answer.Everybody, "machine line:count text")...)
	t.Keys, t.Empty, t.Columns[1].Only = 2, "the logs are empty", answer.Programs
	add := func(machine, log string) {
		n := 0
		for line := range strings.Lines(log) {
			n++
			t.Row(machine, n, text.Printable(strings.TrimRight(line, "\n")))
		}
	}
	if name == "" || name == hubName {
		log, err := files.Read(s.hubLog(), mostHubLog)
		if err != nil {
			return nil, err
		}
		add(hubName, string(log))
	}
	for i, m := range list {
		if failed[i] != nil {
			d.Exit = answer.CouldNotRun
			t.Row(m.Name, 0, "no log: "+failed[i].Error())
		}
		add(m.Name, logs[i])
	}
	return d, nil
}

// log is what the worker on a machine has written.
func (s *state) log(ctx context.Context, m *Machine) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, endWithin)
	defer cancel()
	shell, err := s.shell(ctx, m)
	if err != nil {
		return "", err
	}
	defer func() { _ = shell.close() }() // its output has been read
	output, code, err := shell.do(defined(s, m) + fmt.Sprintf(`tail -c %d "$d/log"`, mostLogged))
	if err == nil && code != 0 {
		err = errors.New(text.Printable(strings.TrimSpace(output)))
	}
	return output, err
}
