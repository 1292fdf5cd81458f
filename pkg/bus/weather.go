package bus

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Spell is a span of time in which links are not as they are otherwise. What
// it does not name stays as it is.
type Spell struct {
	From    time.Duration `json:"from"`
	To      time.Duration `json:"to,omitempty"`      // the first instant after it; 0: never
	Links   [][2]uint32   `json:"links"`             // each in one direction: from, to; nil: all
	Loss    *float64      `json:"loss,omitempty"`    // probability, in place of bursts too
	Latency *Latency      `json:"latency,omitempty"` // of every link meant
}

// String is what the spell does, as it stands in a trace: "1>2 loss 0.3 latency
// 20ms". When, the trace says by itself.
func (s Spell) String() string {
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
	return strings.Join(words, " ")
}

// Check says what is wrong with s; nil if nothing is.
func (s *Spell) Check() error {
	if s.To != 0 && s.To <= s.From {
		return fmt.Errorf("spell: from %v to %v: ends before it begins", s.From, s.To)
	}
	if s.Loss == nil && s.Latency == nil {
		return errors.New("spell: changes nothing: want a loss or a latency")
	}
	if s.Loss != nil && !(*s.Loss >= 0 && *s.Loss <= 1) {
		return fmt.Errorf("spell: loss: %v, want a probability from 0 to 1", *s.Loss)
	}
	if s.Latency == nil {
		return nil
	}
	if err := s.Latency.CheckSpan(); err != nil {
		return fmt.Errorf("spell: %w", err)
	}
	return nil
}

// Weather is the history of spells. The zero value is a network that stays as
// it is.
type Weather struct{ spells []spell }

type spell struct {
	Spell
	links linkSet
	to    time.Duration // To, but never 0
	rest  time.Duration // from then on neither this spell nor one before it holds
}

// Add puts s into the history, behind the spells that begin at the same instant.
func (w *Weather) Add(s Spell) {
	next := spell{Spell: s, links: newLinkSet(s.Links), to: s.To}
	if s.To == 0 {
		next.to = math.MaxInt64
	}
	i := w.begun(s.From)
	w.spells = slices.Insert(w.spells, i, next)
	for rest := time.Duration(math.MinInt64); i < len(w.spells); i++ {
		if i > 0 {
			rest = w.spells[i-1].rest
		}
		w.spells[i].rest = max(w.spells[i].to, rest)
	}
}

// begun is how many spells have begun by the instant at.
func (w *Weather) begun(at time.Duration) int {
	i, _ := slices.BinarySearchFunc(w.spells, at, func(s spell, at time.Duration) int {
		if s.From <= at {
			return -1
		}
		return 1
	})
	return i
}

// Fair says that there never was a spell.
func (w *Weather) Fair() bool { return len(w.spells) == 0 }

// On is the spell that a message meets that is sent from one process to another
// at an instant; nil if there is none. Of several it is the one that began last, and
// that one alone: another's loss does not join its latency.
func (w *Weather) On(from, to uint32, at time.Duration) *Spell {
	if w.Fair() {
		return nil
	}
	return w.find(from, to, at)
}

func (w *Weather) find(from, to uint32, at time.Duration) *Spell {
	for i := w.begun(at) - 1; i >= 0 && at < w.spells[i].rest; i-- {
		s := &w.spells[i]
		if at < s.to && (s.Links == nil || s.links.has(from, to)) {
			return &s.Spell
		}
	}
	return nil
}

// Check says what is wrong with any spell; nil if nothing is.
func (w *Weather) Check() error {
	var errs []error
	for i := range w.spells {
		errs = append(errs, w.spells[i].Check())
	}
	return errors.Join(errs...)
}
