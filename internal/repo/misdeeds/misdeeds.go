// Package misdeeds is an algorithm that does one bad thing, for tests: everything that code
// can do to the process that it runs in, and to those around it.
package misdeeds

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// Name is what the algorithm is called.
const Name = "test-misdeeds"

// An Ending is what a misdeed is to come to.
type Ending int

// The endings.
const (
	Blamed   Ending = iota // the command says whose fault it was, and ends with 1
	Harmless               // nothing comes of it
	Stranger               // a promise is broken
	Lost                   // the command may be gone, but nothing is left behind
)

// A Deed is one bad thing.
type Deed struct {
	Name string
	Ends Ending
	do   func(p *process, env algo.Env)
}

// Deeds are all of them.
var Deeds = []Deed{
	{"nothing", Harmless, func(*process, algo.Env) {}},
	{"exit 0", Blamed, func(*process, algo.Env) { os.Exit(0) }},
	{"exit 3", Blamed, func(*process, algo.Env) { os.Exit(3) }},
	{"panic", Blamed, func(*process, algo.Env) {
		panic("lost its head\x1b[31m\n" + strings.Repeat("A", 10_000))
	}},
	{"panic in a goroutine", Blamed, func(*process, algo.Env) {
		go panic("lost its head\x1b[31m" + strings.Repeat("A", 10_000))
		time.Sleep(time.Minute)
	}},
	{"overflow", Blamed, func(p *process, _ algo.Env) { p.depth = deeper(0) }},
	{"loop", Blamed, func(p *process, _ algo.Env) {
		for {
			p.depth++
		}
	}},
	{"wait", Blamed, func(*process, algo.Env) { <-make(chan int) }},
	{"wait, deaf", Blamed, func(*process, algo.Env) {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		time.Sleep(time.Hour)
	}},
	{"goroutine", Blamed, func(*process, algo.Env) { go linger() }},
	{"memory", Blamed, func(*process, algo.Env) {
		for range 64 {
			b := make([]byte, 64<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			hoard = append(hoard, b)
		}
	}},
	{"impossible memory", Blamed, func(*process, algo.Env) { hoard = append(hoard, make([]byte, 1<<46)) }},
	{"sends", Blamed, func(p *process, env algo.Env) {
		for range 3_000_000 {
			env.SetTimer("x", time.Hour)
		}
	}},
	{"Goexit", Blamed, func(*process, algo.Env) { runtime.Goexit() }},
	{keeps, Blamed, func(p *process, _ algo.Env) { p.kept.CancelTimer("x") }},
	{"stranger", Stranger, func(_ *process, env algo.Env) { env.Elected(9999, 1<<40) }},
	{"output", Harmless, func(*process, algo.Env) {
		line := strings.Repeat("\x1b[31mPWN", 100)
		for range 50 {
			fmt.Println(line)
			fmt.Fprintln(os.Stderr, line)
		}
	}},
	{"environment", Harmless, func(*process, algo.Env) { os.Clearenv() }},
	{"folder", Harmless, func(*process, algo.Env) { _ = os.Chdir("/") }},
}

const keeps = "kept Env"

// chosen is what all processes of the algorithm do.
var chosen *Deed

var hoard [][]byte

func linger() { time.Sleep(time.Hour) }

func deeper(n int) int {
	var room [128]int
	room[n%128] = n
	//lint:ignore SA5007 that is the misdeed
	return deeper(n+1) + room[n%64]
}

// process is one of the bully algorithm, but for what it does when the process of the lowest
// rank is to begin an election.
type process struct {
	algo.Config
	rest  algo.Elector
	kept  algo.Env
	depth int
}

func (p *process) Start(env algo.Env) {
	if chosen.Name == keeps {
		p.kept = env
	}
	p.rest.(algo.Starter).Start(env)
}

func (p *process) Elect(env algo.Env) {
	if p.ID == p.Peers[0] {
		chosen.do(p, env)
	}
	p.rest.Elect(env)
}

func (p *process) Receive(env algo.Env, from algo.ID, m algo.Message) { p.rest.Receive(env, from, m) }
func (p *process) Timeout(env algo.Env, t algo.Timer)                 { p.rest.(algo.Timed).Timeout(env, t) }

// Register adds the algorithm, which does the deed of that name. The bully algorithm has to be
// there already.
func Register(deed string) error {
	bully, err := algo.Lookup("election/bully")
	if err != nil {
		return err
	}
	for i := range Deeds {
		if Deeds[i].Name != deed {
			continue
		}
		chosen = &Deeds[i]
		spec := bully.Spec
		spec.Name = Name
		return algo.AddElector(spec, func(c algo.Config) algo.Elector {
			return &process{Config: c, rest: bully.New(c).(algo.Elector)}
		})
	}
	return fmt.Errorf("no misdeed is called %q", deed)
}
