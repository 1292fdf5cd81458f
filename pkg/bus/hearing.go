package bus

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// An Asker finds out which processes hear what is sent where it is connected. It asks as
// process 0, which none is, and a process that hears the question sends it back: see Conn.Join. On a
// server that is not ours there is no other way to know.
type Asker struct {
	conn    *Conn
	trial   string
	round   uint64
	answers <-chan *nats.Msg
}

// Ask connects an Asker for a trial.
func Ask(cfg DialConfig, trial string) (*Asker, error) {
	c, err := Dial(cfg)
	if err != nil {
		return nil, err
	}
	a := &Asker{conn: c, trial: trial}
	if a.answers, err = c.Subscribe(trial, 0); err == nil {
		err = c.Flush(defaultDialTimeout)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return a, nil
}

// Close ends the connection.
func (a *Asker) Close() { a.conn.Close() }

// Deaf asks some processes and says which of them have not answered within a while. An error
// is that of the connection, or of a user who may not do this.
func (a *Asker) Deaf(processes []uint32, within time.Duration) (deaf []uint32, err error) {
	a.round++
	question := binary.LittleEndian.AppendUint64(nil, a.round)
	for _, id := range processes {
		if err := a.conn.nc.Publish(subject(a.trial, 0, id), question); err != nil {
			return nil, fmt.Errorf("ask p%d: %w", id, err)
		}
	}
	heard, late := map[uint32]bool{}, time.After(within)
	for waiting := true; waiting && len(heard) < len(processes); {
		select {
		case m := <-a.answers:
			if from, ok := Sender(m.Subject); ok && string(m.Data) == string(question) {
				heard[from] = true
			}
		case <-a.conn.closed:
			waiting = false
		case <-late:
			waiting = false
		}
	}
	for _, id := range processes {
		if !heard[id] {
			deaf = append(deaf, id)
		}
	}
	if faults := a.conn.Faults(); len(faults) > 0 {
		return nil, fmt.Errorf("ask who hears: %s", faults[0])
	}
	return deaf, nil
}
