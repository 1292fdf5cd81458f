package metric

import "testing"

// TestReadAmount: what is no finite number is no amount, and a part is one of a size.
func TestReadAmount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"12.5": 12.5, "-3": -3, "10%": 5, "-10 %": -5, "0": 0} {
		if a, ok := ReadAmount(text); !ok || a.Of(-50) != want {
			t.Errorf("%q: %v, %v, want %v of -50", text, a, ok, want)
		}
	}
	for _, text := range []string{"", "%", "x", "NaN", "Inf", "-Inf%", "1e999", "10%%", "10ms"} {
		if a, ok := ReadAmount(text); ok {
			t.Errorf("%q: %v, want none", text, a)
		}
	}
}

// TestReadField: a column has a name; its value may be anything.
func TestReadField(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Field{"nodes=5": {"nodes", "5"}, "label=": {"label", ""},
		"label=a=b": {"label", "a=b"}} {
		if f, ok := ReadField(text); !ok || f != want {
			t.Errorf("%q: %v, %v, want %v", text, f, ok, want)
		}
	}
	for _, text := range []string{"", "nodes", "=5"} {
		if f, ok := ReadField(text); ok {
			t.Errorf("%q: %v, want none", text, f)
		}
	}
}
