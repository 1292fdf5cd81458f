package host

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/conclave-bench/conclave/internal/host/agent"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// ServeMachine is the life of a host program: it runs trials on this machine for
// a Remote, which talks to it over in and out, until in ends. Nothing that it
// started outlives it. Of cfg the programs and tests' environment count; the rest
// is the runner's to say. About tells the runner of this machine and program; it
// must encode as JSON.
func ServeMachine(in io.Reader, out io.Writer, cfg MachineConfig, about any) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	s := &server{out: json.NewEncoder(out), requests: make(chan request)}
	go s.read(in, ctx.Done(), cancel)
	err := s.greet(ctx, cfg, about)
	if s.machine != nil {
		defer s.machine.Close()
	}
	for err == nil {
		var r request
		if r, err = s.next(ctx); err == nil {
			err = s.answer(ctx, r)
		}
	}
	if errors.Is(err, io.EOF) { // the runner has gone
		return nil
	}
	return err
}

// A server is a host program.
type server struct {
	out      *json.Encoder
	requests chan request
	machine  *Machine
}

// read hands requests on. The end of in ends whatever goes on.
func (s *server) read(in io.Reader, done <-chan struct{}, cancel context.CancelCauseFunc) {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		var r request
		if err == nil {
			err = json.Unmarshal(line, &r)
		}
		if err != nil {
			cancel(err)
			return
		}
		select {
		case s.requests <- r:
		case <-done:
			return
		}
	}
}

func (s *server) next(ctx context.Context) (r request, err error) {
	select {
	case r = <-s.requests:
		return r, nil
	case <-ctx.Done():
		return r, context.Cause(ctx)
	}
}

// greet makes the machine that the runner wants. That it cannot is the answer.
func (s *server) greet(ctx context.Context, cfg MachineConfig, about any) error {
	r, err := s.next(ctx)
	if err != nil {
		return err
	}
	text, err := json.Marshal(about)
	if err != nil {
		return err
	}
	want := r.Config
	switch {
	case want == nil:
		err = errors.New("no runner is there: bench starts this program, as its --host says")
	case want.Protocol != protocol:
		err = fmt.Errorf("the runner speaks protocol %d, this program %d: use the same version on both "+
			"machines", want.Protocol, protocol)
	default:
		cfg.Nodes, cfg.Run, cfg.Ready = want.Nodes, want.Run, want.Ready
		cfg.Limit, cfg.Pause = want.Limit, want.Pause
		s.machine, err = NewMachine(cfg)
	}
	if err != nil {
		return errors.Join(err, s.out.Encode(reply{Error: err.Error()}))
	}
	return s.out.Encode(reply{About: text})
}

func (s *server) answer(ctx context.Context, r request) error {
	var a reply
	var err error
	switch {
	case r.Plan != nil:
		a.End, err = s.run(ctx, r.Plan)
	case r.Baseline:
		a.Baseline, err = s.machine.Baseline()
	default:
		err = errors.New("an empty request")
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		a.Error = err.Error()
	}
	return s.out.Encode(a)
}

// run runs a trial and sends its records on the way.
func (s *server) run(ctx context.Context, p *harness.Plan) (*remoteEnd, error) {
	setup, err := p.Setup()
	if err != nil {
		return nil, err
	}
	var some []byte
	var lost error // a runner that does not read
	send := func() {
		if lost == nil && len(some) > 0 {
			lost = s.out.Encode(reply{Records: some})
		}
		some = some[:0]
	}
	end, q, err := s.machine.Run(ctx, setup, trace.SinkFunc(func(r *trace.Record) {
		if some = agent.AppendRecord(some, r); len(some) >= mostRecords {
			send()
		}
	}))
	send()
	if err = errors.Join(err, lost); err != nil {
		return nil, err
	}
	return newRemoteEnd(end, q), nil
}

// mostRecords is how many bytes of records go into a line, but for those of the
// last one.
const mostRecords = 64 << 10
