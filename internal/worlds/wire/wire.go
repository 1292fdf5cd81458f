// Package wire is a network of our own on one machine: processes in network namespaces, whose IP
// packets one process of ours moves from one to another, as package link says. TCP above it does what
// TCP does: handshakes wait, what is lost is sent again, and a connection that is cut stays half open.
//
// Each end of a wire is a network namespace with one TUN device, 10.77.x.y. The process that moves the
// packets, Run, reads each packet from the device of its sender, has the network model draw its fate,
// holds it until it is due, and writes it to the device of its receiver. The k-th packet of a link has
// the same fate for the same seed. Nothing else leads from one end to another, or out.
//
// A wire needs no kernel module but tun, and no root where user namespaces are open: see Enter. It
// leaves nothing behind: namespaces and devices have no names in the file system, and end with the last
// process that has them.
package wire

import (
	"net/netip"
	"time"

	"github.com/conclave-bench/conclave/pkg/fault"
	"github.com/conclave-bench/conclave/pkg/link"
)

// Most is how many ends a wire has at most.
const Most = 250

// MTU is the largest IP packet that an end sends, in bytes.
const MTU = 1500

// Plane is that of packets, as the network model numbers planes. It is none of those of messages, so
// that packets meet draws of their own.
const Plane = 2

// Address is that of an end, from 1 to Most.
func Address(end uint32) netip.Addr {
	return netip.AddrFrom4([4]byte{network[0], network[1], byte(end >> 8), byte(end)})
}

// network is the first two bytes of all addresses.
var network = [2]byte{10, 77}

// A Config says which wire to make.
type Config struct {
	Exe  string   // a program that calls Run
	Args []string // that make it do so; the number of ends follows them
	Env  []string // its environment; nil: that of this process
	Ends int      // from 1 to Most; Keep has none
}

// A Plan is what a wire is from one instant on. Packets on their way are forgotten, as are all cuts, and
// each link begins with its first packet.
type Plan struct {
	Network link.Network `json:"network"`
	// Start is when the trial starts or has started, an instant of clock.Monotonic: times in Network and
	// in effects are offsets from it. 0: that is not known yet; see Wire.Start. Until the start packets take
	// what they would take at that instant, and no link is cut.
	Start time.Duration `json:"start"`
}

// Stats is what has happened since the last Plan.
type Stats struct {
	Links   []Link   `json:"links"`   // those that had a packet, by From and To
	Devices []Device `json:"devices"` // of all ends, in their order
	// Late has the quantiles of all links together.
	Late Late `json:"late"`
	// Waiting is how many packets are on their way.
	Waiting int `json:"waiting"`
}

// A Link is what has happened to the packets of one link, in one direction. Of its packets and their
// duplicates,
//
//	Packets + Duplicated = Delivered + Lost + Cut + Refused + Overflowed + those that are on their way.
//
// The machine has lost those that were refused and those for which there was no room, and the model the
// other ones.
type Link struct {
	From       uint32 `json:"from"`
	To         uint32 `json:"to"`
	Packets    uint64 `json:"packets"` // that the sender has sent
	Bytes      uint64 `json:"bytes"`   // of these, with IP headers
	Duplicated uint64 `json:"duplicated"`
	Delivered  uint64 `json:"delivered"`  // handed to the system of the receiver
	Lost       uint64 `json:"lost"`       // by a draw
	Cut        uint64 `json:"cut"`        // since the link was cut at some instant of their way
	Refused    uint64 `json:"refused"`    // by the receiver's device
	Overflowed uint64 `json:"overflowed"` // more were on their way than this process has room for
	Late       Late   `json:"late"`
}

// Late is how late the delivered packets were: from when they were due until they were handed to the
// receiver's system, and, before that, how long they lay unread since the machine did not let the
// process run. Quantiles are rounded up by at most 1/32.
type Late struct {
	P50 time.Duration `json:"p50_ns"`
	P99 time.Duration `json:"p99_ns"`
	Max time.Duration `json:"max_ns"`
}

// A Device is what has happened at one end besides.
type Device struct {
	End uint32 `json:"end"`
	// Missed is how many packets of the end the machine has lost before they could be read, whatever
	// their link.
	Missed uint64 `json:"missed"`
	// Strays is how many packets were for nobody: no IPv4, or not the address of another end.
	Strays uint64 `json:"strays"`
}

// LostByMachine is how many packets did not meet what the model says.
func (s *Stats) LostByMachine() (n uint64) {
	for i := range s.Links {
		n += s.Links[i].Refused + s.Links[i].Overflowed
	}
	for _, d := range s.Devices {
		n += d.Missed
	}
	return n
}

// Link is that from one end to another; zero but for the ends if it had no packet.
func (s *Stats) Link(from, to uint32) Link {
	for _, l := range s.Links {
		if l.From == from && l.To == to {
			return l
		}
	}
	return Link{From: from, To: to}
}

// Unavailable is why this machine, or this user, cannot have a wire, and what to do: one sentence.
type Unavailable struct {
	why   string
	cause error // nil: none
}

func (u *Unavailable) Error() string { return "no wire here: " + u.why }

// Unwrap is what the system said; nil if it was not asked.
func (u *Unavailable) Unwrap() error { return u.cause }

// Exit is the exit code of a command that needs a wire.
func (*Unavailable) Exit() int { return 2 }

// An order is a line that the process that moves packets reads. It answers those with a number.
type order struct {
	Number uint64        `json:"number,omitempty"`
	Plan   *Plan         `json:"plan,omitempty"`
	Start  time.Duration `json:"start,omitempty"`
	Effect *fault.Effect `json:"effect,omitempty"`
	Stats  bool          `json:"stats,omitempty"`
	// Folder is removed when there are no more orders.
	Folder string `json:"folder,omitempty"`
}

// A reply is a line that it writes.
type reply struct {
	Number uint64 `json:"number,omitempty"` // of the order; 0: it is ready
	Stats  *Stats `json:"stats,omitempty"`
	Error  string `json:"error,omitempty"` // then it ends
}
