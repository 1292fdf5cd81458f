package singhal_test

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/plugins/mutex/singhal"
)

const (
	id = "mutex/singhal"
	ms = time.Millisecond
)

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// TestCounts: in turn, process i pays i messages, as many as stand before it on the staircase,
// and one for the token; the holder pays none. Together, N(N-1), and the token goes round once.
func TestCounts(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 3, 5, 8} {
		each, waiting := []int64{0}, []time.Duration{0}
		for i := 2; i <= n; i++ {
			each, waiting = append(each, int64(i)), append(waiting, 2*ms)
		}
		algotest.Entries{
			Nodes: n, Holder: 1, Events: algotest.InTurn(algotest.Everybody(n)...),
			Order: algotest.Everybody(n), Each: each, Waiting: waiting,
		}.Run(t, id)
		others := int64(n - 1)
		algotest.Entries{
			Nodes: n, Holder: 1, Events: algotest.Together(algotest.Everybody(n)...),
			Order: algotest.Everybody(n), SyncMax: ms,
			Kinds: map[string]int64{"REQUEST": others * others, "TOKEN": others},
		}.Run(t, id)
	}
}

// TestHolder: the staircase begins at the holder.
func TestHolder(t *testing.T) {
	t.Parallel()
	algotest.Entries{
		Nodes: 4, Holder: 3, Events: algotest.InTurn(4, 3, 2),
		Order: []algo.ID{4, 3, 2}, Each: []int64{2, 2, 4},
	}.Run(t, id)
}

// TestCrash: with the idle holder the token is lost; another is heard when it comes back, served before or not.
func TestCrash(t *testing.T) {
	t.Parallel()
	algotest.RunTokenCrashes(t, id)
}

const (
	n = singhal.Neither
	r = singhal.Requesting
)

func token(states []singhal.State, numbers ...uint64) singhal.Token {
	return singhal.Token{State: states, Number: numbers}
}

// TestRequest_Asked: who wants to enter and learns here that another does asks it, once; who does
// not only remembers it.
func TestRequest_Asked(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 4, 2, 1, nil)
	d.Receives(4, singhal.Request{N: 1})
	d.Requests(algotest.Sends(1, singhal.Request{N: 1}), algotest.Sends(4, singhal.Request{N: 1}))
	d.Receives(3, singhal.Request{N: 1}, algotest.Sends(3, singhal.Request{N: 1}))
	d.Receives(3, singhal.Request{N: 1})
	d.Receives(1, singhal.Request{N: 1}) // asked already
	d.Receives(1, token([]singhal.State{n, r, n, n}, 0, 1, 0, 1), algotest.Enters())
	d.Receives(3, singhal.Request{N: 2}) // inside
	// The token knows that 4 has been served; of 1 and 3 the process knows more.
	d.Releases(algotest.Sends(3, token([]singhal.State{r, n, r, n}, 1, 1, 2, 1)))
	d.Requests(algotest.Sends(1, singhal.Request{N: 2}), algotest.Sends(3, singhal.Request{N: 2}))
}

// TestRequest_Idle: an idle holder gives the token to whoever asks.
func TestRequest_Idle(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 3, 1, 1, nil)
	d.Requests(algotest.Enters())
	d.Releases()
	d.Receives(3, singhal.Request{N: 1}, algotest.Sends(3, token([]singhal.State{n, n, r}, 0, 0, 1)))
	d.Requests(algotest.Sends(3, singhal.Request{N: 1}))
	d.Receives(3, token([]singhal.State{r, n, n}, 1, 0, 1), algotest.Enters())
	d.Releases()
	d.Receives(2, singhal.Request{N: 1}, algotest.Sends(2, token([]singhal.State{n, r, n}, 1, 1, 1)))
}

// TestRequest_Late: a REQUEST that was served before it came is answered by one where the token is: its
// sender may want to enter again, and rely on this process to ask. Elsewhere it is remembered.
func TestRequest_Late(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 3, 2, 1, nil)
	d.Requests(algotest.Sends(1, singhal.Request{N: 1}))
	d.Receives(1, token([]singhal.State{n, r, n}, 0, 1, 1), algotest.Enters()) // 3 has been inside
	d.Receives(3, singhal.Request{N: 1}, algotest.Sends(3, singhal.Request{N: 1}))
	d.Releases()
	d.Receives(3, singhal.Request{N: 1}, algotest.Sends(3, singhal.Request{N: 1}))
	d.Receives(3, singhal.Request{N: 2}, algotest.Sends(3, token([]singhal.State{n, n, r}, 0, 1, 2)))
	d.Receives(1, singhal.Request{N: 0})
	d.Requests(algotest.Sends(1, singhal.Request{N: 2}), algotest.Sends(3, singhal.Request{N: 2}))
}

// TestRequest_KnownToTheToken: a REQUEST that the token knows of, and that is not served, waits.
func TestRequest_KnownToTheToken(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 3, 2, 1, nil)
	d.Requests(algotest.Sends(1, singhal.Request{N: 1}))
	d.Receives(1, token([]singhal.State{n, r, r}, 0, 1, 1), algotest.Enters())
	d.Receives(3, singhal.Request{N: 1})
	d.Releases(algotest.Sends(3, token([]singhal.State{n, n, r}, 0, 1, 1)))
}

// TestRelease_Served: whom the token says was served is not asked again.
func TestRelease_Served(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 3, 2, 1, nil)
	d.Requests(algotest.Sends(1, singhal.Request{N: 1}))
	d.Receives(3, singhal.Request{N: 1}, algotest.Sends(3, singhal.Request{N: 1}))
	d.Receives(1, token([]singhal.State{n, r, n}, 0, 1, 1), algotest.Enters())
	d.Releases() // 3 was asked, and is served
	d.Receives(1, singhal.Request{N: 1}, algotest.Sends(1, token([]singhal.State{r, n, n}, 1, 1, 1)))
	d.Requests(algotest.Sends(1, singhal.Request{N: 2}))
}

// TestRestart: who comes back has numbers beyond its former life.
func TestRestart(t *testing.T) {
	t.Parallel()
	s := algotest.NewSituations(t, id, 2, algo.Config{ID: 2, Holder: 1, Incarnation: 1}, nil, func(m algo.Message) string {
		if m, ok := m.(singhal.Request); ok && m.N == 1<<32+1 {
			return "beyond"
		}
		return ""
	})
	s.Want("asks", []algo.Event{{Type: algo.Request}}, "REQUEST beyond to 1")
}
