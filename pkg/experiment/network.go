package experiment

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// bytesIn are the units of a bandwidth, each with its bytes per second.
var bytesIn = []struct {
	name  string
	bytes float64
}{{"GB/s", 1e9}, {"MB/s", 1e6}, {"kB/s", 1e3},
	{"Gbit/s", 1e9 / 8}, {"Mbit/s", 1e6 / 8}, {"kbit/s", 1e3 / 8}, {"B/s", 1}}

const (
	unlimited        = "unlimited"
	bandwidthPattern = `^[0-9]+(\.[0-9]+)?([kMG]?B|[kMG]bit)/s$`
)

// bandwidthType is a bandwidth with its unit, above 0, or none.
func bandwidthType() config.Type[float64] {
	const units = "B/s, kB/s, MB/s, GB/s, kbit/s, Mbit/s, Gbit/s"
	const name = "a bandwidth with its unit, as 10MB/s (units: " + units + ")"
	parse := func(s string) float64 {
		for _, u := range bytesIn {
			number, has := strings.CutSuffix(s, u.name)
			f, err := strconv.ParseFloat(number, 64)
			if has && err == nil && f > 0 && !math.IsInf(f, 0) && f*u.bytes <= link.MostBandwidth {
				return f * u.bytes
			}
		}
		return 0
	}
	text := config.Words(name, func(s string) string {
		if parse(s) == 0 {
			return name + ", above 0 and at most 1000GB/s, or " + unlimited
		}
		return ""
	}).Like(config.Object{"type": "string", "pattern": bandwidthPattern, "examples": []string{"10MB/s"}})
	text = text.Unless(func(v *config.Value) string {
		if v.Kind == config.Int || v.Kind == config.Float {
			return v.Plain() + " has no unit; write " + v.Text + "MB/s (units: " + units + ")"
		}
		return ""
	})
	return config.As(text, parse, bandwidthText).
		Or(unlimited, 0, func(b float64) bool { return b == 0 })
}

// bandwidthText is a bandwidth in the largest unit of bytes in which it is 1 or more.
func bandwidthText(b float64) string {
	for _, u := range bytesIn[:3] {
		if b >= u.bytes {
			return config.FormatFloat(b/u.bytes) + u.name
		}
	}
	return config.FormatFloat(b) + "B/s"
}

// variationType is how links vary; nil: not at all.
func variationType() config.Type[*link.Variation] {
	const like = "{sigma: 0.3, over: 10s}"
	block := config.Block[link.Variation]{Like: like, Want: like,
		Fields: func(x *link.Variation) []config.Field {
			over := config.Duration(0, longest).Or("trial", 0, func(d time.Duration) bool { return d == 0 })
			return []config.Field{
				{Name: "sigma", Example: "0.3", Doc: "standard deviation of the logarithm of the " +
					"factor", Of: config.Number(0, link.MostSigma).To(&x.Sigma), Required: true},
				{Name: "over", Example: "10s", With: "sigma: 0.3",
					Doc: "how long a link keeps its factor, about; trial: all the time",
					Of:  over.To(&x.Over), Default: "trial"},
				{Name: "directions", Example: "apart", With: "sigma: 0.3",
					Doc: "whether both directions of a link have one factor (alike) or each its own " +
						"(apart)", Default: "alike", Of: config.Choice("alike", "apart").Through(
						func() string { return map[bool]string{false: "alike", true: "apart"}[x.Directed] },
						func(w string) { x.Directed = w == "apart" })},
			}
		},
		Valid: (*link.Variation).Check}.Type()
	return config.Optional(block).Or("none", nil, func(x *link.Variation) bool { return x == nil })
}

// ownType is what some links are instead of what all are.
func (f *folder) ownType() config.Type[[]link.Own] {
	const links = "links: [[1, 2], [2, 1]]"
	const like = "{" + links + ", latency: 80ms}"
	block := config.Block[link.Own]{Like: like,
		Fields: func(o *link.Own) []config.Field {
			return []config.Field{
				{Name: "links", Example: "[[1, 2], [2, 1]]", With: "latency: 80ms",
					Doc: "the links, each from one process to another",
					Of:  linksType().To(&o.Links), Required: true},
				{Name: "latency", Example: "80ms", With: links, Doc: "their latency; else that of all " +
					"links", Of: config.Optional(f.ownLatencyType()).To(&o.Latency)},
				{Name: "loss", Example: "0.1", With: links, Doc: "probability that a message on them is " +
					"lost", Of: config.Optional(config.Number(0, 1)).To(&o.Loss)},
				{Name: "bandwidth", Example: "1MB/s", With: links, Doc: "their " +
					"bandwidth", Of: config.Optional(bandwidthType()).To(&o.Bandwidth)},
			}
		},
		Valid: (*link.Own).Check}.Type()
	return config.Items(block, like, 0, "entries")
}

// links checks that the processes of the links that the file names are there.
func (v *variant) links(p *harness.Plan) {
	for i := range p.Network.Links {
		for _, l := range p.Network.Links[i].Links {
			if most := max(l[0], l[1]); algo.ID(most) > algo.ID(p.Nodes) {
				v.wrong("network.links", "process %d of %d", most, p.Nodes)
			}
		}
	}
	if p.Network.Real {
		return
	}
	if err := p.Network.Latency.Covers(p.Nodes); err != nil && v.recording == nil {
		v.wrong("network.latency", "%v", err)
	}
	if err := p.Network.Check(); err != nil && v.Count() == 0 {
		v.wrong("network.links", "%s", strings.TrimPrefix(err.Error(), "links: "))
	}
}
