package clientgo

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/systems/bubble"
)

var leases = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

// What the API server answers.
var (
	errNotFound = apierrors.NewNotFound(leases, "conclave")
	errExists   = apierrors.NewAlreadyExists(leases, "conclave")
	errConflict = apierrors.NewConflict(leases, "conclave", errors.New("the object has been modified"))
)

// A server is the API server, with one record.
type server struct {
	*bubble.Process
	mu   sync.Mutex
	kept contents
}

// contents is what is on its disk. Version 0: there is no record.
type contents struct {
	record  resourcelock.LeaderElectionRecord
	version uint64
}

func newServer(p *bubble.Process) *server {
	s := &server{Process: p}
	s.kept, _ = p.Disk.Contents().(contents)
	p.Disk.Mount(func() any {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.kept
	})
	return s
}

// Start names whom the record names, as each change does.
func (s *server) Start() error {
	s.Names(number(s.kept.record.HolderIdentity), s.kept.version)
	return nil
}

func (s *server) Stop() {}

// get is the record and its version.
func (s *server) get() result {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept.version == 0 {
		return result{err: errNotFound}
	}
	return result{record: s.kept.record, version: s.kept.version}
}

// put changes the record if it is of that version; 0: there must be none.
func (s *server) put(r resourcelock.LeaderElectionRecord, version uint64) result {
	fits := false
	err := s.Disk.Write(size(r), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if fits = version == s.kept.version; fits {
			s.kept = contents{r, version + 1}
		}
	})
	switch {
	case err != nil:
	case !fits && version == 0:
		err = errExists
	case !fits:
		err = errConflict
	default:
		s.Names(number(r.HolderIdentity), version+1)
	}
	return result{record: r, version: version + 1, err: err}
}

// size is that of the record as the API server has it, in JSON.
func size(r resourcelock.LeaderElectionRecord) int {
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // plain data
	}
	return len(b)
}

// The contender is the lock of its elector.
var _ resourcelock.Interface = (*contender)(nil)

// A result is what the API server answers.
type result struct {
	record  resourcelock.LeaderElectionRecord
	version uint64
	err     error
}

// ask has the API server do something. What it answers too late does not count.
func (c *contender) ask(ctx context.Context, request, reply algo.Message, bytes int,
	do func(*server) result) (result, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Params.Duration("t_request"))
	defer cancel()
	got, err := bubble.Call(ctx, c.Process, c.store, request, reply, bytes,
		func(s bubble.Subject) (result, int) {
			r := do(s.(*server))
			return r, size(r.record)
		})
	if err == nil {
		err = got.err
	}
	if err == nil {
		c.seen.Store(got.version)
	}
	return got, err
}

func (c *contender) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	got, err := c.ask(ctx, get, getReply, 0, (*server).get)
	if err != nil {
		return nil, nil, err
	}
	raw, err := json.Marshal(got.record)
	return &got.record, raw, err
}

func (c *contender) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	_, err := c.ask(ctx, create, createReply, size(r), func(s *server) result { return s.put(r, 0) })
	return err
}

func (c *contender) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	seen := c.seen.Load()
	_, err := c.ask(ctx, update, updateReply, size(r), func(s *server) result { return s.put(r, seen) })
	return err
}

func (c *contender) RecordEvent(string) {}
func (c *contender) Identity() string   { return strconv.Itoa(int(c.ID)) }
func (c *contender) Describe() string   { return "conclave" }
