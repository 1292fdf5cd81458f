package experiment

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/console"
	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/check"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/param"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A field declares one key.
type field = config.Field

// settings is where the values of the keys go.
type settings struct {
	Experiment
	harness.Plan // of one cell
	algorithms   []entry
	sweep        []dimension
	thresholds   []threshold
	hosts        hosts
	recording    *recording
	script       []event // of the scenario
	faultEvents  []event
	files        folder
}

// schemaOf is the language of experiment files: every key, with its type, its default,
// what it is, and where in s its value goes. Nothing else knows the keys.
func schemaOf(s *settings) *config.Schema {
	anew := func() *config.Schema { return schemaOf(&settings{}) }
	choice := config.Choice
	return &config.Schema{
		Noun: "experiment", Needs: "algorithms: [...]", Open: "params",
		Begin: `"bench init" prints an experiment to begin with`,
		Fields: slices.Concat([]field{
			{Name: "name", Example: "bully-vs-ring", See: "reference/results.md", Note: "the file's name",
				Of:  nameType("a name").To(&s.Name),
				Doc: "names the experiment and its folder of results"},
			{Name: "problem", Example: "election", See: "explanation/operations.md",
				Note: "follows from algorithms named in full",
				Of:   choice("election", "mutex").Into(func(w string) { s.Problem = algo.Problem(w) }),
				Doc:  "what the algorithms solve"},
			{Name: "algorithms", Example: "[bully, ring-list]", See: "reference/algorithms.md",
				Of:  algorithmsType().To(&s.algorithms),
				Doc: "what is compared: names, or {name, set, params, label, detector}"},
			{Name: "transport", Example: "sim", See: "explanation/worlds.md", Default: transport.All[0].Name,
				At: &s.Transport, Choices: transport.Names(), Doc: transportDoc()},
			{Name: "nodes", Example: "9", See: "explanation/model.md", Default: "5", Vary: true,
				At: &s.Nodes, Min: 1, Max: maxID,
				Doc: "how many processes"},
			{Name: "topology", Example: "ring", See: "explanation/model.md#topology", Default: "auto",
				Vary: true, Of: s.files.topologyType().To(&s.Shape),
				Doc: "which processes may send to which; auto: what each algorithm needs"},
			{Name: "network", See: "explanation/model.md#the-network", Vary: true,
				Doc: "what every link does", Sub: networkFields(&s.files, s)},
			{Name: "costs", Example: "{processors: 2, wake: 40us, receive: 5us, send: 5us}",
				See: "explanation/twin.md", Default: "none", Vary: true,
				Of: s.files.costsType().To(&s.Costs),
				Doc: "costs of handling messages in simulation, which otherwise takes no time; " +
					"\"bench calibrate\" measures them"},
			{Name: "hosting", See: "explanation/validity.md#many-processes-in-one",
				Doc: "where processes live", Sub: hostingFields(s)},
			{Name: "faults", See: "explanation/faults.md#faults", Was: "failures", Vary: true,
				Doc: "faults in any scenario",
				Sub: faultFields(s)},
			{Name: "detector", See: "explanation/faults.md#failure-detectors", Vary: true,
				Doc: "the failure detector that the harness provides",
				Sub: detectorFields(&s.Plan)},
			{Name: "writes_every", Example: "100ms", See: "explanation/outages.md#writes-of-clients",
				Note: "none", Vary: true, Of: config.Duration(time.Millisecond, time.Hour).To(&s.WritesEvery),
				Doc: "how often a client beside each process of a library has the leader make a write " +
					"durable, from which served then follows"},
			{Name: "scenario", See: "explanation/model.md#scenarios", Vary: true,
				Doc: "what happens in a trial", Sub: scenarioFields(s)},
		}, planFields(s, anew), []field{
			{Name: "bus", See: "how-to/many-machines.md",
				Doc: "an external NATS server in place of the embedded one", Sub: s.busFields()},
		}),
	}
}

