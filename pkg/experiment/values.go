package experiment

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/text"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/param"
)

// The bounds of single values. A bound on every duration keeps sums from overflowing.
const (
	longest = 24 * time.Hour
	maxID   = 100_000
)

const namePattern = `^[a-z0-9][a-z0-9._-]{0,63}$`

var (
	nameRule = text.Lazy(namePattern)
	// reserved names cannot be folders on every machine.
	reserved = text.Lazy(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$`)
)

// inFloat is a type of whole numbers, or of durations, as an expectation holds them.
func inFloat[T ~int64](t config.Type[T]) config.Type[float64] {
	return config.As(t, func(x T) float64 { return float64(x) }, func(f float64) T { return T(f) })
}

// nameType is the name of an experiment, or a label.
func nameType(name string) config.Type[string] {
	return config.Words(name, badName).Like(config.Object{"type": "string", "pattern": namePattern})
}

// badName says what is wrong with the name of an experiment or a label.
func badName(s string) string {
	switch {
	case !nameRule().MatchString(s):
		return "1 to 64 of a-z, 0-9, '.', '_' and '-', beginning with a letter or a digit"
	case reserved().MatchString(s) || strings.HasSuffix(s, "."):
		return "a name that a folder can have on every system"
	}
	return ""
}

// processType is a process.
func processType() config.Type[algo.ID] { return numberType[algo.ID]() }

// numberType is a process by its number.
func numberType[ID ~uint32]() config.Type[ID] {
	return config.Whole[ID](1, maxID).Called("a process")
}

// latencyType is the latency of links: a duration, a distribution of durations, or one
// that depends on the link.
func (f *folder) latencyType() config.Type[link.Latency] {
	return spread(f, func(*link.Distribution) bool { return true }).Named("latency")
}

// ownLatencyType is that of one link: a duration, a distribution of durations, or a record.
func (f *folder) ownLatencyType() config.Type[link.Latency] {
	meant := func(d *link.Distribution) bool { return !d.Links() || d.Recorded() }
	return spread(f, meant).Named("own-latency")
}

// lastingType is a duration or a distribution of durations, of no link.
func lastingType() config.Type[link.Latency] {
	return spread(nil, func(d *link.Distribution) bool { return !d.Links() }).Named("lasting")
}

// spread is a latency of one of the distributions that are meant; f has the files with records.
func spread(f *folder, meant func(*link.Distribution) bool) config.Type[link.Latency] {
	var names, others []string
	for _, d := range link.Distributions() {
		if meant(d) {
			names = append(names, d.Name)
		} else {
			others = append(others, d.Name)
		}
	}
	kinds := config.Choice(names...)
	kinds = kinds.Unless(func(v *config.Value) string {
		if slices.Contains(others, v.Text) {
			return v.Text + " is for network.latency alone, expected " + kinds.Name
		}
		return ""
	})
	block := config.Variants[link.Latency]{
		Tag: "distribution", Names: names, Kinds: kinds,
		Doc: "the kind of distribution", Example: "uniform",
		Fields: func(name string, l *link.Latency) []config.Field { return distributionFields(f, name, l) },
		Get:    (*link.Latency).Distribution, Set: become, Valid: (*link.Latency).Check}.Type()
	fixed := link.Constant(0)
	constant := config.As(config.Duration(0, longest), link.Constant,
		func(l link.Latency) time.Duration { return l.Average() })
	constant = constant.If(func(r *config.Reader, key string, v *config.Value) bool {
		wrong := v.Kind == config.List || v.Kind == config.Null
		if wrong {
			r.Wrong(key, v, "a duration or {distribution: ...}")
		}
		return !wrong
	})
	t := config.Union(constant, block, func(l link.Latency) bool { return l.Fixed() },
		func(v *config.Value) *config.Value {
			if v.Kind == config.Map {
				return v
			}
			return config.Wrap("mean", v).With("distribution",
				&config.Value{Kind: config.Text, Text: fixed.Distribution(), At: v.At})
		})
	t.Name = "a duration, or " + block.Name
	return t.In("Distributions")
}

// become makes l one of a distribution.
func become(l *link.Latency, name string) { l.Law = param.New(link.DistributionOf(name).Law) }

// distributionFields are the keys of a distribution, and where their values go.
func distributionFields(f *folder, name string, l *link.Latency) []config.Field {
	if l.Law == nil {
		become(l, name)
	}
	fields := l.Law.Params()
	if r, is := l.Law.(*link.Recorded); is {
		fields = append(fields, config.Field{Name: "file", Example: "pings.txt",
			See: "explanation/model.md#latency",
			Doc: "a file with the record, in place of values and pairs", With: "every: 100ms",
			Of: f.recordType().Into(func(x link.Recorded) {
				if r.Pairs = x.Pairs; x.Pairs == nil {
					r.Values = x.Values
				}
			})})
	}
	return fields
}

// The types of which parameters are that are not the language's own.
func init() {
	config.Form(func(*config.Field) config.Type[link.Record] { return recordedType() })
	config.Form(func(*config.Field) config.Type[[]link.Pair] { return pairsType() })
	config.Form(func(*config.Field) config.Type[[][]time.Duration] { return roundTrips() })
	config.Form(func(*config.Field) config.Type[link.Latency] { return lastingType() })
	config.Form(func(*config.Field) config.Type[algo.ID] { return processType() })
	config.Form(func(*config.Field) config.Type[[]algo.ID] {
		return config.Each(processType()).Called("a list of processes")
	})
}

// recordedType is a record of delays and losses.
func recordedType() config.Type[link.Record] {
	lost := func(d time.Duration) bool { return d == link.Lost }
	return config.As(config.Each(config.Duration(0, longest).Or(link.LostWord, link.Lost, lost)),
		func(list []time.Duration) link.Record { return list },
		func(r link.Record) []time.Duration { return r })
}

// pairsType is a record for each link.
func pairsType() config.Type[[]link.Pair] {
	const like = "{link: [1, 2], values: [10ms, lost, 11ms]}"
	block := config.Block[link.Pair]{Like: like,
		Fields: func(p *link.Pair) []config.Field {
			ends := pairType[uint32]("the two processes of a link, as [1, 2]")
			return []config.Field{
				{Name: "link", Example: "[1, 2]", With: "values: [10ms, 11ms]", Doc: "the two processes of " +
					"the link, the sender first", Required: true, Of: ends.Through(
					func() [2]uint32 { return [2]uint32{p.From, p.To} },
					func(l [2]uint32) { p.From, p.To = l[0], l[1] })},
				{Name: "values", Example: "[10ms, lost, 11ms]", With: "link: [1, 2]",
					Doc: "the delays, in order, one each every; lost for a message that never " +
						"came", Required: true, Of: recordedType().To(&p.Values)},
			}
		}}.Type()
	return config.Items(block, like, 0, "pairs")
}

func roundTrips() config.Type[[][]time.Duration] {
	const like = "a list with a row for each place, as [[1ms, 80ms], [80ms, 1ms]]"
	return config.Items(config.Each(config.Duration(0, longest)), "", 0, "rows").Want(config.List, like)
}

// forever is the downtime of a process that does not come back.
const forever = "forever"

// downtimeType is a duration, or for ever, which is none. One of nothing would
// be no crash that anybody could see.
func downtimeType() config.Type[link.Latency] {
	t := lastingType()
	lasts := t
	t.Read = func(r *config.Reader, key string, v *config.Value) (l link.Latency, ok bool) {
		if v.Kind == config.Text && !strings.ContainsAny(v.Text, "0123456789") {
			r.Add(v.At, key, "%q, expected a duration, as 500ms, {distribution: ...} or %s%s",
				config.Clip(v.Text), forever, r.Meant(v.Text, []string{forever}))
			return l, false
		}
		if l, ok = lasts.Read(r, key, v); !ok {
			return l, false
		}
		d, bounded := l.Bound()
		if ok = !bounded || d > 0; !ok {
			r.Add(v.At, key, "%s, expected a time above 0, or %s", v.Plain(), forever)
		}
		return l, ok
	}
	return t.Or(forever, link.Latency{}, func(l link.Latency) bool { return l.Law == nil })
}

// A loss is what the key network.loss says.
type loss struct {
	Rate  float64
	Burst *link.Burst // in place of Rate
}

// lossType is a probability, or bursts of loss. In the bad state of those
// everything is lost, and in the good one nothing, unless they say otherwise.
func lossType() config.Type[loss] {
	rate := config.Number(0, 1)
	const like = "{burst: {p_enter: 0.01, p_leave: 0.1}}"
	burst := config.Block[link.Burst]{Like: like, Want: "{p_enter: 0.01, p_leave: 0.1}",
		Fields: func(b *link.Burst) []config.Field {
			return []config.Field{
				{Name: "p_enter", Example: "0.01", With: "p_leave: 0.1",
					Doc: "probability that a message on a good link turns it bad",
					Of:  rate.To(&b.Enter), Required: true},
				{Name: "p_leave", Example: "0.1", With: "p_enter: 0.01",
					Doc: "probability that a message on a bad link turns it good",
					Of:  rate.To(&b.Leave), Required: true},
				{Name: "good", Example: "0.001", With: "p_enter: 0.01, p_leave: 0.1",
					Doc: "probability of loss while the link is good", Of: rate.To(&b.Good), Default: "0"},
				{Name: "bad", Example: "0.5", With: "p_enter: 0.01, p_leave: 0.1",
					Doc: "probability of loss while it is bad", Of: rate.To(&b.Bad), Default: "1"},
			}
		},
		Valid: (*link.Burst).Check}.Type()
	block := config.Block[loss]{
		Missing: func(v *config.Value, _ string) string { return v.Plain() + ", expected " + like },
		Fields: func(l *loss) []config.Field {
			return []config.Field{{Name: "burst", Example: "{p_enter: 0.01, p_leave: 0.1}", Doc: "losses " +
				"that come in bursts: a link is good or bad, and changes with the messages on " +
				"it", Required: true, Of: config.Optional(burst).To(&l.Burst)}}
		}}.Type()
	rates := config.As(rate, func(r float64) loss { return loss{Rate: r} },
		func(l loss) float64 { return l.Rate })
	t := config.Union(rates, block, func(l loss) bool { return l.Burst == nil },
		func(v *config.Value) *config.Value {
			if v.Kind == config.Map {
				return v
			}
			return &config.Value{Kind: config.Map, At: v.At}
		})
	return t.Called(rate.Name + ", or {burst: " + burst.Name + "}")
}

var graphKinds = []string{"auto", "complete", "ring", "bidirectional-ring", "logical-ring",
	"grid", "tree", "random", "file"}

// pathType is the path of a file, made absolute; "" is none.
func (f *folder) pathType() config.Type[string] {
	t := config.Words("the path of a file", func(s string) string {
		if strings.ContainsRune(s, 0) {
			return "a path"
		}
		return ""
	})
	read := t.Read
	t.Read = func(r *config.Reader, key string, v *config.Value) (string, bool) {
		name, ok := read(r, key, v)
		if ok && name != "" {
			name = f.path(v.At, name)
		}
		return name, ok
	}
	return t
}

// busURL is where an external server listens. A password in it would end up in
// results and logs.
// BusURL is the address of a NATS server.
func BusURL() config.Type[string] {
	t := config.Words("the address of a NATS server", func(s string) string {
		if s == "" {
			return ""
		}
		u, err := url.Parse(s)
		if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" {
			return "an address as nats://host:4222"
		}
		return ""
	}).Like(config.Object{"type": "string", "pattern": `^$|^(nats|tls)://[^/@][^@]*$`})
	return t.Unless(func(v *config.Value) string {
		if strings.Contains(v.Text, "@") {
			return "holds a user or a password, which would show in results; " +
				"put it into a file and name that in bus.credentials"
		}
		return ""
	})
}
