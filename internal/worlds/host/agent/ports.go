package agent

import (
	"fmt"
	"strconv"
	"strings"
)

// Ports are the TCP ports on which a host listens; the zero value: the system chooses them. The first is for
// the clients of its NATS server, the second for the routes of that, the third for the clock, and the
// fourth, of a worker, for its agent (NeededByWorker).
type Ports struct {
	First int `json:"first,omitempty"`
	Last  int `json:"last,omitempty"`
}

// The places of ports in a range.
const (
	portClients = iota
	portRoutes
	portClock
	PortAgent
)

// How many ports a host of a hosts file listens on, and one that is a worker.
const (
	Needed         = PortAgent
	NeededByWorker = PortAgent + 1
)

// ParsePorts reads a range, as 7000-7002. A host needs so many ports.
func ParsePorts(text string, need int) (p Ports, err error) {
	first, last, found := strings.Cut(text, "-")
	if !found {
		last = first
	}
	p.First, err = strconv.Atoi(first)
	if err == nil {
		p.Last, err = strconv.Atoi(last)
	}
	switch {
	case err != nil || p.First < 1 || p.Last > 65535 || p.Last < p.First:
		return Ports{}, fmt.Errorf("%q, expected a range of ports from 1 to 65535, as 7000-%d", text,
			6999+need)
	case p.Last-p.First+1 < need:
		return Ports{}, fmt.Errorf("%s has %d of the %d ports that a host listens on; expected %d-%d", text,
			p.Last-p.First+1, need, p.First, p.First+need-1)
	}
	return p, nil
}

// At is the port at a place; 0: any that is free.
func (p Ports) At(place int) int {
	if p == (Ports{}) {
		return 0
	}
	return p.First + place
}

// Open is what to do where a firewall drops what is sent to these ports of a host.
func (p Ports) Open(host string) string {
	if p == (Ports{}) {
		return fmt.Sprintf("give %s ports of its own, with ports: 7000-7002 in the hosts file or bench "+
			"work --ports 7000-7003, and open these to bench and to the other hosts, for without them "+
			"the system chooses others in each run", host)
	}
	return fmt.Sprintf("open the TCP ports %v of %s, which the hosts file or its worker has chosen, to "+
		"bench and to the other hosts", p, host)
}

// String is the range as it is written; empty: the system chooses.
func (p Ports) String() string {
	if p == (Ports{}) {
		return ""
	}
	return fmt.Sprintf("%d-%d", p.First, p.Last)
}
