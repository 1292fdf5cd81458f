package compare

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/pkg/metric"
)

// A Condition fails a comparison: a metric that changed by more than Limit, such
// as "election_ms > 10%" or "throughput_per_s < -5% where algorithm=mutex/maekawa".
type Condition struct {
	Metric string
	Stat   Statistic     // that it is about; "": any
	Less   bool          // than Limit, not more
	Limit  metric.Amount // of the change; a part is one of the base
	Where  metric.Where
	text   string
}

// String is the condition as it was written.
func (c Condition) String() string { return c.text }

// ParseCondition reads a condition: METRIC > CHANGE or METRIC < CHANGE, or the same of one statistic, as
// "p90 of METRIC", where
// CHANGE is a number in the metric's unit (milliseconds for names in _ms), or a
// percentage; "where COLUMN=VALUE ..." restricts it to some cells. "!=" is not
// offered: what may not change at all is what Options.Strict is for.
func ParseCondition(text string) (Condition, error) {
	c := Condition{text: strings.Join(strings.Fields(text), " ")}
	wrong := func(format string, args ...any) (Condition, error) {
		return c, fmt.Errorf("condition %q: %s; expected METRIC > CHANGE or METRIC < CHANGE, as "+
			"\"election_ms > 10%%\" or \"messages_per_entry > 0 where nodes=5\"", c.text,
			fmt.Sprintf(format, args...))
	}
	words := strings.Fields(strings.NewReplacer(">", " > ", "<", " < ").Replace(text))
	rest := []string{}
	if i := slices.Index(words, "where"); i >= 0 {
		words, rest = words[:i], words[i+1:]
		if len(rest) == 0 {
			return wrong("nothing behind \"where\"")
		}
	}
	if len(words) > 2 && words[1] == "of" {
		if c.Stat = Statistic(words[0]); c.Stat != Mean && c.Stat != Typical && c.Stat.quantile() == 0 {
			return wrong("no statistic %q: %s", words[0], strings.Join(statisticNames(), ", "))
		}
		words = words[2:]
	}
	if len(words) != 3 || words[1] != ">" && words[1] != "<" {
		return wrong("not of that form")
	}
	c.Metric, c.Less = words[0], words[1] == "<"
	var ok bool
	if c.Limit, ok = metric.ReadAmount(words[2]); !ok {
		return wrong("%q is no number", words[2])
	}
	for _, word := range rest {
		f, ok := metric.ReadField(word)
		if !ok {
			return wrong("%q is not COLUMN=VALUE", word)
		}
		c.Where = append(c.Where, f)
	}
	return c, nil
}

// ReadConditions reads conditions, one in a line; what follows a # is a comment.
// An error names file and line.
func ReadConditions(r io.Reader, file string) ([]Condition, error) {
	var all []Condition
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if strings.TrimSpace(text) == "" {
			continue
		}
		c, err := ParseCondition(text)
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", file, n, err)
		}
		all = append(all, c)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no condition in it, expected one in a line, as \"election_ms > "+
			"10%%\"", file)
	}
	return all, nil
}

// covers says whether the condition is about the row.
func (c *Condition) covers(row *Row) bool {
	return c.Metric == row.Metric && (c.Stat == "" || c.Stat == row.Stat) && c.Where.Covers(row.Design)
}

// exceeds says whether a change from base by difference is beyond the limit. A
// change from nothing is beyond every percentage.
func (c *Condition) exceeds(base, difference float64) bool {
	limit := c.Limit.Of(base)
	if c.Less {
		return difference < limit
	}
	return difference > limit
}
