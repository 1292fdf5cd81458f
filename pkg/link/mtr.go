package link

import (
	"strconv"
	"strings"
	"time"
)

// hops are what the lines of mtr --raw say: "x 3 33012" that a probe was sent to hop 3, "p 3 24510 33012"
// that its answer came after 24510 µs, "h 3 10.0.0.1" and "d 3 name" who the hop is.
type hops struct {
	seen bool
	last int // the farthest hop that answered
	sent map[int][]string
	took map[string]time.Duration // by sequence number
}

// line takes in a line, and says whether it is one of mtr --raw.
func (h *hops) line(line string) bool {
	words := strings.Fields(line)
	if len(words) < 3 || len(words[0]) != 1 || !strings.Contains("xhdptmy", words[0]) {
		return false
	}
	hop, err := strconv.Atoi(words[1])
	if err != nil || hop < 0 || hop > 255 {
		return false
	}
	if h.sent == nil {
		h.sent, h.took = map[int][]string{}, map[string]time.Duration{}
	}
	switch words[0] {
	case "x":
		h.sent[hop] = append(h.sent[hop], words[2])
	case "p":
		us, err := strconv.ParseFloat(words[2], 64)
		if err != nil || us <= 0 || len(words) < 4 {
			return false
		}
		h.took[words[3]] = time.Duration(us * 1e3 / 2)
		h.last = max(h.last, hop)
	}
	h.seen = true
	return true
}

// record is half of each round trip to the farthest hop, in the order in which its probes were sent.
func (h *hops) record() (out []time.Duration) {
	for _, seq := range h.sent[h.last] {
		d, came := h.took[seq]
		if !came {
			d = Lost
		}
		out = append(out, d)
	}
	return out
}
