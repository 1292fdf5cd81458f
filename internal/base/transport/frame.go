package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// A Frame is a message as it crosses the bus. The sender's draws travel with
// it; the receiver delivers it when it is due. Sender and receiver stand in the
// subject, which the server enforces, and not in the frame.
type Frame struct {
	Plane       uint8
	Kind        uint8 // 255: a heartbeat, without payload
	Copy        uint8 // 1: the network's duplicate
	Lost        bool  // by the draw; it crosses the bus nevertheless
	Omitted     bool  // lost by a scheduled fault; likewise
	Incarnation uint32
	Seq         uint64 // k: of the message on its link
	Ordinal     uint64 // of the copy on its link
	Sent        time.Duration
	Due         time.Duration
	Depth       uint32
	Lag         time.Duration // of the event that sent it: see trace.Record
	Payload     []byte
}

const frameVersion = 2

// maxHead is how many bytes go before a payload at most: three, and seven numbers.
const maxHead = 3 + 7*binary.MaxVarintLen64

// MaxFrame is how many bytes a transport carries in one message: 64 KiB of an algorithm's
// and what goes before them.
const MaxFrame = 64<<10 + maxHead

// Flags of a frame.
const (
	flagDetection = 1 << iota
	flagCopy
	flagLost
	flagOmitted
	flagsKnown = flagDetection | flagCopy | flagLost | flagOmitted
)

// Append appends the frame to b: version, flags, kind, then numbers of variable
// length, then the payload.
func (f *Frame) Append(b []byte) []byte {
	flags := f.Plane&1*flagDetection | f.Copy&1*flagCopy
	if f.Lost {
		flags |= flagLost
	}
	if f.Omitted {
		flags |= flagOmitted
	}
	b = append(b, frameVersion, flags, f.Kind)
	b = binary.AppendUvarint(b, uint64(f.Incarnation))
	b = binary.AppendUvarint(b, f.Seq)
	b = binary.AppendUvarint(b, f.Ordinal)
	b = binary.AppendUvarint(b, uint64(f.Sent))
	b = binary.AppendUvarint(b, uint64(f.Due-f.Sent))
	b = binary.AppendUvarint(b, uint64(f.Depth))
	b = binary.AppendUvarint(b, uint64(f.Lag))
	return append(b, f.Payload...)
}

var errFrame = errors.New("frame: malformed")

// Parse reads a frame. Its payload is part of b.
func (f *Frame) Parse(b []byte) error {
	if len(b) < 3 || b[1]&^flagsKnown != 0 {
		return errFrame
	}
	if b[0] != frameVersion {
		return fmt.Errorf("frame: version %d, expected %d", b[0], frameVersion)
	}
	*f = Frame{Plane: b[1] & flagDetection, Kind: b[2], Lost: b[1]&flagLost != 0,
		Omitted: b[1]&flagOmitted != 0}
	f.Copy = b[1] & flagCopy / flagCopy
	b = b[3:]
	var numbers [7]uint64
	for i := range numbers {
		x, n := binary.Uvarint(b)
		if n <= 0 {
			return errFrame
		}
		numbers[i], b = x, b[n:]
	}
	const most = uint64(1)<<62 - 1 // two of them are a Duration still
	if numbers[0] >= 1<<32 || numbers[3] > most || numbers[4] > most || numbers[5] >= 1<<32 ||
		numbers[6] > numbers[3] { // nothing can be later than all the time that there was
		return errFrame
	}
	f.Incarnation, f.Seq, f.Ordinal = uint32(numbers[0]), numbers[1], numbers[2]
	f.Sent = time.Duration(numbers[3])
	f.Due = f.Sent + time.Duration(numbers[4])
	f.Depth, f.Lag, f.Payload = uint32(numbers[5]), time.Duration(numbers[6]), b
	return nil
}