// planFields are the keys that say which trials there are, and what they may come to.
func planFields(s *settings, anew func() *config.Schema) []field {
	span := config.Duration
	return []field{
		{Name: "sweep", Example: "[{vary: nodes, over: [3, 5, 9]}]", See: "start.md", Default: "[]",
			Of:  sweepType(anew).To(&s.sweep),
			Doc: "every combination of values: a list of {vary: key, over: [...]} or {zip: [...]}"},
		{Name: "repetitions", Example: "50", See: "explanation/stopping.md#repetitions-until-precise",
			Default: "10", Of: repetitionsType().Into(s.repeat),
			Doc: "trials of each cell, each with a seed of its own; or at most so many, until it is " +
				"precise"},
		{Name: "rounds", Example: "3", See: "explanation/statistics.md#rounds", Default: "1",
			At: &s.Rounds, Min: 1, Max: mostRepetitions,
			Doc: "parts of the run; each begins with a fresh start of everything"},
		{Name: "seed", Example: "7", See: "explanation/statistics.md#design-of-an-experiment",
			Default: "1", Of: config.Whole[uint64](0, config.MaxInt).To(&s.Experiment.Seed),
			Doc: "decides every random choice"},
		{Name: "time_limit", Example: "30s", See: "explanation/operations.md#verdicts",
			Default: usualLimit.String(),
			Of:      span(time.Millisecond, longest).Into(s.limit),
			Doc: "of a trial; what has not ended by then is a timeout; unset, a longer " +
				"scenario has room in it"},
		{Name: "trace", Example: "all", See: "how-to/trace.md", Default: trace.KeepFailures, At: &s.Trace,
			Choices: []string{trace.KeepNone, trace.KeepFailures, trace.KeepAll},
			Doc: "which trials keep a record of every event; failures: of the first ten that failed for " +
				"the " +
				"same reason, compressed"},
		{Name: "keep", Example: "summary", See: "how-to/large-sweeps.md", Default: trace.KeepAll, At: &s.Keep,
			Choices: []string{trace.KeepAll, trace.KeepSummary},
			Doc: "what stays of each trial: all; or only what summary.csv and the report need of " +
				"its cell, with quantiles to 0.1 %"},
		{Name: "retries", Example: "5", See: "explanation/statistics.md#replaced-trials",
			Default: "2", At: &s.Retries, Max: 100,
			Doc: "reruns of a trial that the machine or the bus disturbed"},
		{Name: "allow", See: "explanation/operations.md#verdicts",
			Doc: "trials that may fail before the run counts as incomplete",
			Sub: allowFields(s)},
		{Name: "thresholds", Example: "[{metric: messages, stat: p95, max: 500}]",
			See: "reference/comparing.md#thresholds-of-one-run", Default: "[]",
			Of:  thresholdsType().To(&s.thresholds),
			Doc: "bounds on figures: a list of {metric, stat, over, max, min, where}"},
	}
}

func hostingFields(s *settings) []field {
	return []field{

		{Name: "run_as", Example: "goroutine", Default: metric.RunAsProcess, Vary: true,
			At: &s.Hosting.RunAs, Choices: []string{metric.RunAsProcess, metric.RunAsGoroutine},
			Doc: "process: an operating-system process for each; goroutine: many share one, each " +
				"with a connection of its own, and crashes are simulated"},
		{Name: "per_process", Example: "100", With: "run_as: goroutine", Default: "50", Vary: true,
			At: &s.PerProcess, Min: 1, Max: maxID,
			Doc: "goroutine: how many processes share one of the operating system"},
		{Name: "reuse", Example: "true", See: "explanation/validity.md#reused-processes",
			Default: "false", Vary: true, At: &s.Reuse,
			Doc: "process: keep them from trial to trial, unless faults hit them, so that trials " +
				"begin sooner"},
		{Name: "hosts", Example: "[lab1, lab2, lab3]", See: "explanation/faults.md#faults", Note: "none",
			Vary: true,
			Of:   hostsType().To(&s.hosts),
			Doc:  "machines that events can name: names, or {names, placement, slots}"},
	}
}

func allowFields(s *settings) []field {
	return []field{
		{Name: "invalid", Example: "2", Default: "0", At: &s.Allow.Invalid, Max: maxTrials,
			Doc: "invalid after all retries"},
		{Name: "timeout", Example: "2", Default: "0", At: &s.Allow.Timeout, Max: maxTrials,
			Doc: "not over at the time limit"},
		{Name: "marked", Example: "10%", See: "explanation/validity.md#lateness", Note: "any",
			Of: config.Fraction().Into(func(v float64) { s.Allow.Marked = &v }),
			Doc: "share of the trials with status ok that are marked: the machine may have " +
				"lengthened their times"},
	}
}

func (s *settings) repeat(r repetitions) {
	s.Repetitions, s.Fewest, s.Until = r.Max, r.Min, r.Until
}

func (s *settings) limit(d time.Duration) {
	s.Experiment.TimeLimit, s.Plan.TimeLimit = d, d
}

