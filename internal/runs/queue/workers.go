package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/conclave-bench/conclave/pkg/results"
)

// service is the name of the workers in NATS micro.
const (
	service       = "conclave-worker"
	statusSubject = "conclave.worker.status"
)

// A Status is what a worker says of itself.
type Status struct {
	Machine string       `json:"machine"` // its name
	Cores   int          `json:"cores"`   // that simulated trials use
	Site    results.Site `json:"site"`
	Load    string       `json:"load"`          // averages over 1, 5 and 15 minutes
	Run     string       `json:"run,omitempty"` // that it works for; "": it waits
	Held    int          `json:"held"`          // blocks that it has begun or is to begin
	Blocks  int          `json:"blocks"`        // done since it started
	Host    *Host        `json:"host,omitempty"`
}

// serve answers requests for workers.
func (w *worker) serve(ctx context.Context) error {
	s, err := micro.AddService(w.link.nc, micro.Config{Name: service, Version: "1.0.0",
		Description: "runs trials of Conclave", QueueGroupDisabled: true})
	if err != nil {
		return err
	}
	if w.offer != nil {
		err = s.AddEndpoint("agent", micro.HandlerFunc(func(r micro.Request) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if ctx.Err() == nil {
				w.agents.Go(func() { w.answer(ctx, r) })
			}
		}), micro.WithEndpointSubject(agentSubject(w.name)))
		if err != nil {
			return err
		}
	}
	return s.AddEndpoint("status", micro.HandlerFunc(func(r micro.Request) {
		_ = r.RespondJSON(w.status())
	}), micro.WithEndpointSubject(statusSubject))
}

// Workers asks all workers for their status, and waits so long for answers.
func Workers(ctx context.Context, s Server, wait time.Duration) ([]Status, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	nc, err := s.dial("conclave workers")
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	return find(ctx, nc, wait)
}

// find asks all workers at once.
func find(ctx context.Context, nc *nats.Conn, wait time.Duration) (list []Status, err error) {
	inbox := nats.NewInbox()
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := nc.PublishRequest(statusSubject, inbox, nil); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(wait); ; {
		m, err := sub.NextMsg(max(time.Until(deadline), time.Millisecond))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if errors.Is(err, nats.ErrTimeout) || errors.Is(err, nats.ErrNoResponders) {
			break
		}
		if err != nil {
			return nil, err
		}
		var one Status
		if len(m.Data) > 0 && json.Unmarshal(m.Data, &one) == nil {
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b Status) int { return cmp.Compare(a.Machine, b.Machine) })
	return list, nil
}

func hostname() string {
	name, _ := os.Hostname()
	return name
}
