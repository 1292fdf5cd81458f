package link

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// MostRecorded bounds a record: it stands whole in the resolved copy of the experiment.
const MostRecorded = 20_000

var recorded = Distribution{
	Name: "recorded",
	Doc: "a record of delays (values, or a file), a new one every so long, and round again after the last; " +
		"each link begins at a place of its own",
	Formula: "values[(place + floor(t / every)) mod k], of k values, for a message sent at t; " +
		"place is drawn for each link",
	Mean: "that of the values",
	Keys: []Key{keyEvery, keyValues}, Required: 1,
	check: func(l *Latency) error {
		if len(l.Values) == 0 || len(l.Values) > MostRecorded {
			return fmt.Errorf("latency: recorded: %d values, want 1 to %d of them, or a file", len(l.Values),
				MostRecorded)
		}
		if l.Every < time.Millisecond {
			return fmt.Errorf("latency: recorded: every %v, want 1ms or more", l.Every)
		}
		return nil
	},
	series: true,
}

// place is where in the record a link begins.
func (l *Latency) place(seed uint64, from, to uint32) uint64 {
	u := Mix(Mix(seed^0x7265636f72646564) ^ uint64(from)<<32 ^ uint64(to))
	k, _ := bits.Mul64(u, uint64(len(l.Values)))
	return k
}

// recorded is the delay of the link at an instant, as a constant.
func (c *condition) recorded(l *Latency, at time.Duration) (*Latency, *Distribution) {
	k := (c.place + uint64(at/l.Every)) % uint64(len(l.Values))
	if c.now == nil {
		c.now = new(Latency)
	}
	*c.now = Constant(l.Values[k])
	return c.now, &constant
}

// overRecord is the mean of the record.
func (l *Latency) overRecord() time.Duration {
	sum := 0.0
	for _, d := range l.Values {
		sum += float64(d)
	}
	return time.Duration(math.Round(sum / float64(len(l.Values))))
}

var pingTime = regexp.MustCompile(`\btime[=<]([0-9.]+) ?ms\b`)

// ReadRecord reads a record of one-way delays: on each line one, as 12.3ms or as a number of
// milliseconds, or what ping prints, of which it takes half of each round trip and leaves out
// the rest. Empty lines, and those that begin with #, mean nothing.
func ReadRecord(r io.Reader) ([]time.Duration, error) {
	var out []time.Duration
	pings := false
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if n == 1 && strings.HasPrefix(line, "PING ") {
			pings = true
		}
		if m := pingTime.FindStringSubmatch(line); m != nil {
			ms, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				return nil, fmt.Errorf("line %d: time=%s is no number", n, m[1])
			}
			pings, out = true, append(out, time.Duration(math.Round(ms*1e6/2)))
			continue
		}
		if line == "" || line[0] == '#' || pings {
			continue
		}
		d, err := time.ParseDuration(line)
		if ms, e := strconv.ParseFloat(line, 64); e == nil && ms >= 0 {
			d, err = time.Duration(math.Round(min(ms, 1e9)*1e6)), nil
		}
		if err != nil || d < 0 || d > longest {
			return nil, fmt.Errorf("line %d: %.40q, want a delay up to %v, as 12.3ms or 12.3 (ms)", n, line,
				longest)
		}
		out = append(out, d)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no delay in it")
	}
	return out, nil
}