func networkFields(files *folder, s *settings) []field {
	p := &s.Plan
	choice := config.Choice
	return []field{
		{Name: "latency", Example: "{distribution: uniform, min: 1ms, max: " +
			"3ms}", See: "explanation/model.md#latency", Default: "2ms",
			Of:  files.latencyType().To(&p.Network.Latency),
			Doc: "one-way delay, end to end"},
		{Name: "loss", Example: "0.01", Default: "0",
			Of:  lossType().Into(func(l loss) { p.Network.Loss, p.Network.Burst = l.Rate, l.Burst }),
			Doc: "probability that a message is lost, or bursts of loss (Gilbert-Elliott)"},
		{Name: "duplication", Example: "0.01", Default: "0", At: &p.Network.Duplication,
			Doc: "probability that a message arrives twice"},
		{Name: "order", Example: "unordered", Default: "unset",
			Of: choice("unset", "fifo", "unordered").Into(func(w string) {
				p.Network.Unordered = w == "unordered"
			}),
			Doc: "whether messages of a link may overtake each other; unset: they do not"},
		{Name: "variation", Example: "{sigma: 0.3, over: " +
			"10s}", See: "explanation/model.md#links-that-differ", Default: "none",
			Of: variationType().To(&p.Network.Variation),
			Doc: "differences between links: a factor on the latency of each, fixed for the trial or " +
				"drifting"},
		{Name: "bandwidth", Example: "10MB/s", Default: unlimited,
			Of:  bandwidthType().To(&p.Network.Bandwidth),
			Doc: "of each link and direction: a message takes time by its bytes, and the next one waits"},
		{Name: "links", Example: "[{links: [[1, 2], [2, 1]], latency: " +
			"80ms}]", See: "explanation/model.md#links-that-differ", Default: "[]",
			Of:  files.ownType().To(&p.Network.Links),
			Doc: "exceptions: links with their own latency, loss or bandwidth"},
		{Name: "real", Example: "true", See: "how-to/real-network.md", Default: "false",
			At: &p.Network.Real,
			Doc: "inject nothing: messages meet the network between the hosts of the run, which is " +
				"measured; in place of the other keys of network"},
		{Name: "wire", Example: "true", See: "explanation/model.md#a-wire", Default: "false",
			At: &p.Network.Wire,
			Doc: "the other keys of network are about IP packets, which messages cross by TCP: Linux " +
				"alone, with root or user namespaces"},
		{Name: "at_most", Example: "150ms", With: "real: true", See: "how-to/real-network.md",
			Note: "100ms, or of recorded what was measured", At: &p.Network.AtMost,
			Min: time.Microsecond, Max: longest,
			Doc: "real and recorded: the one-way delay that default time-outs reckon with"},
		{Name: "recorded", Example: "{run: results/real-network}", See: "how-to/real-network.md",
			Default: "none", Of: files.recordingType().To(&s.recording),
			Doc: "the network that a run with real: true has measured, or pings between its members; in " +
				"place of latency, loss and links"},
	}
}

func faultFields(s *settings) []field {
	f := &s.Faults
	return []field{
		{Name: "crash_rate", Example: "0.5", Unit: "1/s per " +
			"process", Default: "0", At: &f.CrashRate, Max: 1e6,
			Doc: "crashes per live process and second"},
		{Name: "downtime", Example: "{distribution: exponential, mean: 500ms}", With: "crash_rate: " +
			"0.5", Title: "time from crash to restart",
			Default: "500ms", Of: downtimeType().To(&f.Downtime),
			Doc: "from such a crash to the restart; forever: no restart"},
		{Name: "max_down", Example: "1", With: "crash_rate: 0.5", Title: "processes down at " +
			"most", Default: "0", At: &f.MaxDown, Max: maxID,
			Doc: "maximum of processes down at once by such crashes; 0: a minority, less than half"},
		{Name: "events", Example: "[{at: 1s, do: crash, who: leader, for: " +
			"1s}]", Default: "[]", Of: eventsType(false).To(&s.faultEvents),
			Doc: "further faults: crashes, pauses, partitions, lost messages"},
	}
}

func detectorFields(p *harness.Plan) []field {
	keys, of := harness.DetectorKeys()
	for i := range keys {
		keys[i].Doc = strings.Join(of[i], ", ") + ": " + keys[i].Doc
		keys[i].With, keys[i].Only = "kind: "+of[i][0], of[i]
	}
	return kindFields(field{Note: "perfect; in scripts none", Example: "heartbeat", Doc: "how crashes " +
		"are noticed",
		Of: config.Choice(harness.DetectorNames()...).Into(func(kind string) {
			p.Detector = harness.DetectorOf(kind).New()
		})}, keys, func() []param.Param { return p.Detector.Params() })
}

// kindFields are the keys of a block of which kind says which others there are, where those of one
// are once it is set. Here the kind has been set before the others.
func kindFields(kind field, keys []field, own func() []param.Param) []field {
	kind.Name = "kind"
	for i := range keys {
		f := &keys[i]
		if f.Of != nil {
			continue
		}
		slot := config.Of(f)
		slot.Set = func(x any) {
			if p := param.Find(own(), f.Name); p != nil {
				p.Set(x)
			}
		}
		f.Of = slot
	}
	return append([]field{kind}, keys...)
}

