package link

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestCities_IsATable: what was read is what the source says, in the middle and at the ends.
func TestCities_IsATable(t *testing.T) {
	t.Parallel()
	names := Cities()
	if len(names) != 212 {
		t.Fatalf("%d cities, want 212", len(names))
	}
	table, sum, count := cityTrips(), time.Duration(0), 0
	for a := range names {
		for b := range a {
			sum, count = sum+table.trip(a, b), count+1
			if table.trip(a, b) != table.trip(b, a) || table.trip(a, b) <= 0 {
				t.Errorf("%s to %s: %v, back: %v", names[a], names[b], table.trip(a, b), table.trip(b, a))
			}
		}
	}
	if want := 320_947_869 * 10 * time.Microsecond; count != 22_366 || sum != want {
		t.Errorf("the sum of %d round trips is %v, want %v", count, sum, want)
	}
	for _, test := range []struct {
		from, to string
		want     time.Duration
	}{
		{"melbourne", "toronto", 218_590 * us}, {"paris", "prague", 23_060 * us}, {"tokyo", "tokyo", withinCity},
	} {
		l := Latency{Law: &cities{Places: []string{test.from, test.to}}}
		if err := l.Check(); err != nil {
			t.Fatal(err)
		}
		n := Network{Latency: l}
		f := n.Flow(0, 1, 0, 2)
		if got := n.Send(&f, 0, 0, nil).Due; got != test.want/2 {
			t.Errorf("%s to %s: %v, want %v", test.from, test.to, got, test.want/2)
		}
	}
}

// TestCities_All: without places process i is in the i-th city.
func TestCities_All(t *testing.T) {
	t.Parallel()
	l := Latency{Law: &cities{}}
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	named := Latency{Law: &cities{Places: Cities()}}
	if l.Average() != named.Average() || l.Average() < 50*ms {
		t.Errorf("mean %v, of all by name %v", l.Average(), named.Average())
	}
	d, bounded := l.Bound()
	if want := 494_250 * us / 2; d != want || !bounded {
		t.Errorf("bound %v, %v; want %v", d, bounded, want)
	}
	means := (&Network{Latency: l}).Means()
	if means(1, 2) != means(213, 2) || means(1, 213) != withinCity/2 {
		t.Error("process 213 is not in the first city again")
	}
}

func TestCities_Unknown(t *testing.T) {
	t.Parallel()
	for place, want := range map[string]string{"New York": "write new-york", "atlantis": "bench list cities"} {
		l := Latency{Law: &cities{Places: []string{place}}}
		if err := l.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", place, err, want)
		}
	}
	if slices.Contains(Cities(), "dagupan") {
		t.Error("a city is there whose round trips cannot be")
	}
}
