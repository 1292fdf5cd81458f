package experiment

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/transport"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/param"
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
	script       []event // of the scenario
	faultEvents  []event
	files        folder
}

// schemaOf is the language of experiment files: every key, with its type, its default,
// what it is, and where in s its value goes. Nothing else knows the keys.
func schemaOf(s *settings) *config.Schema {
	anew := func() *config.Schema { return schemaOf(&settings{}) }
	span, choice := config.Duration, config.Choice
	return &config.Schema{
		Noun: "experiment", Needs: "algorithms: [...]", Open: "params",
		Begin: `"bench init" prints an experiment to begin with`,
		Fields: []field{
			{Name: "name", Note: "the file's name", Of: nameType("a name").To(&s.Name),
				Doc: "names the experiment and its folder of results"},
			{Name: "problem", Note: "follows from algorithms named in full",
				Of:  choice("election", "mutex").Into(func(w string) { s.Problem = algo.Problem(w) }),
				Doc: "what the algorithms solve"},
			{Name: "algorithms", Of: algorithmsType().To(&s.algorithms),
				Doc: "what is compared: names, or {name, set, params, label, detector}"},
			{Name: "transport", Default: transport.All[0].Name,
				At: &s.Transport, Choices: transport.Names(), Doc: transportDoc()},
			{Name: "nodes", Default: "5", Vary: true, At: &s.Nodes, Min: 1, Max: maxID,
				Doc: "how many processes"},
			{Name: "topology", Default: "auto", Vary: true, Of: s.files.topologyType().To(&s.Shape),
				Doc: "which processes may send to which; auto: what each algorithm needs"},
			{Name: "network", Vary: true, Doc: "what every link does", Sub: networkFields(&s.files, &s.Plan)},
			{Name: "costs", Default: "none", Vary: true, Of: s.files.costsType().To(&s.Costs),
				Doc: "what handling takes in simulation, where it otherwise takes no time: as real nodes " +
					"do, see \"bench calibrate\""},
			{Name: "hosting", Doc: "where processes live", Sub: []field{
				{Name: "run_as", Default: metric.RunAsProcess, Vary: true,
					At: &s.Hosting.RunAs, Choices: []string{metric.RunAsProcess, metric.RunAsGoroutine},
					Doc: "process: an operating-system process for each; goroutine: many share one, each " +
						"with a connection of its own, and crashes are simulated"},
				{Name: "per_process", Default: "50", Vary: true, At: &s.PerProcess, Min: 1, Max: maxID,
					Doc: "goroutine: how many share an operating-system process"},
				{Name: "reuse", Default: "false", Vary: true, At: &s.Reuse,
					Doc: "process: keep them from trial to trial, unless they were harmed, so that trials " +
						"begin sooner"},
				{Name: "hosts", Note: "none", Vary: true, Of: hostsType().To(&s.hosts),
					Doc: "machines that events can name: names, or {names, placement, slots}"},
			}},
			{Name: "faults", Was: "failures", Vary: true, Doc: "what goes wrong in any scenario",
				Sub: faultFields(s)},
			{Name: "detector", Vary: true, Doc: "the failure detector that the harness provides",
				Sub: detectorFields(&s.Plan)},
			{Name: "scenario", Vary: true, Doc: "what happens in a trial", Sub: scenarioFields(s)},
			{Name: "sweep", Default: "[]", Of: sweepType(anew).To(&s.sweep),
				Doc: "every combination of values: a list of {vary: key, over: [...]} or {zip: [...]}"},
			{Name: "repetitions", Default: "10", Of: repetitionsType().Into(s.repeat),
				Doc: "trials of each cell, each with a seed of its own; or at most so many, until it is " +
					"precise"},
			{Name: "rounds", Default: "1", At: &s.Rounds, Min: 1, Max: mostRepetitions,
				Doc: "parts of the run; before each of them everything is started anew"},
			{Name: "seed", Default: "1", Of: config.Whole[uint64](0, config.MaxInt).To(&s.Experiment.Seed),
				Doc: "decides every random choice"},
			{Name: "time_limit", Default: usualLimit.String(),
				Of: span(time.Millisecond, longest).Into(s.limit),
				Doc: "of a trial; what has not ended by then is a timeout; unset, a longer " +
					"scenario has room in it"},
			{Name: "trace", Default: "failures", At: &s.Trace, Choices: []string{"none", "failures", "all"},
				Doc: "of which trials every event is kept"},
			{Name: "retries", Default: "2", At: &s.Retries, Max: 100,
				Doc: "of a trial that the machine or the bus has spoilt"},
			{Name: "allow", Doc: "trials that may fail before the run counts as incomplete",
				Sub: allowFields(s)},
			{Name: "thresholds", Default: "[]", Of: thresholdsType().To(&s.thresholds),
				Doc: "what a figure must not go beyond: a list of {metric, stat, over, max, min, where}"},
			{Name: "bus", Doc: "an external NATS server in place of the embedded one", Sub: s.busFields()},
		},
	}
}

