// Package guesttest is a program that speaks the step protocol, for tests: the test binary itself, started
// again. It is a lock that process 1 hands out, and does the one bad thing that it is asked for.
package guesttest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Marker is the first argument of the test binary that is the program, and Holder of one that keeps its
// standard output open.
const Marker, Holder = "guest-test-program", "guest-test-holder"

// A Deed is what the program does wrong.
type Deed struct {
	On    string // the request; "" and "event": the first request for the critical section
	Say   string // instead of the answer; @ stands for the number of the request, ~ for 2 MiB, ^ for no UTF-8
	Error string // on standard error, before
	Then  string // see then
	Spec  string // instead of the spec; "+" and keys: beside its own
	Mark  string // anything that a test finds the process by
}

// Command is the words of the command that does it.
func (d Deed) Command() []string {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	text, err := json.Marshal(d)
	if err != nil {
		panic(err)
	}
	return []string{exe, Marker, string(text)}
}

// Main is for the TestMain of a package: it does not return in the program.
func Main() {
	if len(os.Args) == 2 && os.Args[1] == Holder {
		time.Sleep(time.Minute)
		os.Exit(0)
	}
	if len(os.Args) != 3 || os.Args[1] != Marker {
		return
	}
	var d Deed
	if err := json.Unmarshal([]byte(os.Args[2]), &d); err != nil {
		panic(err)
	}
	(&program{Deed: d, processes: map[uint64]*process{}}).run()
	os.Exit(0)
}

// Spec is what the program says it is, but for its closing brace.
const Spec = `{"problem":"mutex","summary":"for tests: a lock that process 1 hands out",` +
	`"messages":[{"kind":"ASK","fields":[["at","uint"],["delta","int"]]},{"kind":"GRANT"},{"kind":"BACK"}],` +
	`"saves":[{"kind":"KEPT"}]`

type request struct {
	N       uint64
	On      string
	Process uint64
	From    int
	Kind    string
	Config  struct{ ID int }
}

type process struct {
	id    int
	queue []int
	busy  bool
}

type program struct {
	Deed
	processes map[uint64]*process
	done      bool
}

var long = strings.NewReplacer("~", strings.Repeat("x", 2<<20), "^", "\xff")

func (p *program) run() {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			panic(err)
		}
		on := p.On
		if on == "" {
			on = "request"
		}
		if on == r.On && !p.done {
			p.done = true
			if p.Error != "" {
				fmt.Fprintln(os.Stderr, long.Replace(p.Error))
			}
			if p.Say != "" {
				fmt.Print(long.Replace(strings.ReplaceAll(p.Say, "@", strconv.FormatUint(r.N, 10))))
			}
			then(p.Then)
			if p.Say != "" {
				continue
			}
		}
		if r.On == "end" {
			return
		}
		fmt.Printf("{\"n\":%d%s}\n", r.N, p.answer(&r))
	}
}

// then does what is no answer.
func then(what string) {
	switch word, number, _ := strings.Cut(what, " "); word {
	case "exit":
		code, _ := strconv.Atoi(number)
		os.Exit(code)
	case "kill":
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		time.Sleep(time.Minute)
	case "sleep":
		time.Sleep(time.Minute)
	case "eat":
		for {
			b := make([]byte, 16<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			hoard = append(hoard, b)
			time.Sleep(time.Millisecond)
		}
	case "leave": // one that has left no trace of whose it is holds the pipe
		c := exec.Command(os.Args[0], Holder)
		c.Env = []string{"GUEST_TEST=holder"}
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		detach(c)
		if err := c.Start(); err != nil {
			panic(err)
		}
		os.Exit(4)
	case "close":
		_ = os.Stdout.Close()
		time.Sleep(time.Minute)
	case "deaf":
		_, _ = io.Copy(io.Discard, os.Stdin)
		time.Sleep(time.Minute)
	}
}

var hoard [][]byte

// answer is the rest of the answer.
func (p *program) answer(r *request) string {
	if r.On == "describe" {
		switch more, is := strings.CutPrefix(p.Spec, "+"); {
		case is:
			return `,"protocol":1,"spec":` + Spec + "," + more + "}"
		case p.Spec != "":
			return `,"protocol":1,"spec":` + p.Spec
		}
		return `,"protocol":1,"spec":` + Spec + "}"
	}
	q := p.processes[r.Process]
	var effects []string
	send := func(to int, kind, fields string) {
		effects = append(effects, fmt.Sprintf(`{"send":%d,"kind":%q%s}`, to, kind, fields))
	}
	switch r.On {
	case "new":
		p.processes[r.Process] = &process{id: r.Config.ID}
	case "drop":
		delete(p.processes, r.Process)
	case "request":
		if q.id == 1 {
			q.queue = append(q.queue, 1)
		} else {
			send(1, "ASK", `,"msg":{"at":7,"delta":-7}`)
		}
	case "release":
		if q.id == 1 {
			q.busy = false
		} else {
			send(1, "BACK", "")
		}
	case "receive":
		switch r.Kind {
		case "ASK":
			q.queue = append(q.queue, r.From)
		case "BACK":
			q.busy = false
		case "GRANT":
			effects = append(effects, `{"granted":true}`)
		}
	}
	if q != nil && !q.busy && len(q.queue) > 0 {
		to := q.queue[0]
		q.queue, q.busy = q.queue[1:], true
		if to == 1 {
			effects = append(effects, `{"granted":true}`)
		} else {
			send(to, "GRANT", "")
		}
	}
	if effects == nil {
		return ""
	}
	return `,"effects":[` + strings.Join(effects, ",") + "]"
}
