package algo

import (
	"fmt"
	"net/netip"
	"time"
)

// A Live process is a part of a system that people run: one of its servers, or a client of it. What it does
// takes place in real time, outside of events, in goroutines and programs of its own; it tells of that in
// events that it posts. So it runs on real nodes alone.
//
// A process that is to ask for a critical section is a Mutex as well, and one that reports the leader, which
// servers do as well, an Elector.
type Live interface {
	Process
	// Open begins the process's life at a site, and returns when it can take part: a client when it is
	// connected, a server when it serves. A server that starts again after a crash does not wait for
	// that: whether it serves depends on the others. An error makes the trial invalid.
	Open(at Site, h Host) error
	// Close ends all that Open began, and returns when it has ended. It is not called at a crash, which
	// ends all processes of the node at once.
	Close()
}

// A Host is the node of a Live process. Its methods may be called from any goroutine.
type Host interface {
	// Post has f run as an event. It does not wait, and does nothing once the process has come to its end.
	Post(f func(LiveEnv))
	// Fail says that something is wrong that is not the system's doing. It makes the trial invalid.
	Fail(err error)
}

// A LiveEnv is the Env of an event that a Live process has posted.
type LiveEnv interface {
	Env
	// Wrote reports what became of a write that this process made with the token of its last grant, and
	// that began so long ago: it was accepted, or it was refused because another process had been granted
	// the critical section since. Mutexes only.
	Wrote(began time.Duration, accepted bool)
}

// An Ailing process is a Live one whose machine can fail in part. Ail has it be in a state, during an
// event: so it does not wait. What it cannot do it tells its Host, with Fail.
type Ailing interface {
	Live
	Ail(a Ailment)
}

// An Ailment is what is wrong with the machine of a process. The zero value is nothing.
type Ailment struct {
	Disk  string        // slow-disk, hung-disk or full-disk; "": nothing
	By    time.Duration // slow-disk: what each write takes
	Ahead time.Duration // by which its clock is set forward; negative: back
	Speed float64       // how many times as fast its clock runs; 0: as all others
	CPU   float64       // the share of one processor that it gets; 0: all it wants
}

// A Site is where a Live process lives.
type Site struct {
	Folder    string       // its own: empty at first, and as it was after a crash
	Addresses []netip.Addr // of all processes, by Index
	Servers   []ID         // the processes that are servers, ascending
	Faults    []string     // what will go wrong in the trial, by the names of package fault
}

// Server is the place of process id among the servers, from 0 on; -1: it is a client.
func (s *Site) Server(id ID) int {
	for i, p := range s.Servers {
		if p == id {
			return i
		}
	}
	return -1
}

// ServerAddresses are those of the servers, in their order.
func (s *Site) ServerAddresses() []netip.Addr {
	out := make([]netip.Addr, len(s.Servers))
	for i, p := range s.Servers {
		out[i] = s.Addresses[p.Index()]
	}
	return out
}

// RegisterService adds a system that people run, with AddService, and panics on a defect of the Spec.
func RegisterService(p Problem, s Spec, newProcess func(Config) Live) {
	must(AddService(p, s, newProcess))
}

// AddService adds a system that people run and that solves problem p: programs of others, with clients of
// ours. Its messages are not seen, so its Spec declares none. See AddMutex for when it may be called.
func AddService(p Problem, s Spec, newProcess func(Config) Live) error {
	return add(p, s, &Algorithm{Service: true, live: newProcess}, newProcess == nil)
}

// Unseen says whether the algorithm's messages are not seen: figures of them are absent, and not 0.
func (a *Algorithm) Unseen() bool { return a.Observed || a.Service }

// Foreign says whether it is code of others that elects its first leader itself: a library, or a system.
func (a *Algorithm) Foreign() bool { return a.Subject || a.Service }

// ServersOf is how many servers stand behind the processes, with the resolved parameters p; 0: none do.
func (s *Spec) ServersOf(p Params) int {
	if s.Servers == "" {
		return 0
	}
	return int(p.Int(s.Servers))
}

// checkServers wants Servers to be a number that all processes share, and that has a least value.
func (s *Spec) checkServers() error {
	if s.Servers == "" {
		return nil
	}
	for _, p := range s.Params {
		if p.Name == s.Servers && p.Type == Int && !p.PerProcess && p.Min != nil {
			return nil
		}
	}
	return fmt.Errorf("servers %q is no number with a minimum among the parameters that all processes share",
		s.Servers)
}
