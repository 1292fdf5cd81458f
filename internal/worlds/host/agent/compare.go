package agent

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/internal/base/timeservice"
	"github.com/conclave-bench/conclave/pkg/bus"
)

// A Comparer compares the clock of this machine with others, and with what its time services say. The zero
// Comparer compares it with none.
type Comparer struct {
	peers    []*clockWatch // of other agents
	services []*serviceWatch
	looked   bool // for services
}

// Comparisons are what other clocks have said.
type Comparisons struct {
	Peers    [][]clock.Sample `json:"peers,omitempty"` // in the order of their places
	Services []Service        `json:"services,omitempty"`
}

// A Service is what a time service of a machine has said: the samples are answers of its reference.
type Service struct {
	Name      string         `json:"name"`
	Reference string         `json:"reference"`
	Samples   []clock.Sample `json:"samples"`
}

type serviceWatch struct {
	*timeservice.Service
	*clockWatch
}

// Compare has the clock compared with those at such places, which believe that proof, and no others; and
// with the time services.
func (c *Comparer) Compare(places []string, proof *bus.TLS) error {
	if !c.looked {
		c.looked = true
		for _, s := range timeservice.Find(context.Background()) {
			c.services = append(c.services, &serviceWatch{s, askAgain(s.Name, mostPause, s.Ask)})
		}
	}
	old := c.peers
	c.peers = nil
	for _, place := range places {
		i := slices.IndexFunc(old, func(w *clockWatch) bool { return w.place == place })
		if i >= 0 {
			c.peers = append(c.peers, old[i])
			continue
		}
		w, err := watchClock(place, proof, mostPause)
		if err != nil {
			return err
		}
		c.peers = append(c.peers, w)
	}
	for _, w := range old {
		if !slices.Contains(c.peers, w) {
			w.close()
		}
	}
	return nil
}

// Close ends all comparisons.
func (c *Comparer) Close() {
	for _, w := range c.peers {
		w.close()
	}
	for _, w := range c.services {
		w.close()
	}
	*c = Comparer{}
}

// peerTimeout is how long the answer of another clock may take before a trial goes without it.
const peerTimeout = 2 * time.Second

// Compared asks all watches at once, for none waits for another one.
func (c *Comparer) Compared(from, to time.Duration) Comparisons {
	said := Comparisons{Peers: make([][]clock.Sample, len(c.peers))}
	var all sync.WaitGroup
	for i, w := range c.peers {
		all.Go(func() { said.Peers[i], _ = w.said(from, to, peerTimeout) }) // no answer says nothing
	}
	said.Services = make([]Service, len(c.services))
	for i, w := range c.services {
		said.Services[i] = Service{Name: w.Name, Reference: w.Reference}
		if w.failing() != nil { // it would not answer for long
			continue
		}
		all.Go(func() { said.Services[i].Samples, _ = w.said(from, to, peerTimeout) })
	}
	all.Wait()
	return said
}
