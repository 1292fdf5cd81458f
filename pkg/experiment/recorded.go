package experiment

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/base/text"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// A recording is a network that was measured: by a run, or by pings between the pairs of its members.
type recording struct {
	matrix *link.Matrix
	pings  *link.Recorded
}

// usualEvery is how often ping sends.
const usualEvery = time.Second

// usualBlock is how many delays of a record stay together, unless it is said.
const usualBlock = 60

// recordingType is the network that a run has measured, or that records of its pairs have: where they are, or
// the records themselves.
func (f *folder) recordingType() config.Type[*recording] {
	const like = "{run: results/real-network}"
	const pings = "{folder: pings}"
	block := config.Block[recording]{Like: like, Want: like + ", or " + pings,
		Fields: func(x *recording) []config.Field {
			var own link.Recorded
			if x.pings != nil {
				own = *x.pings
			}
			series := func() *link.Recorded {
				if x.pings == nil {
					x.pings = &link.Recorded{}
				}
				return x.pings
			}
			span := func(d time.Duration, at func() *time.Duration) config.Slot {
				return config.Duration(time.Millisecond, longest).Through(func() time.Duration { return d },
					func(d time.Duration) { *at() = d })
			}
			return []config.Field{
				{Name: "run", Example: "results/real-network", Doc: "the folder of the run",
					Of: contentsType(f.matrix).Into(func(m link.Matrix) { x.matrix = &m })},
				{Name: "matrix",
					Example: `'{"placement": "round-robin", "hosts": [{"name": "lab1"}], "routes": []}'`,
					Doc:     "the record itself, as JSON: a resolved copy has it in place of run",
					Of:      config.Optional(matrixType()).To(&x.matrix)},
				{Name: "folder", Example: "pings", Doc: "a folder with a record for each pair of " +
					"processes, as 1-2.txt: what ping or mtr --raw print, or a delay in each line",
					Of: contentsType(f.series).Into(func(p []link.Pair) { series().Pairs = p })},
				{Name: "table", Example: "pings.csv", Doc: "a table with a column for each pair, as 1-2: " +
					"round trips in ms, a row each every; in place of folder",
					Of: contentsType(f.columns).Into(func(p []link.Pair) { series().Pairs = p })},
				{Name: "pairs", Example: "[{link: [1, 2], values: [10ms, 12ms]}, {link: [2, 1], values: " +
					"[10ms, 12ms]}]",
					Doc: "the records themselves: a resolved copy has them in place of folder",
					Of: pairsType().Through(func() []link.Pair { return own.Pairs },
						func(p []link.Pair) { series().Pairs = p })},
				{Name: "every", Example: "200ms", With: "folder: pings", Note: "1s",
					Doc: "the time between two pings of a pair",
					Of:  span(own.Every, func() *time.Duration { return &series().Every })},
				{Name: "block", Example: "1m", With: "folder: pings", Note: "60 pings",
					Doc: "how long a stretch of " +
						"the record stays together: then all pairs continue at another place, drawn anew",
					Of: span(own.Block, func() *time.Duration { return &series().Block })},
			}
		},
		Valid: (*recording).complete}.Type()
	return config.Optional(block).Or("none", nil, func(x *recording) bool { return x == nil })
}

// complete fills in what records of pairs leave out, and says what is wrong with x.
func (x *recording) complete() error {
	r := x.pings
	switch {
	case r == nil && x.matrix == nil:
		return errors.New("recorded: expected the run that has measured it, as {run: " +
			"results/real-network}, " +
			"or a folder of pings, as {folder: pings}")
	case r == nil:
		if len(x.matrix.Hosts) == 0 {
			return errors.New("recorded: a run without hosts has measured nothing")
		}
		return nil
	case x.matrix != nil:
		return errors.New("recorded: of a run and of pings: leave one of them out")
	case len(r.Pairs) == 0:
		return errors.New("recorded: every and block are for pings: add their folder, as {folder: pings}")
	}
	r.Pairs = bothWays(r.Pairs)
	if r.Every == 0 {
		r.Every = usualEvery
	}
	if r.Block == 0 {
		r.Block = usualBlock * r.Every
	}
	l := link.Latency{Law: r}
	if err := l.Check(); err != nil {
		return errors.New(strings.Replace(err.Error(), "latency: ", "", 1))
	}
	r.Summarize()
	return nil
}

// resampled makes the links those of the pings.
func (v *variant) resampled(p *harness.Plan) {
	p.Network.Latency = link.Latency{Law: v.recording.pings}
	if err := p.Network.Latency.Covers(p.Nodes); err != nil {
		v.wrong("network.recorded", "%v", err)
	}
}

// series are the records in a folder, which may be of pings and nothing else.
func (f *folder) series(at config.Place, name string) (pairs []link.Pair, err error) {
	if f.memory {
		return nil, errMemory
	}
	return f.pairs(at, name, link.ReadSeries)
}

// columnName is the head of a column with the round trips of a pair.
var columnName = regexp.MustCompile(`^([1-9][0-9]{0,5})-([1-9][0-9]{0,5})$`)

// columns are the records in the columns of a table. The first column may be a time, which is not read.
func (f *folder) columns(at config.Place, name string) ([]link.Pair, error) {
	data, err := f.readUpTo(at, name, mostOfRecord)
	if err != nil {
		return nil, err
	}
	if wrong := text.Foreign(data); wrong != "" {
		return nil, errors.New(wrong)
	}
	r := csv.NewReader(bytes.NewReader(data))
	head, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("no head: expected a column for each pair, as 1-2,1-3,2-3")
	}
	out := make([]link.Pair, len(head))
	for i, word := range head {
		ends, err := endsOf(columnName, strings.TrimSpace(word))
		if err != nil && i > 0 {
			return nil, err
		}
		out[i].From, out[i].To = ends[0], ends[1]
	}
	rows, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	for n, row := range rows {
		for i, word := range row {
			if out[i].From == 0 {
				continue
			}
			d, err := roundTrip(strings.TrimSpace(word))
			if err != nil {
				return nil, fmt.Errorf("line %d, %s: %w", n+2, head[i], err)
			}
			out[i].Values = append(out[i].Values, d)
		}
	}
	out = slices.DeleteFunc(out, func(p link.Pair) bool { return p.From == 0 })
	if len(rows) < 2 || len(out) == 0 {
		return nil, errors.New("expected a column for each pair, as 1-2, and two rows or more")
	}
	return bothWays(out), nil
}

// roundTrip is half of one, in ms; lost if it is empty.
func roundTrip(word string) (time.Duration, error) {
	if word == "" || word == link.LostWord {
		return link.Lost, nil
	}
	ms, err := strconv.ParseFloat(word, 64)
	if err != nil || !(ms > 0 && ms <= longest.Seconds()*1e3) {
		return 0, fmt.Errorf("%s, expected a round trip in ms above 0, as 12.3, or nothing where none came",
			config.Clip(word))
	}
	return time.Duration(ms * 1e6 / 2), nil
}
