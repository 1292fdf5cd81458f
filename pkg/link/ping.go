package link

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Lost stands in a record in place of a delay: messages that are sent then are lost.
const Lost time.Duration = -1

// LostWord is Lost as a file says it.
const LostWord = "lost"

// ReadRecord reads a record of one-way delays, with Lost where nothing arrived: on each line one,
// as 12.3ms, as a number of milliseconds, or the word lost; or what ping or mtr --raw print. Empty lines,
// and those that begin with #, mean nothing.
//
// Of ping's output it takes half of each round trip, at the place of its sequence number (icmp_seq
// or seq). A number without an answer is Lost, from the first that is sent (1, or 0 where there
// is one) to as many as the summary counts. The first answer to a number counts, and not its
// duplicates. Numbers may come out of order, and begin again behind 65535. Where there are no
// numbers each answer and each "Request timed out" has a place. The error says where the summary
// counts other packets than there are.
func ReadRecord(r io.Reader) ([]time.Duration, error) { return read(r, false) }

// ReadSeries reads a record for a network of its own: as ReadRecord, but a delay of 0 is an error, and so
// is a record with fewer than two delays, which shows how long a message takes and not what else it may take.
func ReadSeries(r io.Reader) ([]time.Duration, error) {
	out, err := read(r, true)
	if err != nil {
		return nil, err
	}
	delays := 0
	for _, d := range out {
		if d != Lost {
			delays++
		}
	}
	if delays < 2 {
		return nil, fmt.Errorf("one delay is no record: expected two or more, as ping -c 1000 prints them; "+
			"for a constant delay write latency: %v", slices.Max(out))
	}
	return out, nil
}

