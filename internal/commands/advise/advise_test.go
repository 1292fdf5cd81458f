package advise

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/commands/rare"
	_ "github.com/conclave-bench/conclave/plugins/all"
)

// little is an effort for tests.
var little = Effort{Outages: 1000, Paths: 60, Replications: 3, Search: 30, Levels: 10, Lengths: 4}

func TestScratch(t *testing.T) {
	if os.Getenv("SCRATCH") == "" {
		t.Skip()
	}
	for _, args := range strings.Split(os.Getenv("SCRATCH"), ";") {
		words := strings.Fields(args)
		q := Request{System: words[0], Nodes: 3, Jitter: -1, Messages: 1, Seed: 1, Effort: Usual, Why: true,
			Share: func(what string, done float64) { t.Logf("%.2f %s", done, what) }}
		var err error
		q.RoundTrip, err = time.ParseDuration(words[1])
		if err != nil {
			t.Fatal(err)
		}
		if len(words) > 2 {
			q.Loss = 0.01
		}
		begun := time.Now()
		d, _, err := Answer(t.Context(), &q)
		t.Log(args, time.Since(begun), err)
		if d != nil {
			var b strings.Builder
			if err := answer.Formats()[0].Write(&b, d); err != nil {
				t.Fatal(err)
			}
			t.Log("\n" + b.String())
			for _, r := range d.Blocks {
				if tab, is := r.(*answer.Table); is && tab.Name == "settings" {
					for _, row := range tab.Rows {
						t.Log(row[0], row[1], row[6], row[16], row[17], row[18], row[21])
					}
				}
			}
		}
	}
}

func TestScratchRate(t *testing.T) {
	if os.Getenv("SCRATCH2") == "" {
		t.Skip()
	}
	words := strings.Fields(os.Getenv("SCRATCH2"))
	q := Request{System: words[0], Nodes: 3, Jitter: -1, Messages: 1, Seed: 1, Effort: Usual, RoundTrip: 5 * time.Millisecond, Loss: 0.01}
	w, err := newWorld(&q)
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.mistakes(t.Context(), &w.base, true)
	from, to := w.base.window()
	t.Logf("%+v %v, %v to %v", r, err, from, to)
	p, _ := w.quiet(&w.base, to*3, -1)
	n := 0
	for i := range 1000 {
		p.Seed = uint64(i)
		c, err := rare.Count(&p, from, 3*to)
		if err != nil {
			t.Fatal(err)
		}
		n += c
	}
	t.Logf("%d in %v hours: %v a year", n, (3*to-from).Hours()*1000, float64(n)/(float64(3*to-from)*1000/year))
}
