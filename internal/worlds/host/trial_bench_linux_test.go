package host_test

import (
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// BenchmarkDelay is how late messages are delivered under light load: ten
// processes, 5 ms of latency, some 1000 messages a second in all; and which share of one
// processor all nodes use for that. Expected on an idle machine with two processors: p50 below
// 40 µs, p99 below 300 µs.
func BenchmarkDelay(b *testing.B) {
	m := newMachine(b, 10)
	p := plan(b, "election/test-murmur", 10, script(), map[string]any{
		"messages": int64(100), "pause": ms(10),
	})
	p.Network.Latency = link.Constant(ms(5))
	var late []time.Duration
	var used, took time.Duration
	for b.Loop() {
		o := run(b, m, p)
		used, took = used+o.quality.Usage.CPU, took+o.End.At
		for i := range o.Trace {
			if r := &o.Trace[i]; r.Type == trace.Deliver {
				late = append(late, r.At-r.Due)
			}
		}
	}
	slices.Sort(late)
	b.ReportMetric(float64(late[len(late)/2])/1e3, "p50-µs")
	b.ReportMetric(float64(late[len(late)*99/100])/1e3, "p99-µs")
	b.ReportMetric(100*float64(used)/float64(took), "cpu-%")
}

// BenchmarkReady is how long it takes to have a hundred nodes ready. Expected on
// an idle machine with two processors: below 5 ms for each.
func BenchmarkReady(b *testing.B) {
	const nodes = 100
	m := newMachine(b, nodes)
	p := plan(b, "election/test-numbered", nodes, harness.Scenario{Plot: &harness.ColdStart{}},
		map[string]any{"messages": int64(0)})
	var ready, whole time.Duration
	for b.Loop() {
		begun := time.Now()
		o := run(b, m, p)
		whole += time.Since(begun)
		ready += o.quality.ReadyTime
	}
	perNode := func(d time.Duration) float64 {
		return float64(d) / float64(time.Millisecond) / nodes / float64(b.N)
	}
	b.ReportMetric(perNode(ready), "ready-ms/node")
	b.ReportMetric(perNode(whole), "trial-ms/node")
}

// BenchmarkBetween is what a trial of five nodes takes beside its scenario, and until they are
// ready, with fresh processes and with those of the trial before, in turn.
func BenchmarkBetween(b *testing.B) {
	m := newMachine(b, 5)
	p := plan(b, "mutex/naimi-trehel", 5, harness.Scenario{Plot: &harness.Sequential{
		Requests: 5, Hold: link.Constant(ms(1)),
	}}, nil)
	var beside, ready [2][]time.Duration
	for b.Loop() {
		for i := range beside {
			p.Reuse = i == 1
			begun := time.Now()
			o := once(b, m, p)
			beside[i] = append(beside[i], time.Since(begun)-o.End.At)
			ready[i] = append(ready[i], o.quality.ReadyTime)
		}
	}
	report := func(name string, of [2][]time.Duration) {
		var median [2]float64
		for i, list := range of {
			slices.Sort(list)
			median[i] = float64(list[len(list)/2]) / 1e6
		}
		b.ReportMetric(median[0], name+"-fresh-ms")
		b.ReportMetric(median[1], name+"-reused-ms")
		b.ReportMetric(median[1]/median[0], name+"-ratio")
	}
	report("beside", beside)
	report("ready", ready)
}
