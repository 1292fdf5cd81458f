package advise

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/base/text"
	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/link"
)

// A block is one of an experiment file.
type block = map[string]any

// A Request is what is asked about a system.
type Request struct {
	System string
	Nodes  int // members; the store of a lease comes on top

	// One of these says what the network is.
	Pings, Table string        // a folder with a record for each pair; a table with a column for each
	Every        time.Duration // between two pings; 0: a second
	Matrix       string        // a file with round trips, a row and a column for each member
	Places       []string
	RoundTrip    time.Duration
	Jitter       float64 // standard deviation of the logarithm of delays, but of pings
	Loss         float64 // likewise
	Fsync        string  // a file with the times of writes
	Pauses       string  // a file with the lengths of pauses of a member
	PausesOver   time.Duration
	False        string  // how many false elections are allowed, as 1/year
	Minutes      float64 // how many minutes a year they may cost; 0: not said
	Outage       time.Duration
	Away, Clocks time.Duration // how long the store may be away, how far apart clocks may be
	Messages     float64       // the most that are allowed, as a multiple of those with the defaults
	Seed         uint64
	Workers      int
	Why          bool
	HTML         string
	Share        func(what string, done float64) // nil: it is not called
	Check        int                             // crashes of the real leader; 0: none
	Run          Run                             // wanted with Check
	Effort       Effort
}

// An Effort is how much is simulated.
type Effort struct {
	Outages             int // crashes of the leader, of each setting that is shown
	Paths, Replications int // of a splitting, of these
	Search              int // paths of a splitting, of the others
	Levels              int
	Lengths             float64 // of records, how many times their length
	Exact               bool    // rare losses and bursts are tried as they are, before more of them
}

// Usual is the effort that takes less than a minute on two processors.
var Usual = Effort{Outages: 6000, Paths: 250, Replications: 8, Search: 120, Levels: 24, Lengths: 20}

// usualBudget is the budget unless another is given.
const usualBudget = "1/year"

const (
	year  = 365.25 * 24 * float64(time.Hour)
	mostN = 15
)

// spans are the units of a rate.
var spans = map[string]float64{"year": year, "month": year / 12, "week": 7 * 24 * float64(time.Hour),
	"day": 24 * float64(time.Hour), "hour": float64(time.Hour)}

// budget is how many false elections are allowed in a year; infinite if only minutes are limited.
func (q *Request) budget() (float64, error) {
	if q.False == "" && q.Minutes > 0 {
		return math.Inf(1), nil
	}
	q.False = cmp.Or(q.False, usualBudget)
	number, unit, _ := strings.Cut(q.False, "/")
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	span := spans[strings.TrimSpace(unit)]
	if err != nil || span == 0 || !(n > 0 && n <= 1e9) {
		return 0, answer.Mistaken("--false %q, expected a number above 0 per hour, day, week, month or "+
			"year, as "+
			usualBudget, q.False)
	}
	return n * year / span, nil
}

// check says what is wrong with the request, whatever is in its files.
func (q *Request) check(s *Subject) error {
	least := 2
	if s.store() {
		least = 1
	}
	switch {
	case q.Nodes < least || q.Nodes > mostN:
		return answer.Mistaken("--nodes %d, expected %d to %d members", q.Nodes, least, mostN)
	case q.False != "" && q.Minutes > 0:
		return answer.Mistaken("--false and --minutes: both limit what false elections may cost; give one " +
			"of them")
	case q.Minutes < 0 || q.Minutes > year/float64(time.Minute):
		return answer.Mistaken("--minutes %v, expected minutes a year above 0", q.Minutes)
	case q.Outage < 0:
		return answer.Mistaken("--outage %v, expected a time above 0", q.Outage)
	case (q.Away > 0 || q.Clocks > 0) && !s.store():
		return answer.Mistaken("--away and --clocks are for systems that lead by a lease of a store, and "+
			"%s has "+
			"none; leave them out", s.Set.Name)
	case q.Clocks > 0 && q.bearsNoClocks(s):
		return answer.Mistaken("--clocks: %s does not compare clocks; leave it out", s.Set.Name)
	case !(q.Messages > 0 && q.Messages <= 1e4):
		return answer.Mistaken("--messages %v, expected how many times as many messages as with the "+
			"defaults, as 1",
			q.Messages)
	case (q.Pauses == "") != (q.PausesOver == 0):
		return answer.Mistaken("--pauses and --pauses-over belong together: the lengths of the pauses of a " +
			"member, and the time in which it had them")
	case q.PausesOver < 0 || q.Workers < 0:
		return answer.Mistaken("--pauses-over %v and --workers %d, expected numbers above 0", q.PausesOver,
			q.Workers)
	}
	if err := q.checkNetwork(); err != nil || q.Check == 0 {
		return err
	}
	if q.Check < 2 || q.Check > mostCrashes {
		return answer.Mistaken("--check %d, expected 2 to %d crashes of the leader", q.Check, mostCrashes)
	}
	_, err := q.real(s)
	return err
}

