package work

import (
	"bufio"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// The protocol between a runner and a worker: values of gob over the worker's standard input and
// output, so that ssh carries it as well as a pipe. The worker greets with a line that names the
// protocol. Input that ends is the runner's death, and the worker's.
const (
	protocol = 4
	hello    = "conclave worker "
	// mark comes before each value, to tell it from text.
	mark = '\x01'
	// quoted is how much of a text an error quotes.
	quoted = 80
)

// An order tells a worker to run a trial, or what else it says.
type order struct {
	Setup    *setup // in the first order
	Baseline bool
	Network  string // the phase in which it is measured; "": it is not
	Plan     []byte // of the cell, as JSON, but for the seed; empty: as it had before
	Cell     int
	Seed     uint64
	Trial    int
	Keep     string // trace, as in the experiment
	Dir      string // of the run, for that
	Aloud    bool   // every record is sent at once
	Prompt   bool   // so is the answer: a worker that dies then dies of this order
}

// A setup is what a worker has to know first of all.
type setup struct {
	Memory   uint64        // bytes that it may take
	Patience time.Duration // how long an event may take the plugin; 0: as guard has it
	Room     *Room         // of trials on real nodes; nil: it simulates
}

// An answer is to the first order that the worker has not answered. Records do not end an answer.
type answer struct {
	Records  []byte // see trace.AppendRecord
	About    []byte // the machine and the program, as JSON: to the setup of a machine
	Baseline []byte // as JSON
	Network  []byte // likewise
	Outcome  *Outcome
	Err      string // of its end, which has an error there
	Broken   string // the plugin is to blame, and this worker has ended
	Failed   string // it could not be done at all
	Mistaken bool   // since the user has to change something
}

// A sender writes values.
type sender struct {
	*bufio.Writer
	enc *gob.Encoder
}

func newSender(out io.Writer) sender {
	w := bufio.NewWriterSize(out, 64<<10)
	return sender{w, gob.NewEncoder(w)}
}

func (s sender) send(v any) error {
	_ = s.WriteByte(mark) // the next write says whether it failed
	return s.enc.Encode(v)
}

// A receiver reads them.
type receiver struct {
	*bufio.Reader
	dec *gob.Decoder
}

func newReceiver(in io.Reader) receiver {
	r := bufio.NewReader(in)
	return receiver{r, gob.NewDecoder(r)}
}

// A strange error is of what came and is no value.
type strange struct{ string }

func (e strange) Error() string { return e.string }

// text quotes what came, as far as it is there.
func (r receiver) text(first string) error {
	more, _ := r.Peek(min(r.Buffered(), quoted))
	return strange{fmt.Sprintf("it wrote %.*q to its standard output, which is for the runner", quoted,
		strings.TrimSpace(first+string(more)))}
}

func (r receiver) receive(v any) error {
	c, err := r.ReadByte()
	if err != nil {
		return err
	}
	if c != mark {
		return r.text(string(c))
	}
	var pipe *fs.PathError
	err = r.dec.Decode(v)
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &pipe) {
		return err
	}
	return strange{fmt.Sprintf("it sent what cannot be read: %v", err)}
}

// greeted reads the greeting.
func (r receiver) greeted() error {
	start, err := r.Peek(len(hello))
	if err != nil && len(start) == 0 {
		return err
	}
	if string(start) != hello {
		return r.text("")
	}
	line, err := r.ReadString('\n')
	if want := fmt.Sprintf("%s%d\n", hello, protocol); err == nil && line != want {
		return strange{fmt.Sprintf("it speaks protocol %s, this program %d: use the same version on both "+
			"machines", strings.TrimSpace(strings.TrimPrefix(line, hello)), protocol)}
	}
	return err
}

// A process is the runner's end of a worker.
type process struct {
	*proc.Child
	to   sender
	from receiver
}

// begin starts a worker. It greets when it is asked to.
func begin(s *proc.Spawner, c proc.Command) (*process, error) {
	child, err := s.Start(c)
	if err != nil {
		return nil, err
	}
	return &process{child, newSender(child.Stdin), newReceiver(child.Stdout)}, nil
}

// answered is an outcome on its way: gob knows no errors.
func answered(o Outcome) *answer {
	a := &answer{Outcome: &o}
	if o.End.Err != nil {
		a.Err, o.End.Err = o.End.Err.Error(), nil
	}
	return a
}

// outcome is what the answer says came of a trial.
func (a *answer) outcome() (o Outcome) {
	if a.Outcome != nil {
		o = *a.Outcome
	}
	if a.Err != "" {
		o.End.Err = errors.New(a.Err)
	}
	if a.Broken != "" {
		o = broke(a.Broken, o)
	}
	return o
}

// broke is the outcome of a trial whose plugin has ended its process, or is about to.
func broke(why string, o Outcome) Outcome {
	o.Verdict.Status, o.Verdict.Reason = trace.Failed, why
	if o.End.Reason == "" {
		o.End.Reason = harness.Broken
	}
	return o
}
