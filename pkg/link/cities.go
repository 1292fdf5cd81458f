package link

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/pkg/param"
)

// citiesText is a line for each city: its name, and the round trips to those before it, in
// hundredths of a millisecond. They are means over pings of 19 and 20 July 2020 between
// servers of WonderProxy (P. Reinheimer, A day in the life of the Internet, 28 October 2020),
// as averaged by the project relab/hotstuff. Five of its 217 cities are left out, since each
// has a round trip that is shorter than light takes: bratislava, caracas, dagupan, frosinone
// and wellington.
//
//go:embed cities.txt
var citiesText string

type cityTable struct {
	names []string
	index map[string]int
	trips [][]time.Duration // of each city to those before it
}

// cityTrips is the table, which is read when it is needed first.
var cityTrips = sync.OnceValue(func() *cityTable {
	t := &cityTable{index: map[string]int{}}
	for line := range strings.Lines(citiesText) {
		words := strings.Fields(line)
		row := make([]time.Duration, len(words)-1)
		for i, w := range words[1:] {
			n, err := strconv.Atoi(w)
			if err != nil || len(row) != len(t.names) {
				panic(fmt.Sprintf("link: cities.txt: %s: %d round trips, %v", words[0], len(row), err))
			}
			row[i] = time.Duration(n) * 10 * time.Microsecond
		}
		t.index[words[0]] = len(t.names)
		t.names, t.trips = append(t.names, words[0]), append(t.trips, row)
	}
	return t
})

// Cities are those of which round trips are built in.
func Cities() []string { return slices.Clone(cityTrips().names) }

// withinCity is the round trip between two processes in one city, of which the source says
// nothing: that between two hosts of one availability zone (see measured).
const withinCity = 550 * time.Microsecond

// trip is the round trip between two cities by their numbers.
func (t *cityTable) trip(a, b int) time.Duration {
	switch {
	case a == b:
		return withinCity
	case a < b:
		a, b = b, a
	}
	return t.trips[a][b]
}

func init() {
	Register(Distribution{
		Name: "cities", Rank: 2,
		Doc: "half the round trip between two of 212 cities, as measured in 2020; process i is in the i-th " +
			"of places, and round again; without places, of all; sigma spreads it",
		Formula: "(round trip / 2) e^(sigma z(p)) of each link",
		Mean:    "over the links between different cities, one process in each",
		Example: "places: [paris, london]",
		Law:     &cities{},
	})
}

// cities is what Regions is, of those cities; without Places, of all.
type cities struct {
	Places []string
	Sigma  float64
}

func (l *cities) Params() []param.Param {
	return []param.Param{{Name: "places", Example: "[Paris, Tokyo]", Doc: "the city of each process, in " +
		"turn; by default all", At: &l.Places, Unit: "the name of a place"},
		{Name: "sigma", Example: "0.1", Doc: "standard deviation of the logarithm of each " +
			"delay", At: &l.Sigma, Max: mostSigma}}
}

func (l *cities) check() error {
	for _, place := range l.Places {
		if _, known := cityTrips().index[place]; !known {
			return fmt.Errorf("latency: unknown city %q%s; \"bench list cities\" shows all; for others, "+
				"regions with round_trips says how far apart they are", place, nearCity(place))
		}
	}
	return checkSigma("cities", l.Sigma)
}

func (l *cities) trips() (int, func(p, q int) time.Duration) {
	t := cityTrips()
	if len(l.Places) == 0 {
		return len(t.names), t.trip
	}
	return len(l.Places), func(p, q int) time.Duration {
		return t.trip(t.index[l.Places[p]], t.index[l.Places[q]])
	}
}

func (l *cities) named() []string              { return l.Places }
func (l *cities) spread() float64              { return l.Sigma }
func (l *cities) delay(uint64) time.Duration   { panic(ofLinks) }
func (l *cities) average() float64             { return overPlaces(l) }
func (l *cities) bound() (time.Duration, bool) { return farthest(l).bound() }

// nearCity is a hint at a city of the same letters, for whoever writes New York.
func nearCity(name string) string {
	bare := func(s string) string {
		return strings.NewReplacer("-", "", " ", "", "_", "").Replace(strings.ToLower(s))
	}
	for _, c := range cityTrips().names {
		if bare(c) == bare(name) {
			return "; write " + c
		}
	}
	return ""
}