func scenarioFields(s *settings) []field {
	keys, of := harness.ScenarioKeys()
	for i := range keys {
		keys[i].Only = of[i]
		if keys[i].With == "" {
			keys[i].With = harness.ScenarioOf(of[i][0]).With(keys[i].Name)
		}
	}
	param.Find(keys, "events").Of = eventsType(true).To(&s.script)
	return append(kindFields(field{Note: fmt.Sprintf(
		"election: %s, or %s where an algorithm survives no crash; mutex: %s",
		harness.UsualScenario(algo.Election, true), harness.UsualScenario(algo.Election, false),
		harness.UsualScenario(algo.MutualExclusion, true)), Doc: "what happens: one of the " +
		"[scenarios](#scenarios)", Example: "partition",
		Of: config.Choice(harness.ScenarioNames()...).Into(func(kind string) {
			s.Scenario.Plot = harness.ScenarioOf(kind).New().Plot
		})}, keys, func() []param.Param { return s.Scenario.Does().Params() }),
		field{Name: "expect", Note: "nothing", Example: "{sent: 5, leader: 3}",
			With: "kind: script, events: [{at: 0s, do: elect, node: 1}]",
			See:  "reference/cases.md", Of: expectationType().To(&s.Scenario.Expect),
			Doc: "expected outcome, in any scenario"})
}

func (s *settings) busFields() []field {
	b := &s.Bus
	file := s.files.pathType
	return []field{
		{Name: "url", Example: "nats://host:4222", Default: `""`, Of: BusURL().To(&b.URL),
			Doc: "as nats://host:4222; empty: the embedded server"},
		{Name: "credentials", With: "url: nats://host:4222", Example: "bench.creds", Default: `""`,
			Of: file().To(&b.Credentials), Doc: "path of a .creds file"},
		{Name: "tls", With: "url: nats://host:4222", Doc: "encryption", Sub: []field{
			{Name: "ca", Example: "ca.pem", Default: `""`, Of: file().To(&b.TLS.CA), Doc: "path of the " +
				"authority's certificate"},
			{Name: "cert", With: "key: bench-key.pem", Example: "bench.pem", Default: `""`,
				Of: file().To(&b.TLS.Cert), Doc: "path " +
					"of our certificate"},
			{Name: "key", With: "cert: bench.pem", Example: "bench-key.pem", Default: `""`,
				Of: file().To(&b.TLS.Key), Doc: "path " +
					"of its key"},
		}},
	}
}

// Keys documents every key of the file.
func Keys() []config.Key { return schemaOf(&settings{}).Keys() }

// Every calls visit for every key of the file, blocks and those within values included.
func Every(visit func(n config.Nested)) { schemaOf(&settings{}).Every(visit) }

// DistributionKeys are the keys of a value that may be a distribution.
func DistributionKeys() []config.Field {
	files := folder{}
	return files.latencyType().Keys()
}

// ExpectationKeys are the keys of a value that a script expects, where it is a block of bounds.
func ExpectationKeys() []config.Field { return boundsType(check.Count).Keys() }

// transportDoc is what each transport is.
func transportDoc() string {
	var out []string
	for _, k := range transport.All {
		out = append(out, k.Name+": "+k.Doc)
	}
	return strings.Join(out, "; ")
}

// JSONSchema describes the language of experiment files in JSON Schema, draft
// 2020-12: for editors, which complete keys and mark mistakes by it. It knows the
// algorithms that are linked in. A file that it accepts may still be wrong, in
// what goes beyond one value: Load has the last word.
func JSONSchema() ([]byte, error) {
	return schemaOf(&settings{}).JSON(config.Object{
		"title":       "An experiment of Conclave",
		"description": "What \"bench run\" takes, in YAML, TOML or JSON.",
		"required":    []string{"algorithms"},
	})
}

//go:embed template.yaml
var template string

// Template is a commented experiment to begin with, and behind it every key with an example and what it
// means. It loads as it is.
func Template() string {
	var out strings.Builder
	out.WriteString(template + "\n# Every key, with an example and its meaning. A dot stands between a " +
		"block and " +
		"a key in it,\n# [] behind a list.\n")
	Every(func(n config.Nested) {
		fmt.Fprintf(&out, "#\n# %s: %s\n", n.Path, n.Example)
		for line := range strings.SplitSeq(console.Wrap(n.Doc, 5), "\n") {
			out.WriteString("#" + line + "\n")
		}
	})
	return out.String()
}
