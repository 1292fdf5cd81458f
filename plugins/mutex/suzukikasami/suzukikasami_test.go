package suzukikasami_test

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	sk "github.com/conclave-bench/conclave/plugins/mutex/suzukikasami"
)

const (
	id = "mutex/suzuki-kasami"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// TestCounts: N messages for an entry, N-1 of them requests, and none for the
// holder. Together, the token goes round once, one message from entry to entry.
func TestCounts(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 3, 5, 8} {
		others, last := int64(n-1), algo.ID(n)
		algotest.Entries{
			Nodes: n, Holder: 1, Events: algotest.Together(algotest.Everybody(n)...),
			Order: algotest.Everybody(n), SyncMax: ms,
			Kinds: map[string]int64{"REQUEST": others * others, "TOKEN": others},
		}.Run(t, id)
		algotest.Entries{
			Nodes: n, Holder: 1, Events: algotest.InTurn(last, last, 1, 1),
			Order: []algo.ID{last, last, 1, 1}, Each: []int64{int64(n), 0, int64(n), 0},
			Kinds:   map[string]int64{"REQUEST": 2 * others, "TOKEN": 2},
			Waiting: []time.Duration{2 * ms, 0, 2 * ms, 0},
		}.Run(t, id)
	}
}

// TestFairScan: behind process 3, those who wait are queued from 4 on.
func TestFairScan(t *testing.T) {
	t.Parallel()
	algotest.Entries{
		Nodes: 5, Holder: 3, Events: algotest.Together(algotest.Everybody(5)...),
		Order: []algo.ID{3, 4, 5, 1, 2}, SyncMax: ms,
	}.Run(t, id)
}

// TestCrash: with the idle holder the token is lost; the crash of another hurts nobody.
func TestCrash(t *testing.T) {
	t.Parallel()
	algotest.RunTokenCrashes(t, id)
}

func token(ln []uint64, q ...algo.ID) sk.Token { return sk.Token{LN: ln, Q: q} }

// TestRequest_Inside: a REQUEST that arrives inside is queued until the release;
// there, those who wait follow whoever the queue holds already.
func TestRequest_Inside(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 4, 2, 1, nil)
	request := sk.Request{N: 1}
	d.Requests(algotest.Sends(1, request), algotest.Sends(3, request), algotest.Sends(4, request))
	d.Receives(4, sk.Request{N: 3}) // no token here
	d.Receives(1, token([]uint64{0, 0, 0, 2}, 4), algotest.Enters())
	d.Receives(3, sk.Request{N: 1})
	d.Receives(1, sk.Request{N: 1})
	d.Releases(algotest.Sends(4, token([]uint64{0, 1, 0, 2}, 3, 1)))
	d.Receives(3, sk.Request{N: 1})
}

// TestRequest_Late: a REQUEST that comes again, or behind its own service, does
// not get the token, and does not take back a later number.
func TestRequest_Late(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 2, 1, 1, nil)
	d.Receives(2, sk.Request{N: 1}, algotest.Sends(2, token([]uint64{0, 0})))
	d.Receives(2, sk.Request{N: 1})
	d.Requests(algotest.Sends(2, sk.Request{N: 1}))
	d.Receives(2, token([]uint64{0, 1}), algotest.Enters())
	d.Receives(2, sk.Request{N: 1})
	d.Releases()
	d.Receives(2, sk.Request{N: 1})
	d.Receives(2, sk.Request{N: 2}, algotest.Sends(2, token([]uint64{1, 1})))
	d.Receives(2, sk.Request{N: 1})
	d.Requests(algotest.Sends(2, sk.Request{N: 2}))
	d.Receives(2, token([]uint64{1, 1}), algotest.Enters())
	d.Releases(algotest.Sends(2, sk.Token{LN: []uint64{2, 1}, Q: []algo.ID{}}))
}