// mostCrashes bounds a check.
const mostCrashes = 10_000

func (q *Request) bearsNoClocks(s *Subject) bool {
	_, clocks := s.Bears(s.Set.Params)
	return clocks < 0
}

// checkNetwork says what is wrong with what is said of the network.
func (q *Request) checkNetwork() error {
	var given []string
	for _, f := range []struct {
		name  string
		given bool
	}{{"--pings", q.Pings != ""}, {"--table", q.Table != ""}, {"--matrix", q.Matrix != ""},
		{"--places", q.Places != nil}, {"--rtt", q.RoundTrip != 0}} {
		if f.given {
			given = append(given, f.name)
		}
	}
	records := q.Pings != "" || q.Table != ""
	switch {
	case len(given) == 0:
		return answer.Mistaken("no network: say how far apart the members are, by --pings FOLDER, --table " +
			"FILE, " +
			"--matrix FILE, --places LIST or --rtt TIME; see docs/how-to/advise.md")
	case len(given) > 1:
		return answer.Mistaken("%s: each says what the network is; give one of them", strings.Join(given,
			" and "))
	case q.RoundTrip < 0 || q.RoundTrip > time.Minute:
		return answer.Mistaken("--rtt %v, expected a round trip above 0 and up to 1m", q.RoundTrip)
	case records && (q.Jitter >= 0 || q.Loss > 0):
		return answer.Mistaken("--jitter and --loss with %s: the record has both; leave them out", given[0])
	case q.Every != 0 && !records:
		return answer.Mistaken("--every is the time between two pings of a record; leave it out")
	case q.Jitter > 2:
		return answer.Mistaken("--jitter %v, expected 0 to 2", q.Jitter)
	case !(q.Loss >= 0 && q.Loss < 1):
		return answer.Mistaken("--loss %v, expected a share from 0 to below 1, as 0.001", q.Loss)
	}
	return nil
}

// usualJitter is the standard deviation of the logarithm of delays that nobody has measured.
const usualJitter = 0.1

// jitter is the standard deviation of the logarithm of delays.
func (q *Request) jitter() float64 {
	if q.Jitter < 0 {
		return usualJitter
	}
	return q.Jitter
}

// network is the network as an experiment says it.
func (q *Request) network() (block, error) {
	if q.Pings != "" || q.Table != "" {
		from := block{}
		for key, name := range map[string]string{"folder": q.Pings, "table": q.Table} {
			if name == "" {
				continue
			}
			path, err := filepath.Abs(name)
			if err != nil {
				return nil, err
			}
			from[key] = path
		}
		if q.Every != 0 {
			from["every"] = q.Every.String()
		}
		return block{"recorded": from}, nil
	}
	jitter, out := q.jitter(), block{}
	if q.Loss > 0 {
		out["loss"] = q.Loss
	}
	switch {
	case q.RoundTrip > 0 && jitter == 0:
		out["latency"] = (q.RoundTrip / 2).String()
	case q.RoundTrip > 0:
		out["latency"] = block{"distribution": "lognormal", "median": (q.RoundTrip / 2).String(),
			"sigma": jitter}
	case q.Places != nil:
		kind := "cities"
		if !slices.ContainsFunc(q.Places, func(p string) bool { return !slices.Contains(link.Places, p) }) {
			kind = "regions"
		}
		out["latency"] = block{"distribution": kind, "places": q.Places, "sigma": jitter}
	default:
		names, trips, err := readMatrix(q.Matrix)
		if err != nil {
			return nil, err
		}
		out["latency"] = block{"distribution": "regions", "places": names, "sigma": jitter,
			"round_trips": trips}
	}
	return out, nil
}

