package algotest

import (
	"reflect"
	"testing"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A Drive is one process of an algorithm, fed by hand: for tests that quote a
// single rule.
type Drive struct {
	*algo.Stepper
	t testing.TB
}

// NewDrive makes process self of n, all of which know each other. Holder has
// the token at first. Given are the parameters to set.
func NewDrive(t testing.TB, id string, n int, self, holder algo.ID, given map[string]any) Drive {
	t.Helper()
	alg := Lookup(t, id)
	params, errs := alg.Spec.Resolve(given, algo.Network{Nodes: n, Bounded: true})
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	c := algo.Config{
		ID: self, Peers: Everybody(n), Neighbors: Everybody(n), Ring: Everybody(n), Holder: holder,
		Params: params,
	}
	return Drive{algo.NewStepper(alg, c, 1, &algo.Buffer{}), t}
}

// Does feeds ev and wants these effects, in order.
func (d Drive) Does(ev algo.Event, want ...algo.Effect) {
	d.t.Helper()
	if got := d.Step(0, ev); len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
		d.t.Errorf("%+v, want %+v", got, want)
	}
	if err := d.Invariant(); err != nil {
		d.t.Error(err)
	}
}

// Requests, Releases and Receives are Does of the events that their names say.
func (d Drive) Requests(want ...algo.Effect) {
	d.t.Helper()
	d.Does(algo.Event{Type: algo.Request}, want...)
}

// Releases feeds the end of an entry.
func (d Drive) Releases(want ...algo.Effect) {
	d.t.Helper()
	d.Does(algo.Event{Type: algo.Release}, want...)
}

// Receives feeds a message.
func (d Drive) Receives(from algo.ID, m algo.Message, want ...algo.Effect) {
	d.t.Helper()
	d.Does(algo.Event{Type: algo.Receive, Peer: from, Msg: m}, want...)
}

// Sends is the effect of sending m.
func Sends(to algo.ID, m algo.Message) algo.Effect {
	return algo.Effect{Op: algo.OpSend, Peer: to, Msg: m}
}

// Enters is the effect of entering the critical section.
func Enters() algo.Effect { return algo.Effect{Op: algo.OpGranted} }
