package check_test

import (
	"reflect"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/plugins/mutex/naimitrehelft"
	"github.com/conclave-bench/conclave/plugins/mutex/quorum"
)

// Two algorithms that are built in starved processes once, and nobody noticed. Here
// they do so still: each is what is built in, but for one thing that it hears.

// A deaf process is maekawa's, whose clock learns from the requests that come to it as
// an arbiter, and from nothing else: whoever asks seldom comes before those that ask
// often, again and again.
type deaf struct{ algo.Mutex }

func (d deaf) Receive(env algo.Env, from algo.ID, m algo.Message) {
	if l, ok := m.(quorum.Locked); ok {
		l.Clock = 0
		m = l
	}
	d.Mutex.Receive(env, from, m)
}

// A dismissive process is naimi-trehel-ft's, which forgets that somebody wants a new
// tree if it has handed on the token by then: a token that never rests is always gone.
type dismissive struct{ algo.Mutex }

func (d dismissive) Start(env algo.Env) { d.Mutex.(algo.Starter).Start(env) }

func (d dismissive) Timeout(env algo.Env, t algo.Timer) { d.Mutex.(algo.Timed).Timeout(env, t) }

func (d dismissive) Receive(env algo.Env, from algo.ID, m algo.Message) {
	token := reflect.ValueOf(d.Mutex).Elem().FieldByName("token").Bool()
	if wish, ok := m.(naimitrehelft.Rebuild); ok && !token {
		m = naimitrehelft.CandidateElected(wish) // leads to nothing but its epoch
	}
	d.Mutex.Receive(env, from, m)
}

// starving is an exhibit that is built in, but for what form makes of a process.
func starving(id, flaw string, seed uint64, says string, form func(algo.Mutex) algo.Mutex,
	events ...harness.Event) exhibit {
	a, err := algo.Lookup(id)
	if err != nil {
		panic(err)
	}
	return exhibit{
		flaw: flaw, least: 100, rule: "starvation", says: says, fixed: true, seed: seed, spec: a.Spec,
		trial: harness.Scenario{Plot: &harness.Script{Hold: link.Constant(ms / 5), Events: events}},
		mutex: func(c algo.Config) algo.Mutex { return form(a.New(c).(algo.Mutex)) },
	}
}

// again has process p ask so many times, every so often.
func again(p algo.ID, at, every time.Duration, times int) harness.Event {
	return harness.Event{At: at, Do: harness.DoRequest, Node: p, Every: every, Times: times}
}

var starvers = []exhibit{
	starving("mutex/maekawa", "learns from requests alone", 6, "p1 waits since",
		func(m algo.Mutex) algo.Mutex { return deaf{m} },
		again(1, ms, 10*ms, 40), again(5, 401*ms, ms, 60), again(1, 402*ms, ms, 1)),
	starving("mutex/naimi-trehel-ft", "dismisses a late wish", 29, "p4 waits since 20ms",
		func(m algo.Mutex) algo.Mutex { return dismissive{m} },
		again(2, ms, 2*ms, 300), again(3, ms, 2*ms, 300),
		harness.Event{Do: harness.DoCrash, Node: 4, For: 10 * ms}, again(4, 20*ms, ms, 1)),
}
