package trial

import (
	"slices"
	"testing"
)

// TestAlarms: they stand in the order in which they expire, each once, and what was there before stays as it was.
func TestAlarms(t *testing.T) {
	t.Parallel()
	first := Alarms{}.Set("b", 2).Set("a", 2).Set("c", 1)
	later := first.Set("c", 3)
	for _, c := range []struct{ got, want Alarms }{
		{first, Alarms{{"c", 1}, {"a", 2}, {"b", 2}}},
		{later, Alarms{{"a", 2}, {"b", 2}, {"c", 3}}},
		{later.Cancel("b"), Alarms{{"a", 2}, {"c", 3}}},
		{later.Cancel("d"), later},
		{later.Without(0), Alarms{{"b", 2}, {"c", 3}}},
		{later, Alarms{{"a", 2}, {"b", 2}, {"c", 3}}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
}
