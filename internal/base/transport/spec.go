package transport

import "slices"

// A Spec declares one transport: all that anybody has to know of it.
type Spec struct {
	Name, Doc string
	// Virtual: time is simulated, and trials run side by side. Otherwise processes are real,
	// and trials run one after the other.
	Virtual bool
	// Repeats: the same seed gives the same trial to the last event.
	Repeats bool
	// MaxNodes is how many processes a trial may have; 0: as many as an experiment may.
	MaxNodes int
	// Server says that a server elsewhere can carry the messages: the keys of bus.
	Server bool
}

// NATS is real processes that exchange messages over a NATS server. How many of them the machines bear
// is measured before the first trial.
var NATS = Spec{Name: "nats", Doc: "real processes on a message bus", Server: true}

// Sim is the simulator.
var Sim = Spec{Name: "sim", Doc: "virtual time", Virtual: true, Repeats: true}

// Bubble runs libraries of others as they are, with their goroutines, channels and clocks, in
// virtual time. Nothing controls the order of their goroutines, so no trial repeats exactly.
// Algorithms of ours run as in Sim. A program can run it if it links libraries.
var Bubble = Spec{Name: "bubble", Doc: "Go libraries as they are, in virtual time, with bench-systems",
	Virtual: true, MaxNodes: 100}

// All is every transport, the default one first.
var All = []*Spec{&NATS, &Sim, &Bubble}

// Of is the transport of a name; nil if there is none.
func Of(name string) *Spec {
	i := slices.IndexFunc(All, func(k *Spec) bool { return k.Name == name })
	if i < 0 {
		return nil
	}
	return All[i]
}

// Virtual says whether a transport of such a name simulates.
func Virtual(name string) bool {
	k := Of(name)
	return k != nil && k.Virtual
}

// Repeats says whether a transport of such a name gives the same trial for the same seed.
func Repeats(name string) bool {
	k := Of(name)
	return k != nil && k.Repeats
}

// Real says whether a transport of such a name has real processes.
func Real(name string) bool {
	k := Of(name)
	return k != nil && !k.Virtual
}

// Names are those of All.
func Names() []string {
	names := make([]string, len(All))
	for i, k := range All {
		names[i] = k.Name
	}
	return names
}
