package timeservice

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
)

// clockBounds are where the daemon of ClockBound has its shared memory: of its versions 2 and 1.
var clockBounds = []string{"/var/run/clockbound/shm0", "/var/run/clockbound/shm"}

// readClockBound reads the shared memory of the daemon.
func readClockBound(context.Context) (p promise, err error) {
	for _, path := range clockBounds {
		var f *os.File
		if f, err = os.Open(path); err != nil {
			continue
		}
		p, err = readSegment(f)
		_ = f.Close() // nothing was written
		if err == nil {
			return p, nil
		}
	}
	return p, err
}

// segmentTries is how often a segment is read that is being written.
const segmentTries = 10

func readSegment(f io.ReaderAt) (p promise, err error) {
	for range segmentTries {
		var first, again [segmentSize]byte
		n, wrong := f.ReadAt(first[:], 0)
		if _, twice := f.ReadAt(again[:], 0); wrong != nil && wrong != io.EOF || twice != wrong {
			return p, errors.Join(wrong, twice)
		}
		if first == again {
			return parseClockBound(first[:n], clock.Monotonic())
		}
	}
	return p, errors.New("clockbound: its memory is being written")
}

const (
	segmentMagic    = 0x414D5A4E
	segmentMagic2   = 0x43420200
	segmentHeader   = 16
	segmentSize     = 80
	segmentVersion2 = 2
	synchronised    = 1
)

// parseClockBound reads the memory of the daemon, by its PROTOCOL.md, in its versions 1 and 2. The instants
// in it are of the monotonic clock, and now is one.
func parseClockBound(b []byte, now time.Duration) (p promise, err error) {
	order := binary.NativeEndian
	if len(b) < segmentHeader || order.Uint32(b) != segmentMagic || order.Uint32(b[4:]) != segmentMagic2 {
		return p, errors.New("clockbound: this is not its memory")
	}
	version, generation := order.Uint16(b[12:]), order.Uint16(b[14:])
	drift, status := 56, 64
	if version == segmentVersion2 {
		drift, status = 64, 68
	}
	if version < 1 || version > segmentVersion2 || len(b) < status+4 || int(order.Uint32(b[8:])) < status+4 {
		return p, errors.New("clockbound: its memory has another layout")
	}
	span := func(at int) time.Duration {
		return time.Duration(order.Uint64(b[at:]))*time.Second + time.Duration(order.Uint64(b[at+8:]))
	}
	p = promise{reference: UTC, at: span(16), within: time.Duration(order.Uint64(b[48:])),
		drift: float64(order.Uint32(b[drift:])) * 1e-9}
	const coarse = 10 * time.Millisecond // a tick of the clock by which the daemon notes instants
	if generation == 0 || generation%2 == 1 || order.Uint32(b[status:]) != synchronised ||
		p.at > now+coarse || now > span(32) {
		return p, errors.New("clockbound: it does not know the error of the clock")
	}
	return p, nil
}
