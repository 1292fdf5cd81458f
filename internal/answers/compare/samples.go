package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
)

// Samples compares the distributions of a time of algorithms of several runs, each given as RUN:LABEL, with
// that of the last: what is predicted, and what was measured.
func Samples(args []string, q Request) (*answer.Document, error) {
	o, err := q.Options()
	if err != nil {
		return nil, err
	}
	var tables []*results.Table
	var labels, known []string
	for _, arg := range args {
		colon := strings.LastIndex(arg, ":")
		if colon < 0 {
			return nil, answer.Mistaken("%s: expected a run and the label of one of its algorithms, as "+
				"results/quickstart/latest:bully", arg)
		}
		path, label := arg[:colon], arg[colon+1:]
		t, err := results.ReadTable(path)
		if err != nil {
			return nil, err
		}
		t = view.Filter(t, o.Where)
		known = known[:0]
		for _, c := range t.Cells() {
			if l := view.Label(c.Design); !slices.Contains(known, l) {
				known = append(known, l)
			}
		}
		if !slices.Contains(known, label) {
			return nil, answer.Mistaken("%s: %v", path,
				&metric.NameError{Kind: "algorithm", Name: label, Known: known})
		}
		tables, labels = append(tables, t), append(labels, label)
	}
	title := fmt.Sprintf("Conclave: the distributions of %s", strings.Join(args, ", "))
	return distributions(title, tables, labels, &q)
}