func allowFields(s *settings) []field {
	return []field{
		{Name: "invalid", Default: "0", At: &s.Allow.Invalid, Max: maxTrials,
			Doc: "spoilt, retries included"},
		{Name: "timeout", Default: "0", At: &s.Allow.Timeout, Max: maxTrials,
			Doc: "not over at the time limit"},
		{Name: "marked", Note: "any",
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

func networkFields(files *folder, p *harness.Plan) []field {
	choice := config.Choice
	return []field{
		{Name: "latency", Default: "2ms", Of: files.latencyType().To(&p.Network.Latency),
			Doc: "one-way delay, end to end"},
		{Name: "loss", Default: "0",
			Of:  lossType().Into(func(l loss) { p.Network.Loss, p.Network.Burst = l.Rate, l.Burst }),
			Doc: "probability that a message is lost, or bursts of loss (Gilbert-Elliott)"},
		{Name: "duplication", Default: "0", At: &p.Network.Duplication,
			Doc: "probability that a message arrives twice"},
		{Name: "order", Default: "unset",
			Of: choice("unset", "fifo", "unordered").Into(func(w string) {
				p.Network.Unordered = w == "unordered"
			}),
			Doc: "whether messages of a link may overtake each other; unset: they do not"},
		{Name: "variation", Default: "none", Of: variationType().To(&p.Network.Variation),
			Doc: "how unlike links are: a factor on the latency of each, kept for the trial or drifting"},
		{Name: "bandwidth", Default: unlimited, Of: bandwidthType().To(&p.Network.Bandwidth),
			Doc: "of each link and direction: messages leave one after the other, by their bytes"},
		{Name: "links", Default: "[]", Of: files.ownType().To(&p.Network.Links),
			Doc: "links that are not as all are: their own latency, loss or bandwidth"},
	}
}

func faultFields(s *settings) []field {
	f := &s.Faults
	return []field{
		{Name: "crash_rate", Default: "0", At: &f.CrashRate, Max: 1e6,
			Doc: "crashes per live process and second"},
		{Name: "downtime", Title: "time from crash to restart",
			Default: "500ms", Of: downtimeType().To(&f.Downtime),
			Doc: "from such a crash to the restart; forever: there is none"},
		{Name: "max_down", Title: "processes down at most", Default: "0", At: &f.MaxDown, Max: maxID,
			Doc: "processes down at once by such crashes; 0: a minority, less than half"},
		{Name: "events", Default: "[]", Of: eventsType(false).To(&s.faultEvents),
			Doc: "what goes wrong besides: crashes, pauses, partitions, lost messages"},
	}
}

func detectorFields(p *harness.Plan) []field {
	keys, of := harness.DetectorKeys()
	for i := range keys {
		keys[i].Doc = strings.Join(of[i], ", ") + ": " + keys[i].Doc
	}
	return kindFields(field{Note: "perfect; in scripts none", Doc: "how crashes are noticed",
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
	keys := harness.ScenarioKeys()
	param.Find(keys, "events").Of = eventsType(true).To(&s.script)
	return append(kindFields(field{Note: fmt.Sprintf(
		"election: %s, or %s where an algorithm survives no crash; mutex: %s",
		harness.UsualScenario(algo.Election, true), harness.UsualScenario(algo.Election, false),
		harness.UsualScenario(algo.MutualExclusion, true)), Doc: "see \"bench list\"",
		Of: config.Choice(harness.ScenarioNames()...).Into(func(kind string) {
			s.Scenario.Plot = harness.ScenarioOf(kind).New().Plot
		})}, keys, func() []param.Param { return s.Scenario.Does().Params() }),
		field{Name: "expect", Note: "nothing", Of: expectationType().To(&s.Scenario.Expect),
			Doc: "what it should lead to, in any scenario"})
}

func (s *settings) busFields() []field {
	b := &s.Bus
	file := s.files.pathType
	return []field{
		{Name: "url", Default: `""`, Of: BusURL().To(&b.URL),
			Doc: "as nats://host:4222; empty: the embedded server"},
		{Name: "credentials", Default: `""`, Of: file().To(&b.Credentials), Doc: "path of a .creds file"},
		{Name: "tls", Doc: "encryption", Sub: []field{
			{Name: "ca", Default: `""`, Of: file().To(&b.TLS.CA), Doc: "path of the authority's certificate"},
			{Name: "cert", Default: `""`, Of: file().To(&b.TLS.Cert), Doc: "path of our certificate"},
			{Name: "key", Default: `""`, Of: file().To(&b.TLS.Key), Doc: "path of its key"},
		}},
	}
}

// Keys documents every key of the file.
func Keys() []config.Key { return schemaOf(&settings{}).Keys() }

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

// Template is a commented experiment to begin with. It loads as it is.
func Template() string { return template }
