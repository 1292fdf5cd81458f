package serve

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/answers/view"
	"github.com/conclave-bench/conclave/internal/base/stats"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestCourse: a curve begins where a figure has enough values, and stays short however long the run.
func TestCourse(t *testing.T) {
	t.Parallel()
	var c course
	asked := 0
	for n := 1; n <= 100_000; n++ {
		c.add(n, func() stats.Summary {
			asked++
			return stats.Summary{N: n, Median: float64(n), CILow: 1, CIHigh: 2}
		})
	}
	first, last := c.points[0], c.points[len(c.points)-1]
	if first.x != report.Enough || first.y != report.Enough || last.x < 94_000 || len(c.points) > most || asked > 1000 {
		t.Errorf("from %v to %v, %d points, %d figures", first, last, len(c.points), asked)
	}
	few := course{}
	few.add(50, func() stats.Summary { return stats.Summary{N: report.Enough - 1, Median: 3} })
	few.add(60, func() stats.Summary { return stats.Summary{N: 9, Censored: 30, Median: math.NaN()} })
	if few.points != nil {
		t.Errorf("a figure of too few values is drawn: %v", few.points)
	}
}

// TestProgress: a rate is that of its time, and not the mean since the run began.
func TestProgress(t *testing.T) {
	t.Parallel()
	var looks []look
	for i := 1; i <= 20; i++ { // 10 trials a second, and from the tenth second on 2
		looks = append(looks, look{time.Duration(i) * time.Second, min(10*i, 100+2*(i-10))})
	}
	ended, rate := progress(looks)
	if len(ended.points) != 21 || ended.points[0].y != 0 || ended.points[20].y != 120 || ended.points[20].x != 20 {
		t.Errorf("%v", ended.points)
	}
	if got := rate.points[4].y; got != 10 {
		t.Errorf("%v a second at first", got)
	}
	if got := rate.points[19].y; got != 2 {
		t.Errorf("%v a second at last", got)
	}
}

// TestDraw: a picture says in words what its curves came to, and takes no name for markup.
func TestDraw(t *testing.T) {
	t.Parallel()
	none := math.NaN()
	p := draw("time so far", "trials", false, []curve{{"<a>", 0, []point{{6, 10, 9, 12}, {7, 20, 18, none}}},
		{"b", 3, []point{{6, 30, none, none}}}})
	text := string(p.Drawn)
	for _, want := range []string{`aria-label="time so far: &lt;a&gt; 20; b 30"`, `class="line s0" d="M58 145.2L372 77.6"`,
		`class="s3" cx="58" cy="10"`, ">30</text>", ">9</text>", ">7</text>"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if draw("nothing", "", true, []curve{{}}) != nil {
		t.Error("nothing is drawn")
	}
	if spark(nil) != "" || spark([]point{{6, 1, 1, 1}}) != "" || spark([]point{{6, 1, 1, 1}, {7, 1, 1, 1}}) == "" {
		t.Error("a curve takes two points")
	}
}

// TestServer_Live: a figure of fewer than six values is none, and is not drawn; then there are curves.
func TestServer_Live(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	var design []metric.Field
	for _, name := range results.DesignColumns() {
		value := map[string]string{"problem": "election", "nodes": "3", "scenario": "cold-start"}[name]
		design = append(design, metric.Field{Name: name, Value: value})
	}
	metrics := view.Brief([][]metric.Field{design})
	main := metrics[0]
	metrics = slices.DeleteFunc(metrics, func(m *metric.Metric) bool { return m.Always })
	f, err := results.Create(root, results.Header{Name: "going", Planned: 100,
		Started: time.Now().Add(-time.Minute), Design: results.DesignColumns(), Metrics: metric.Names(metrics)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	done := 0
	run := func(trials int) {
		for range trials {
			done++
			one := results.Trial{Trial: done, Cell: 1, Repetition: done, Round: 1, RunOrder: done, Attempts: 1,
				Status: trace.OK, InModel: true, Design: design}
			one.Set(main.Of(10 + float64(done)))
			if err := f.Append(one); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := listen(t, Options{Dir: root})
	page := func() string {
		_, text := get(t, s.URL("going/"+filepath.Base(f.Dir())))
		return text[strings.Index(text, "<main"):]
	}
	run(5)
	text := page()
	if !strings.Contains(text, `>5 of 6 values</td>`) || strings.Contains(text, "<svg class=\"interval\"") ||
		strings.Contains(text, "so far: ") || !strings.Contains(text, "Trials that have ended: 5") {
		t.Errorf("after 5 trials: %s", text)
	}
	run(15)
	time.Sleep(pause + 100*time.Millisecond)
	text = page()
	title := regexp.QuoteMeta(main.Title() + " so far: ")
	if !regexp.MustCompile(`aria-label="`+title+`[^"]*20`).MatchString(text) ||
		!strings.Contains(text, "<svg class=\"interval\"") || !strings.Contains(text, `<svg class="spark"`) ||
		!strings.Contains(text, "Trials a second") || strings.Contains(text, ">5 of 6 values") {
		t.Errorf("after 20 trials: %s", text)
	}
	if want := fmt.Sprint("Trials that have ended: ", done); !strings.Contains(text, want) {
		t.Errorf("no %s: %s", want, text)
	}
}
