package node

import (
	"testing"
	"time"
)

// TestHandling_Lag: what waits for the algorithm is late by as much as it would not be on a machine
// that runs everything the moment it is due, where it would wait for the algorithm as well.
func TestHandling_Lag(t *testing.T) {
	t.Parallel()
	type handled struct{ now, lag, took time.Duration }
	for name, test := range map[string]struct {
		before         []handled
		now, due, from time.Duration
		want           time.Duration
	}{
		"in time":                     {nil, 10, 10, 0, 0},
		"late":                        {nil, 13, 10, 0, 3},
		"late, after what was late":   {nil, 13, 10, 4, 7},
		"after a handler":             {[]handled{{0, 0, 5}}, 7, 6, 2, 1 + 2 - 1}, // could not be before 5
		"behind a handler":            {[]handled{{0, 0, 5}}, 5, 2, 0, 0},
		"behind it, and then late":    {[]handled{{0, 0, 5}}, 8, 2, 0, 3},
		"behind one that lost 3":      {[]handled{{0, 0, 5}}, 8, 2, 0, 3},
		"behind one that was late":    {[]handled{{3, 3, 5}}, 8, 4, 0, 3},
		"before it, but for its lag":  {[]handled{{10, 0, 5}}, 15, 12, 4, 7},
		"behind two":                  {[]handled{{0, 0, 5}, {5, 0, 5}}, 10, 1, 0, 0},
		"behind the later of two":     {[]handled{{0, 0, 5}, {8, 0, 5}}, 13, 6, 0, 7},
		"behind two, the second late": {[]handled{{0, 0, 5}, {7, 2, 5}}, 12, 1, 0, 2},
	} {
		var h handling
		for _, b := range test.before {
			h.add(b.now, b.lag, b.took)
		}
		if got := h.lag(test.now, test.due, test.from); got != test.want {
			t.Errorf("%s: a lag of %d, want %d", name, got, test.want)
		}
	}
}

// TestStretch: how much of two stretches is of both.
func TestStretch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		with stretch
		want time.Duration
	}{{stretch{0, 10}, 0}, {stretch{0, 12}, 2}, {stretch{12, 15}, 3}, {stretch{18, 30}, 2}, {stretch{0, 99}, 10},
		{stretch{20, 30}, 0}} {
		if got := (stretch{10, 20}).overlap(test.with); got != test.want {
			t.Errorf("with %v: %d, want %d", test.with, got, test.want)
		}
	}
}
