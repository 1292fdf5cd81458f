package stats

// A Figure is one of a sample, by the name that thresholds and comparisons call it.
type Figure struct {
	Name string
	P    float64 // of a quantile: which; 0: it is none, and has no interval over groups
	Of   func(*Summary) float64
}

// Figures lists them; the first is meant where none is named.
func Figures() []Figure {
	return []Figure{
		{"median", 0.5, func(s *Summary) float64 { return s.Median }},
		{"mean", 0, func(s *Summary) float64 { return s.Mean }},
		{"min", 0, func(s *Summary) float64 { return s.Min }},
		{"max", 0, func(s *Summary) float64 { return s.Max }},
		{"p90", 0.9, func(s *Summary) float64 { return s.P90 }},
		{"p95", 0.95, func(s *Summary) float64 { return s.P95 }},
		{"p99", 0.99, func(s *Summary) float64 { return s.P99 }},
	}
}

// FigureNamed is the figure of that name; the zero Figure if there is none.
func FigureNamed(name string) Figure {
	for _, f := range Figures() {
		if f.Name == name {
			return f
		}
	}
	return Figure{}
}

// FigureNames lists the names of all.
func FigureNames() []string { return names(func(Figure) bool { return true }) }

// QuantileNames lists the names of those that are quantiles.
func QuantileNames() []string { return names(func(f Figure) bool { return f.P > 0 }) }

func names(of func(Figure) bool) (out []string) {
	for _, f := range Figures() {
		if of(f) {
			out = append(out, f.Name)
		}
	}
	return out
}
