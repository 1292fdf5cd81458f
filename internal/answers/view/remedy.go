package view

import "strings"

// A Remedy is what to do about invalid trials of one cause.
type Remedy struct {
	Cause string // that they are trials ...
	Do    string
	Again bool // it may not happen again, so that retries are a remedy, too
}

// InFull is what to do, with what else may help.
func (r Remedy) InFull() string {
	if r.Again {
		return r.Do + ", or raise retries"
	}
	return r.Do
}

// remedies are by a part of the reason that a trial gives. The first that fits counts, and the last fits all.
var remedies = []struct {
	part string
	Remedy
}{
	{"is known only to", Remedy{"in which the clocks of hosts were not known well enough",
		"use the latency that the reason names, nearer hosts, or a time service on each of them", false}},
	{"the two clocks was changed", clockChanged},
	{"by clocks that are known", clockChanged},
	{"the clock was changed by", clockChanged},
	{"no space left on device", Remedy{"whose host had no disk space left",
		"free some space there, or set TMPDIR to a folder with more", false}},
	{"the agent on", hostGone},
	{"the host died", hostGone},
	{"a firewall may drop", Remedy{"in which a host could not be reached",
		"open the ports that the reason names", false}},
	{"no answer from it", hostGone},
	{"silent routes", networkStalled},
	{"lost a route to another host", networkStalled},
	{", is not ready", Remedy{"in which a server did not start",
		"see what it wrote, in the column reason of trials.csv, and that the program which PATH finds " +
			"and its parameters are the right ones", false}},
	{"telemetry of", Remedy{"that wrote down more than a node may", "shorten the scenario", false}},
	{"", Remedy{"that the machine or the bus disturbed",
		"use fewer nodes or an idle machine", true}},
}

var (
	clockChanged = Remedy{"in which a clock was set or adjusted fast",
		"let time services adjust clocks by 500 ppm at most, and do not let machines sleep", false}
	networkStalled = Remedy{"in which the network between the hosts stalled",
		"use a network that carries nothing else", true}
	hostGone = Remedy{"in which a host was lost",
		"look at that machine: its memory, its network, and what else may end programs there", true}
)

// RemedyFor is what to do about a trial that is invalid for such a reason.
func RemedyFor(reason string) Remedy {
	for _, r := range remedies {
		if strings.Contains(reason, r.part) {
			return r.Remedy
		}
	}
	return Remedy{} // the last one fits all
}