// readMatrix reads the round trips between members in ms: a row and a column for each, with their names
// in the first.
func readMatrix(path string) (names []string, trips [][]string, err error) {
	data, err := files.Read(path, config.MaxSize)
	if err != nil {
		return nil, nil, answer.Mistaken("--matrix: %v", err)
	}
	if wrong := text.Foreign(data); wrong != "" {
		return nil, nil, answer.Mistaken("--matrix %s: %s", path, wrong)
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, nil, answer.Mistaken("--matrix %s: %v", path, err)
	}
	if len(rows) < 3 || len(rows) != len(rows[0]) {
		return nil, nil, answer.Mistaken("--matrix %s: expected a row and a column for each member, with "+
			"its name in "+
			"the first, and round trips in ms", path)
	}
	for i, row := range rows[1:] {
		if row[0] != rows[0][i+1] {
			return nil, nil, answer.Mistaken("--matrix %s: row %d is of %q, and column %d of %q: expected "+
				"the members in "+
				"one order", path, i+1, row[0], i+1, rows[0][i+1])
		}
		var out []string
		for j, word := range row[1:] {
			ms, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
			if i == j && strings.TrimSpace(word) == "" {
				ms, err = 0, nil
			}
			if err != nil || !(ms >= 0 && ms <= 60e3) || ms == 0 && i != j {
				return nil, nil, answer.Mistaken("--matrix %s: from %s to %s: %q, expected a round trip "+
					"in ms above 0, as "+
					"12.3", path, row[0], rows[0][j+1], config.Clip(word))
			}
			out = append(out, time.Duration(ms*1e6).String())
		}
		names, trips = append(names, row[0]), append(trips, out)
	}
	return names, trips, nil
}

// file is the experiment that all others come from, in a folder of its own, so that it may name files.
func (q *Request) file(s *Subject, network block) ([]byte, error) {
	nodes := q.Nodes
	if s.store() {
		nodes++
	}
	return yaml.Marshal(block{
		"name": "advise", "problem": "election", "transport": "sim", "nodes": nodes, "trace": "none",
		"algorithms":  []any{block{"name": s.Algorithm.ID, "set": s.Set.Name}},
		"network":     network,
		"detector":    block{"kind": "none"},
		"scenario":    block{"kind": "leader-crash"},
		"repetitions": 1, "time_limit": "24h",
	})
}

// A Cancelled search ends with what is known.
func cancelled(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// perYear is a rate for people.
func perYear(v float64) string {
	switch {
	case math.IsNaN(v):
		return "n/a"
	case v == 0:
		return "0"
	case v < 1e-4 || v >= 1e5:
		return strconv.FormatFloat(v, 'e', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// blame says of the mistakes in an experiment which flag made them: the first, in one sentence.
func (q *Request) blame(err error) error {
	var wrong *config.Error
	if !errors.As(err, &wrong) || len(wrong.Mistakes) == 0 {
		return err
	}
	m := wrong.Mistakes[0]
	flag := "--set " + q.System
	switch {
	case q.Pings != "":
		flag = "--pings"
	case q.Table != "":
		flag = "--table"
	case q.Matrix != "":
		flag = "--matrix " + q.Matrix
	case q.Places != nil:
		flag = "--places"
	case strings.HasPrefix(m.Key, "network"):
		flag = "--rtt"
	}
	return answer.Mistaken("%s: %s", flag, m.Text)
}
