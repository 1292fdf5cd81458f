package twin

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
)

// TestHandlingOf: what an algorithm's handlers take for a message is their time in a run on real nodes
// over its messages. Without such figures, or with those of several algorithms, there is none.
func TestHandlingOf(t *testing.T) {
	t.Parallel()
	f, err := os.Open(filepath.Join("..", "..", "..", "results", "reference", "elections", "trials.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	label, delivered := slices.Index(rows[0], "label"), slices.Index(rows[0], "delivered")
	column := slices.Index(rows[0], "handling_ms")
	if column < 0 {
		column = len(rows[0])
		rows[0] = append(rows[0], "handling_ms")
	}
	write := func(name string, took map[string]float64) string { // us a message, by label
		path := filepath.Join(t.TempDir(), name)
		out, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		w := csv.NewWriter(out)
		_ = w.Write(rows[0]) // Flush says so
		for _, row := range rows[1:] {
			cell := ""
			if us, real := took[row[label]]; real {
				n, _ := strconv.Atoi(row[delivered])
				cell = fmt.Sprint(float64(n) * us / 1000)
			}
			_ = w.Write(append(slices.Clone(row[:column]), append([]string{cell}, row[min(column+1, len(row)):]...)...))
		}
		if w.Flush(); w.Error() != nil {
			t.Fatal(w.Error())
		}
		return path
	}
	two := write("two.csv", map[string]float64{"bully": 3, "ring-list": 4.5})
	for _, test := range []struct {
		run, label string
		want       time.Duration
		wrong      string
	}{
		{write("one.csv", map[string]float64{"bully": 3}), "", 3 * time.Microsecond, ""},
		{two, "ring-list", 4500 * time.Nanosecond, ""},
		{two, "", 0, "has several algorithms (bully, ring-list): say which with --label"},
		{two, "raft", 0, `has no trial of "raft" on real nodes`},
		{write("none.csv", nil), "", 0, "has no trial on real nodes"},
	} {
		got, err := HandlingOf(test.run, test.label)
		if got != test.want || (err == nil) != (test.wrong == "") ||
			err != nil && (!strings.Contains(err.Error(), test.wrong) || answer.ExitOf(err) != answer.Usage) {
			t.Errorf("%s %q: %v, %v, want %v, %q", filepath.Base(test.run), test.label, got, err, test.want, test.wrong)
		}
	}
}
