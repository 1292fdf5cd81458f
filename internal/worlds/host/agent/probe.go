package agent

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/conclave-bench/conclave/internal/base/clock"
	"github.com/conclave-bench/conclave/pkg/bus"
)

// A probe is so many questions for the time, one every so long whether the last was answered or not.
const (
	probes     = 100
	probeEvery = 10 * time.Millisecond
	probeTakes = probes*probeEvery + 2*askTimeout
)

// Probed is what became of the questions to a peer.
type Probed struct {
	Sent int `json:"sent"`
	// Again is how many packets the system sent again, since nobody confirmed them.
	Again     int        `json:"again,omitempty"`
	Questions []Question `json:"questions,omitempty"` // that were answered
}

// A Question left by the clock of who asked, and came by the clock of who was asked.
type Question struct {
	Asked time.Duration `json:"a"`
	Heard time.Duration `json:"h"`
}

// probePeers asks the clocks of other agents, all at once. One that cannot be reached has heard nothing.
func probePeers(addresses []string, proof *bus.TLS) ([]Probed, error) {
	cfg, err := proof.Client()
	if err != nil {
		return nil, err
	}
	out := make([]Probed, len(addresses))
	done := make(chan struct{})
	for i, address := range addresses {
		go func() {
			out[i] = probePeer(address, cfg)
			done <- struct{}{}
		}()
	}
	for range addresses {
		<-done
	}
	return out, nil
}

func probePeer(address string, cfg *tls.Config) (p Probed) {
	p.Sent = probes
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	plain, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return p
	}
	host, _, _ := net.SplitHostPort(address) // it was dialled
	cfg = cfg.Clone()
	cfg.ServerName = host
	c := tls.Client(plain, cfg)
	defer func() { _ = c.Close() }() // what was measured stays
	_ = c.SetDeadline(time.Now().Add(probeTakes))
	if c.HandshakeContext(ctx) != nil {
		return p
	}
	before := sentAgain(plain)
	asked := make(chan time.Duration, probes)
	go func() {
		defer close(asked)
		tick := time.NewTicker(probeEvery)
		defer tick.Stop()
		for range probes {
			<-tick.C
			asked <- clock.Monotonic()
			if _, err := c.Write([]byte{'?'}); err != nil {
				return
			}
		}
	}()
	reply := make([]byte, answerSize)
	for at := range asked {
		if _, err = io.ReadFull(c, reply); err != nil {
			break
		}
		p.Questions = append(p.Questions, Question{at, time.Duration(binary.LittleEndian.Uint64(reply))})
	}
	p.Again = sentAgain(plain) - before
	return p
}

// Probe implements Agent.
func (r *Remote) Probe(addresses []string) ([]Probed, error) {
	a, err := r.ask(probeTakes+r.cfg.Patience, request{Probe: addresses})
	if err == nil && len(a.Probed) != len(addresses) {
		err = fmt.Errorf("it answered for %d of %d hosts", len(a.Probed), len(addresses))
	}
	return a.Probed, err
}

// Probe implements Agent: this process has no certificate of the run, and no peers.
func (l *Local) Probe(addresses []string) ([]Probed, error) {
	if len(addresses) > 0 {
		return nil, errors.New("this process is the only host")
	}
	return nil, nil
}
