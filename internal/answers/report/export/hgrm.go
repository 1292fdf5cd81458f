package export

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// hgrm writes the text that HdrHistogram's own tools print and its plotter reads: the
// percentiles of all completed operations of a cell. The values are those that were
// measured, sorted, and not put into buckets first.
//
// Here operations of one trial are counted as if they were independent: it shows a
// distribution and its tail, and is not for inference.
func hgrm(s *selection) ([]File, error) {
	metrics, err := s.ofOperations()
	if err != nil {
		return nil, err
	}
	spans, err := s.run.ReadSpans(metrics)
	if err != nil {
		return nil, err
	}
	var names []string
	var files []File
	for _, c := range s.cells {
		for _, m := range metrics {
			if v := completed(spans, c, m); len(v) > 0 {
				names = append(names, s.name(c)+"-"+m.Name)
				files = append(files, File{Data: s.histogram(c, m, v)})
			}
		}
	}
	if files == nil {
		return nil, fmt.Errorf("%s: no completed operation with one of these times in a trial with "+
			"status ok: nothing to export", s.run.Path)
	}
	for i, name := range report.FileNames(names) {
		files[i].Name = name + ".hgrm"
	}
	return files, nil
}

// completed are the times of what came to its end in the trials with status ok.
func completed(spans *results.Spans, c *results.Cell, m *metric.Metric) (out []float64) {
	for i, values := range spans.Of(c, m) {
		for _, v := range values {
			if c.Trials[i].Status == trace.OK && !math.IsInf(v, 1) {
				out = append(out, v)
			}
		}
	}
	return out
}

// histogram prints the percentiles of values. The steps between them halve each time
// that the distance to 100 % has halved, five to each half, as HdrHistogram has it.
func (s *selection) histogram(c *results.Cell, m *metric.Metric, values []float64) []byte {
	const perHalf = 5
	slices.Sort(values)
	n := len(values)
	var b bytes.Buffer
	fmt.Fprintf(&b, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")
	for percent, done := 0.0, false; !done; {
		v := values[max(int(math.Ceil(percent/100*float64(n))), 1)-1]
		upTo, _ := slices.BinarySearch(values, math.Nextafter(v, math.Inf(1)))
		done = upTo == n
		fmt.Fprintf(&b, "%12.3f %2.12f %10d %14.2f\n", v, percent/100, upTo, 1/(1-percent/100))
		halvings := math.Floor(math.Log2(100/(100-percent))) + 1
		percent += 100 / (perHalf * math.Exp2(halvings))
	}
	fmt.Fprintf(&b, "%12.3f %2.12f %10d\n", values[n-1], 1.0, n)
	mean, square := 0.0, 0.0
	for i, v := range values { // Welford's method
		delta := v - mean
		mean += delta / float64(i+1)
		square += delta * (v - mean)
	}
	fmt.Fprintf(&b, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", mean, math.Sqrt(square/float64(n)))
	fmt.Fprintf(&b, "#[Max     = %12.3f, Total count    = %12d]\n", values[n-1], n)
	fmt.Fprintf(&b, "#[Buckets = %12d, SubBuckets     = %12d]\n", 0, 0)
	fmt.Fprintf(&b, "# %s\n# %s: %s of completed operations in trials with status ok; trials: %s\n",
		s.origin(), s.name(c), m.Name, view.Statuses(c))
	if doubt := stats.Doubtful(values[0], c.Doubt(m)); doubt > 0 {
		small, _ := slices.BinarySearch(values, doubt)
		fmt.Fprintf(&b, "# the %d fastest of %d %s\n", small, n, view.DoubtNote(doubt))
	}
	return b.Bytes()
}
