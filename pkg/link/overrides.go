package link

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An Override is a span of time in which links are not as they are otherwise. What
// it does not name stays as it is.
type Override struct {
	From    time.Duration `json:"from"`
	To      time.Duration `json:"to,omitempty"`      // the first instant after it; 0: never
	Links   [][2]uint32   `json:"links"`             // each in one direction: from, to; nil: all
	Loss    *float64      `json:"loss,omitempty"`    // probability, in place of bursts too
	Latency *Latency      `json:"latency,omitempty"` // of every link meant
	// Copy has every message arrive twice, the second time so long after it was sent; 0: that is left to
	// the network.
	Copy time.Duration `json:"copy,omitempty"`
}

// String is what the override does, as it stands in a trace: "1>2 loss 0.3 latency
// 20ms". When, the trace says by itself.
func (s Override) String() string {
	words := []string{"all"}
	if s.Links != nil {
		words[0] = linksText(s.Links)
	}
	if s.Loss != nil {
		words = append(words, "loss", strconv.FormatFloat(*s.Loss, 'g', -1, 64))
	}
	if s.Latency != nil {
		words = append(words, "latency", s.Latency.text())
	}
	if s.Copy > 0 {
		words = append(words, "copy", s.Copy.String())
	}
	return strings.Join(words, " ")
}

// Check says what is wrong with s; nil if nothing is.
func (s *Override) Check() error {
	if s.To != 0 && s.To <= s.From {
		return fmt.Errorf("override: from %v to %v: ends before it begins", s.From, s.To)
	}
	if s.Loss == nil && s.Latency == nil && s.Copy == 0 {
		return errors.New("override: changes nothing: expected a loss, a latency or a copy")
	}
	if s.Copy < 0 {
		return fmt.Errorf("override: copy: %v, expected a delay above 0", s.Copy)
	}
	if s.Loss != nil && !(*s.Loss >= 0 && *s.Loss <= 1) {
		return fmt.Errorf("override: loss: %v, expected a probability from 0 to 1", *s.Loss)
	}
	if s.Latency == nil {
		return nil
	}
	if err := s.Latency.CheckSpan(); err != nil {
		return fmt.Errorf("override: %w", err)
	}
	return nil
}

// Overrides is the history of overrides. The zero value is a network that stays as
// it is.
type Overrides struct{ overrides []override }

type override struct {
	Override
	links linkSet
	to    time.Duration // To, but never 0
	rest  time.Duration // from then on neither this override nor one before it holds
}

// Add puts s into the history, behind the overrides that begin at the same instant.
func (w *Overrides) Add(s Override) {
	next := override{Override: s, links: newLinkSet(s.Links), to: s.To}
	if s.To == 0 {
		next.to = math.MaxInt64
	}
	i := w.begun(s.From)
	w.overrides = slices.Insert(w.overrides, i, next)
	for rest := time.Duration(math.MinInt64); i < len(w.overrides); i++ {
		if i > 0 {
			rest = w.overrides[i-1].rest
		}
		w.overrides[i].rest = max(w.overrides[i].to, rest)
	}
}

// begun is how many overrides have begun by the instant at.
func (w *Overrides) begun(at time.Duration) int {
	i, _ := slices.BinarySearchFunc(w.overrides, at, func(s override, at time.Duration) int {
		if s.From <= at {
			return -1
		}
		return 1
	})
	return i
}

// Empty says that there never was an override.
func (w *Overrides) Empty() bool { return len(w.overrides) == 0 }

// On is the override that a message meets that is sent from one process to another
// at an instant; nil if there is none. Of several it is the one that began last, and
// that one alone: another's loss does not join its latency.
func (w *Overrides) On(from, to uint32, at time.Duration) *Override {
	if w.Empty() {
		return nil
	}
	return w.find(from, to, at)
}

func (w *Overrides) find(from, to uint32, at time.Duration) *Override {
	for i := w.begun(at) - 1; i >= 0 && at < w.overrides[i].rest; i-- {
		s := &w.overrides[i]
		if at < s.to && (s.Links == nil || s.links.has(from, to)) {
			return &s.Override
		}
	}
	return nil
}

// Check says what is wrong with any override; nil if nothing is.
func (w *Overrides) Check() error {
	var errs []error
	for i := range w.overrides {
		errs = append(errs, w.overrides[i].Check())
	}
	return errors.Join(errs...)
}
