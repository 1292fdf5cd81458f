package guest

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/conclave-bench/conclave/internal/worlds/guest/wire"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// The compact layout is for modules of WebAssembly, which are called a thousand times as often as a program
// answers over a pipe: docs/reference/protocol.md.

// compact is an event in the compact layout.
func (r *request) compact(process uint64, now time.Duration, ev *algo.Event, draws bool, random uint64,
	kinds map[string]known) {
	b := append(r.b[:0], wire.EventByte(ev.Type))
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

// A packed is an answer in the compact layout, of which err says what is wrong.
type packed struct {
	b   []byte
	err error
}

func (p *packed) number() uint64 {
	x, width := binary.Uvarint(p.b)
	if width <= 0 {
		p.err = errShort
		return 0
	}
	p.b = p.b[width:]
	return x
}

func (p *packed) bytes() string {
	n := p.number()
	if n > uint64(len(p.b)) {
		p.err = errShort
		return ""
	}
	s := string(p.b[:n])
	p.b = p.b[n:]
	return s
}

func (p *packed) text() string {
	s := p.bytes()
	if p.err == nil && (!utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0) {
		p.err = fmt.Errorf("the string %s has the character NUL, or is not UTF-8", brief(s))
	}
	return s
}

// unpack reads an answer in the compact layout into a. Kinds are by index.
func (a *answer) unpack(b []byte, kinds []algo.Raw) error {
	*a = answer{effects: a.effects[:0]}
	p := packed{b: b}
	for len(p.b) > 0 && p.err == nil {
		op := p.b[0]
		p.b = p.b[1:]
		if op == wire.Broken {
			a.broken = cmp.Or(oneLine(p.text()), noReason)
			continue
		} else if op == wire.Failed {
			a.failed = cmp.Or(oneLine(p.text()), noReason)
			continue
		}
		a.effects = append(a.effects, algo.Effect{})
		e := &a.effects[len(a.effects)-1]
		switch op {
		case wire.Send, wire.Save:
			if e.Op = algo.OpSave; op == wire.Send {
				e.Op = algo.OpSend
				e.Peer = algo.ID(min(p.number(), math.MaxUint32))
			}
			if len(p.b) == 0 {
				return errShort
			}
			if int(p.b[0]) >= len(kinds) {
				return fmt.Errorf("unknown kind %d: there are %d", p.b[0], len(kinds))
			}
			k := kinds[p.b[0]]
			p.b = p.b[1:]
			k.Body = p.bytes()
			if err := k.Form.Check(k.Body); err != nil && p.err == nil {
				p.err = fmt.Errorf("%s: %w", k.Name, err)
			}
			e.Msg = k
		case wire.Set, wire.Cancel:
			e.Op, e.Timer = algo.OpCancelTimer, algo.Timer(p.text())
			if op == wire.Set {
				e.Op, e.After = algo.OpSetTimer, time.Duration(min(p.number(), math.MaxInt64))
			}
		case wire.Granted:
			e.Op = algo.OpGranted
		case wire.Elected:
			e.Op, e.Peer = algo.OpElected, algo.ID(min(p.number(), math.MaxUint32))
			e.Term = p.number()
		case wire.Log:
			e.Op, e.Text = algo.OpLog, p.text()
		default:
			return fmt.Errorf("there is no effect %d", op)
		}
	}
	return p.err
}