func read(r io.Reader, positive bool) ([]time.Duration, error) {
	p := pings{first: -1, positive: positive}
	var out []time.Duration
	var routes hops
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if routes.line(line) {
			continue
		}
		is, err := p.line(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if is || p.seen {
			continue
		}
		if routes.seen || summed.MatchString(line) {
			return nil, fmt.Errorf("line %d: %.40q, expected what mtr --raw prints: a report has no "+
				"order, and "+
				"does not say which packets were lost", n, line)
		}
		d, ok := delay(line)
		if !ok {
			return nil, fmt.Errorf("line %d: %.40q, expected a delay up to %v, as 12.3ms or 12.3 (ms), or "+
				"%s", n,
				line, longest, LostWord)
		}
		if positive && d == 0 {
			return nil, fmt.Errorf("line %d: %w", n, errZero)
		}
		out = append(out, d)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if routes.seen {
		out = routes.record()
	}
	if p.seen {
		var err error
		if out, err = p.record(); err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(out, func(d time.Duration) bool { return d != Lost }) {
		return nil, fmt.Errorf("no delay in it")
	}
	return out, nil
}

// delay reads one that stands alone.
func delay(line string) (time.Duration, bool) {
	if line == LostWord {
		return Lost, true
	}
	d, err := time.ParseDuration(line)
	if ms, e := strconv.ParseFloat(line, 64); e == nil && ms >= 0 {
		d, err = time.Duration(math.Round(min(ms, 1e9)*1e6)), nil
	}
	return d, err == nil && d >= 0 && d <= longest
}

// errZero is what is wrong with a delay of 0.
var errZero = errors.New("a delay of 0, which no network has: expected a time above 0; a clock that counts " +
	"in whole milliseconds is too coarse")

var (
	// foreignTime is a time that pingTime does not read.
	foreignTime = regexp.MustCompile(`[=<] ?(-?[0-9]+(?:[.,][0-9]+)?) ?ms\b`)
	// summed is the head of a report of mtr, or a line of one in CSV.
	summed   = regexp.MustCompile(`(?i)^(Start:.*|HOST:.*Loss%.*|Mtr_Version,.*|MTR\..*,.*)$`)
	pingTime = regexp.MustCompile(`(?i)\btime[=<]([0-9.]+) ?ms\b`)
	pingSum  = regexp.MustCompile(`(?i)packet|min/avg|=.*=.*= ?[0-9]+ ?ms`) // lines that sum up
	pingSeq  = regexp.MustCompile(`\b(?:icmp_)?seq[= ]([0-9]+)\b`)
	pingLate = regexp.MustCompile(`(?i)^request timed out`)
	pingSums = []*regexp.Regexp{
		regexp.MustCompile(`\b([0-9]+) packets transmitted, ([0-9]+) (?:packets )?received`),
		regexp.MustCompile(`\bSent = ([0-9]+), Received = ([0-9]+)`),
	}
)

// pings are what the lines of ping's output say.
type pings struct {
	seen            bool            // that it is such output
	begun           bool            // with its first line
	numbered, plain bool            // lines have numbers, or have none
	answers         []time.Duration // from the number first on
	first, last     int             // numbers, counted on behind 65535; first is negative: none yet
	sent, received  int             // by the summary
	positive        bool            // a time of 0 is an error
	summed          bool
}

// line takes in a line, and says whether it is one that ping prints.
func (p *pings) line(line string) (bool, error) {
	switch {
	case strings.HasPrefix(line, "PING ") || strings.HasPrefix(line, "Pinging "):
		if p.begun {
			return true, fmt.Errorf("a second ping begins: a file has one record")
		}
		p.seen, p.begun = true, true
		return true, nil
	case p.summary(line):
		return true, nil
	}
	answer := Lost
	if m := pingTime.FindStringSubmatch(line); m != nil {
		ms, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return true, fmt.Errorf("time=%s is no number", m[1])
		}
		answer = time.Duration(math.Round(min(ms, 1e9) * 1e6 / 2))
		if p.positive && answer == 0 {
			return true, errZero
		}
	} else if m := foreignTime.FindStringSubmatch(line); m != nil && !pingSum.MatchString(line) {
		if strings.HasPrefix(m[1], "-") {
			return true, fmt.Errorf("%.60q: a negative time, expected one above 0: the clock was set back "+
				"during the ping; repeat it", line)
		}
		return true, fmt.Errorf("%.60q: a time in the format of another language, expected time=12.3 ms; "+
			"repeat it with LC_ALL=C ping", line)
	}
	seq := p.last + 1
	if m := pingSeq.FindStringSubmatch(line); m != nil {
		number, err := strconv.Atoi(m[1])
		if err != nil || number > math.MaxUint16 {
			return true, fmt.Errorf("sequence number %.20s, expected 0 to %d", m[1], math.MaxUint16)
		}
		p.numbered = true
		seq = number
		if p.first >= 0 { // the one of that number that is next to the last
			seq = p.last + int(int16(number-p.last))
		}
	} else if answer == Lost && !pingLate.MatchString(line) {
		return false, nil
	} else {
		p.plain = true
	}
	p.seen = true
	if p.numbered && p.plain {
		return true, fmt.Errorf("%.40q: some lines have a sequence number, and some have none", line)
	}
	return true, p.put(seq, answer)
}

// summary takes in the line that counts packets.
func (p *pings) summary(line string) bool {
	for _, sum := range pingSums {
		if m := sum.FindStringSubmatch(line); m != nil {
			p.sent, _ = strconv.Atoi(m[1])
			p.received, _ = strconv.Atoi(m[2])
			p.seen, p.summed = true, true
			return true
		}
	}
	return false
}

// put notes what came of a number.
func (p *pings) put(seq int, answer time.Duration) error {
	if p.first < 0 {
		p.first, p.last = seq, seq
	}
	if seq < 0 {
		return fmt.Errorf("sequence number %d comes behind %d", seq+math.MaxUint16+1, p.last)
	}
	if most := max(p.last, seq) - min(p.first, seq); most >= MostRecorded {
		return fmt.Errorf("sequence numbers from %d to %d, expected at most %d", min(p.first, seq),
			max(p.last, seq), MostRecorded)
	}
	for ; p.first > seq; p.first-- {
		p.answers = slices.Insert(p.answers, 0, Lost)
	}
	for len(p.answers) <= seq-p.first {
		p.answers = append(p.answers, Lost)
	}
	p.last = max(p.last, seq)
	if at := &p.answers[seq-p.first]; *at == Lost {
		*at = answer
	}
	return nil
}

// record is what was sent from the beginning to the end, as far as the output shows them.
func (p *pings) record() ([]time.Duration, error) {
	out := p.answers
	if p.first > 1 && (p.begun || p.summed) {
		if p.first+len(out) > MostRecorded+1 {
			return nil, fmt.Errorf("it begins with sequence number %d: expected at most %d numbers", p.first,
				MostRecorded)
		}
		out = append(slices.Repeat([]time.Duration{Lost}, p.first-1), out...)
	}
	if !p.summed {
		return out, nil
	}
	if p.sent > MostRecorded {
		return nil, fmt.Errorf("%d packets in its summary, expected at most %d", p.sent, MostRecorded)
	}
	answered := 0
	for _, d := range out {
		if d != Lost {
			answered++
		}
	}
	if p.sent < len(out) || p.received != answered {
		return nil, fmt.Errorf("the summary says %d sent and %d received, but %d numbers are in it, and %d "+
			"answers: it is not whole", p.sent, p.received, len(out), answered)
	}
	return append(out, slices.Repeat([]time.Duration{Lost}, p.sent-len(out))...), nil
}
