package experiment

import (
	"os"
	"runtime"
	"slices"

	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// checkThresholds holds them against the cells, now that these are known.
func (d *draft) checkThresholds(thresholds []threshold, e *Experiment) {
	for i := range thresholds {
		t := &thresholds[i]
		d.checkMetric(t.at.Get("metric").At, config.Join(t.key, "metric"), t.Metric)
		d.checkHosted(t.at.Get("metric").At, config.Join(t.key, "metric"), t.Metric, t.Where, e)
		isSpan := func(v *config.Value) bool { return v != nil && v.Kind == config.Text }
		m := metric.Named(t.Metric)
		if m != nil && m.Unit != metric.Milliseconds && (isSpan(t.at.Get("max")) || isSpan(t.at.Get("min"))) {
			d.Add(t.at.At, t.key, "a duration, but %s is not a time; expected a "+
				"number", config.Clip(t.Metric))
		}
		if t.Over == OverOperations && m != nil && m.Applies(d.Problem) {
			if why := m.NotOfOperations(d.Problem); why != "" {
				d.Add(t.at.Get("over").At, config.Join(t.key, "over"), "%s", why)
			}
		}
		if !slices.ContainsFunc(e.Cells, func(c Cell) bool { return t.Where.Covers(c.Design) }) {
			d.checkWhere(t, e)
		}
	}
}

// checkHosted refuses a metric that nodes in a shared process do not have.
func (d *draft) checkHosted(at config.Place, key, name string, where metric.Where, e *Experiment) {
	m := metric.Named(name)
	if m == nil || !m.OneProcess {
		return
	}
	if slices.ContainsFunc(e.Cells, func(c Cell) bool {
		return c.Plan.PerProcess > 0 && where.Covers(c.Design)
	}) {
		d.Add(at, key, "%s with hosting.run_as: %s: the system counts only for its own processes; write "+
			"run_as: %s, or another metric", config.Clip(name), metric.RunAsGoroutine, metric.RunAsProcess)
	}
}

// checkWhere says why a threshold is about no cell.
func (d *draft) checkWhere(t *threshold, e *Experiment) {
	where, key := t.at.Get("where"), config.Join(t.key, "where")
	columns := metric.ColumnsOf(e.Designs()...)
	for _, f := range t.Where {
		if err := (metric.Where{f}).Check(columns); err != nil {
			d.Add(where.Get(f.Name).At, config.Join(key, f.Name), "%v", err)
			return
		}
	}
	d.Add(where.At, key, "no cell has %s", config.Clip(t.Where.String()))
}

// checkUntil says whether trials of the problem have the metric of the rule.
func (d *draft) checkUntil() {
	u := d.Until
	if u == nil {
		return
	}
	d.checkMetric(d.untilAt(), "repetitions.until.metric", u.Metric)
}

// checkKeep refuses what takes single trials where none is kept.
func (d *draft) checkKeep() {
	if d.Keep != trace.KeepSummary {
		return
	}
	for _, needs := range []struct {
		key  string
		does bool
	}{
		{"repetitions.until", d.Until != nil}, {"thresholds", len(d.thresholds) > 0},
		{"rounds", d.Rounds > 1 && !transport.Virtual(d.Transport)},
	} {
		if needs.does {
			d.Add(d.leaves["keep"].Raw.At, "keep", "%s, but %s cannot do without single trials; "+
				"write keep: %s, or leave it out", trace.KeepSummary, needs.key, trace.KeepAll)
		}
	}
}

// untilAt is where the metric of the rule stands.
func (d *draft) untilAt() config.Place {
	raw := d.leaves["repetitions"].Raw
	if n := raw.Get("until"); n != nil && n.Get("metric") != nil {
		return n.Get("metric").At
	}
	return raw.At
}

// checkRounds says whether every round has a repetition.
func (d *draft) checkRounds() {
	if d.Rounds <= 1 {
		return
	}
	at := d.leaves["rounds"].Raw.At
	switch {
	case d.Until != nil:
		d.Add(at, "rounds", "%d, with repetitions.until, which decides block by block when a cell ends; "+
			"write a fixed number of repetitions, or leave rounds out", d.Rounds)
	case d.Rounds > d.Repetitions:
		d.Add(at, "rounds", "%d, but each cell has %d repetitions to divide among them; lower rounds, or "+
			"raise repetitions", d.Rounds, d.Repetitions)
	}
}

// checkMetric refuses a name that is no metric of the problem.
func (d *draft) checkMetric(at config.Place, key, name string) {
	if why := metric.Missing(name, d.Problem); why != "" {
		d.Add(at, key, "%s", why)
	}
}

// Systems are what bench-systems links beyond this program, by problem: libraries, and systems that people
// run. A test of bench-systems compares.
var Systems = map[string][]string{
	"election": {"client-go", "etcd", "etcd-clients", "etcd-node", "etcd-raft", "hashicorp-raft",
		"memberlist", "nats-meta", "natskv", "natskv-clients", "patroni", "patroni-clients",
		"postgresql-clients", "redis-clients", "redlock-clients", "zookeeper", "zookeeper-clients"},
	"mutex": {"etcd", "natskv", "patroni", "postgresql", "redis", "redlock", "zookeeper"},
}

// benchSystems is how to run libraries and systems.
const benchSystems = "libraries and systems run in bench-systems (go install " +
	"github.com/conclave-bench/conclave/systems/cmd/bench-systems@latest)"

// linksLibraries says whether this program has any.
func linksLibraries() bool {
	return slices.ContainsFunc(algo.All(), func(a *algo.Algorithm) bool { return a.Subject })
}

// checkLibraries refuses a transport for libraries in a program that links none.
func (d *draft) checkLibraries() {
	if d.Transport == transport.Bubble.Name && !linksLibraries() {
		d.Add(d.leaves["transport"].Raw.At, "transport", "%s is for libraries, and this program links none; "+
			"%s", d.Transport, benchSystems)
	}
}

// checkBus checks the files that a connection to an external bus needs.
func (d *draft) checkBus() {
	b := &d.Bus
	t := transport.Of(d.Transport)
	if t == nil {
		return
	}
	if !t.Server && *b != (Bus{}) {
		d.notes = append(d.notes, "bus: is ignored: transport "+d.Transport+" has no server")
	}
	for _, f := range []struct {
		key, path string
		secret    bool
	}{{"bus.credentials", b.Credentials, true}, {"bus.tls.ca", b.TLS.CA, false},
		{"bus.tls.cert", b.TLS.Cert, false}, {"bus.tls.key", b.TLS.Key, true}} {
		if f.path == "" {
			continue
		}
		raw := d.leaves[f.key].Raw
		if b.URL == "" {
			d.Add(raw.At, f.key, "without bus.url; the embedded server has credentials of its own: remove "+
				"%s, or name the server with bus.url", f.key)
			continue
		}
		if !t.Server {
			continue
		}
		if d.files.memory {
			d.Add(raw.At, f.key, "%s: %v", raw.Plain(), errMemory)
			continue
		}
		info, err := os.Stat(f.path)
		switch {
		case err != nil:
			d.Add(raw.At, f.key, "%s cannot be read: %v", raw.Plain(), reason(err))
		case info.IsDir():
			d.Add(raw.At, f.key, "%s is a folder", raw.Plain())
		case f.secret && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
			d.Add(raw.At, f.key, "%s can be read by others (mode %v); run chmod 600",
				raw.Plain(), info.Mode().Perm())
		}
	}
	if (b.TLS.Cert == "") != (b.TLS.Key == "") {
		d.Add(d.top(), "bus.tls", "expected both cert and key, or neither")
	}
}
