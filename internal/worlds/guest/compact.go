package guest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// The compact layout is for modules of WebAssembly, which are called a thousand times as often as a program
// answers over a pipe: docs/reference/protocol.md.

// The effects, in the compact layout.
const (
	compactSend = iota + 1
	compactSet
	compactCancel
	compactGranted
	compactElected
	compactSave
	compactLog
	_
	compactBroken
	compactFailed
)

// compact is an event in the compact layout.
func (r *request) compact(process uint64, now time.Duration, ev *algo.Event, draws bool, random uint64,
	kinds map[string]known) {
	b := append(r.b[:0], byte(ev.Type-algo.Start+1))
	b = binary.AppendUvarint(b, process)
	b = binary.AppendUvarint(b, uint64(now))
	if draws {
		b = binary.LittleEndian.AppendUint64(b, random)
	}
	switch ev.Type {
	case algo.Receive:
		m := ev.Msg.(algo.Raw)
		b = append(binary.AppendUvarint(b, uint64(ev.Peer)), kinds[m.Name].index)
		b = append(b, m.Body...)
	case algo.Timeout:
		b = append(binary.AppendUvarint(b, uint64(len(ev.Timer))), ev.Timer...)
	case algo.Request:
		b = binary.AppendUvarint(b, uint64(ev.Session))
	case algo.Suspect, algo.Restore:
		b = binary.AppendUvarint(b, uint64(ev.Peer))
	case algo.Do:
		b = binary.AppendUvarint(b, uint64(ev.Peer))
		b = append(binary.AppendUvarint(b, uint64(len(ev.Op))), ev.Op...)
	}
	r.b = b
}

var errShort = errors.New("the answer ends early")

// unpack reads an answer in the compact layout into a. Kinds are by index.
func (a *answer) unpack(b []byte, kinds []algo.Raw) (err error) {
	*a = answer{effects: a.effects[:0]}
	number := func() (x uint64) {
		x, width := binary.Uvarint(b)
		if width <= 0 {
			err = errShort
			return 0
		}
		b = b[width:]
		return x
	}
	text := func() string {
		n := number()
		if n > uint64(len(b)) {
			err = errShort
			return ""
		}
		s := string(b[:n])
		b = b[n:]
		return s
	}
	for len(b) > 0 && err == nil {
		op := b[0]
		b = b[1:]
		if op == compactBroken {
			a.broken = text()
			continue
		} else if op == compactFailed {
			a.failed = text()
			continue
		}
		a.effects = append(a.effects, algo.Effect{})
		e := &a.effects[len(a.effects)-1]
		switch op {
		case compactSend, compactSave:
			if e.Op = algo.OpSave; op == compactSend {
				e.Op = algo.OpSend
				e.Peer = algo.ID(min(number(), math.MaxUint32))
			}
			if len(b) == 0 {
				return errShort
			}
			if int(b[0]) >= len(kinds) {
				return fmt.Errorf("unknown kind %d: there are %d", b[0], len(kinds))
			}
			k := kinds[b[0]]
			b = b[1:]
			k.Body = text()
			e.Msg = k
		case compactSet, compactCancel:
			e.Op, e.Timer = algo.OpCancelTimer, algo.Timer(text())
			if op == compactSet {
				e.Op, e.After = algo.OpSetTimer, time.Duration(min(number(), math.MaxInt64))
			}
		case compactGranted:
			e.Op = algo.OpGranted
		case compactElected:
			e.Op, e.Peer = algo.OpElected, algo.ID(min(number(), math.MaxUint32))
			e.Term = number()
		case compactLog:
			e.Op, e.Text = algo.OpLog, text()
		default:
			return fmt.Errorf("there is no effect %d", op)
		}
	}
	return err
}
