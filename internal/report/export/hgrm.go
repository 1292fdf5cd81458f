package export

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/conclave-bench/conclave/internal/report"
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
	var metrics []*metric.Metric
	for _, m := range s.metrics {
		switch why := m.NotOfOperations(s.solved()); {
		case why == "":
			metrics = append(metrics, m)
		case len(s.Metrics) > 0:
			return nil, mistake("--metrics %s: hgrm is about single operations: %s", m.Name, why)
		case m == metric.Downtime:
			metrics = append(metrics, metric.Agreed.Downtime)
		}
	}
	values := map[int]map[*metric.Metric][]float64{} // by the position of the cell, and by metric
	cellOf := map[int]int{}                          // of trials with status ok
	for i, c := range s.cells {
		values[i] = map[*metric.Metric][]float64{}
		for _, t := range c.Trials {
			if t.Status == trace.OK {
				cellOf[t.Trial] = i
			}
		}
	}
	recorded := false
	err := results.EachOperation(s.run.Path, func(trial int, o trace.Operation) error {
		recorded = true
		i, wanted := cellOf[trial]
		if !wanted || o.Status != trace.Completed {
			return nil
		}
		for _, m := range metrics {
			if v := results.Span(m, o); !math.IsNaN(v) {
				values[i][m] = append(values[i][m], v)
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case !recorded:
		return nil, fmt.Errorf("%s: hgrm needs the operations, and none are recorded there; the folder of a "+
			"run has them in %s", s.run.Path, results.OperationsFile)
	}
	var names []string
	var files []File
	for i, c := range s.cells {
		for _, m := range metrics {
			if v := values[i][m]; len(v) > 0 {
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
		s.origin(), s.name(c), m.Name, statuses(c))
	return b.Bytes()
}
