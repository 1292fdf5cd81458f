package serve

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

func TestMachines(t *testing.T) {
	t.Parallel()
	u := &view.Underway{Machines: map[string]view.Done{"lab2": {Finished: 30, Invalid: 1}, "lab1": {Finished: 60}}}
	list, cost := machines(u, map[string]float64{"lab1": 0.5, "lab3": 9}, 30*time.Minute, 90*time.Minute)
	if got, want := fmt.Sprint(list), "[{lab1 {60 0} 2 0.25} {lab2 {30 1} 1 }]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if want := "0.25 so far, 0.50 an hour, 1.00 at the end. Machines that have finished no trial are not counted."; cost != want {
		t.Errorf("%q, want %q", cost, want)
	}
	if list, cost := machines(u, nil, time.Minute, 0); len(list) != 2 || cost != "" {
		t.Errorf("without prices: %v, %q", list, cost)
	}
}

// TestServer_Machines: the page of a run that goes on has its machines, with their cost where a price is known, and
// none where trials name none.
func TestServer_Machines(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"lab1", ""} {
		root := t.TempDir()
		f, err := results.Create(root, results.Header{Name: "going", Planned: 9, Started: time.Now().Add(-time.Hour),
			Design: results.DesignColumns()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		one := results.Trial{Trial: 1, Cell: 1, Repetition: 1, Round: 1, RunOrder: 1, Attempts: 1, Status: trace.OK,
			Host: host}
		for _, name := range results.DesignColumns() {
			one.Design = append(one.Design, metric.Field{Name: name, Value: "its " + name})
		}
		if err := f.Append(one); err != nil {
			t.Fatal(err)
		}
		s := listen(t, Options{Dir: root, Prices: func() map[string]float64 { return map[string]float64{"lab1": 2} }})
		_, text := get(t, s.URL("going/"+filepath.Base(f.Dir())))
		if got := strings.Contains(text, "<th scope=\"row\">lab1</th><td>1</td>") && strings.Contains(text, "2.00 an hour"); got != (host != "") {
			t.Errorf("%q: %v\n%s", host, got, text)
		}
	}
}
