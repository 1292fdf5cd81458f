package compare

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conclave-bench/conclave/internal/answers/answer"
)

// TestDistributions: the answer has the quantiles of both, the share above a bound with its interval, their
// distance and a picture; a trial that timed out counts as longer than all others.
func TestDistributions(t *testing.T) {
	t.Parallel()
	const rest = "3,sim,%s,,1,true,1,1,%d,9,9,0,0,0,9,0,,,%d,0\n"
	text := "trial,cell,repetition,round,run_order,seed,problem,algorithm,label,nodes,transport,status,reason,attempts," +
		"in_model,operations,completed,duration_ms,messages,delivered,lost,duplicated,undeliverable,bytes," +
		"detector_messages,late_share,sched_delay_p99_ms,downtime_ms,never_recovered\n"
	for i := range 40 {
		status := "ok"
		if i == 39 {
			status = "timeout"
		}
		text += fmt.Sprintf("%d,1,%d,1,%d,%d,election,election/raft,raft,"+rest, 2*i+1, i+1, 2*i+1, i+1, "ok", 99, 10+i) +
			fmt.Sprintf("%d,2,%d,1,%d,%d,election,election/bully,bully,"+rest, 2*i+2, i+1, 2*i+2, i+1, status, 99, 20+i)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "trials.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	q := Usual()
	q.Distribution, q.Above, q.Figures = true, "39ms", filepath.Join(dir, "figures")
	d, err := Distributions(file, "raft", "bully", q)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := answer.Named("text").Write(&out, d); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"raft", "25.0%", "50.0%", "up to 0.250 apart [0.000, 0.718]", "distribution-downtime_ms.svg"} {
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), want) {
			t.Errorf("%q is missing in:\n%s", want, out.String())
		}
	}
	for _, ending := range []string{"svg", "pdf", "png"} {
		if info, err := os.Stat(filepath.Join(q.Figures, "distribution-downtime_ms."+ending)); err != nil || info.Size() == 0 {
			t.Errorf("no picture: %v", err)
		}
	}
	p := Usual()
	p.Above = "1s"
	if _, err := p.Options(); err == nil || err.Error() != "--above 1s needs --distribution" {
		t.Errorf("without --distribution: %v", err)
	}
	for above, want := range map[string]string{"soon": "--above soon: expected a duration, as 163s", "-1s": "--above -1s"} {
		q.Above = above
		if _, err := Distributions(file, "raft", "bully", q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("above %s: %v", above, err)
		}
	}
}

// TestSamples: of several runs, each distribution is compared with the last, with the ratio of the medians; a run
// or an algorithm that is not there is named.
func TestSamples(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	made := func(name, label string, least int) string {
		text := "trial,cell,repetition,round,run_order,seed,problem,algorithm,label,nodes,transport,status,reason,attempts," +
			"in_model,operations,completed,duration_ms,messages,delivered,lost,duplicated,undeliverable,bytes," +
			"detector_messages,late_share,sched_delay_p99_ms,downtime_ms,never_recovered\n"
		for i := range 40 {
			text += fmt.Sprintf("%d,1,%d,1,%d,%d,election,election/raft,%s,3,sim,ok,,1,true,1,1,99,9,9,0,0,0,9,0,,,%d,0\n",
				i+1, i+1, i+1, i+1, label, least+i)
		}
		file := filepath.Join(dir, name+".csv")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file + ":" + label
	}
	args := []string{made("predicted", "raft-etcd", 100), made("library", "etcd-node", 300), made("real", "etcd", 100)}
	q := Usual()
	q.Distribution = true
	d, err := Samples(args, q)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := answer.Named("text").Write(&out, d); err != nil {
		t.Fatal(err)
	}
	words := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"of raft-etcd and etcd are up to 0.000 apart", "of etcd-node and etcd are up to 1.000 apart",
		"the median of raft-etcd is 1.000 [", "the median of etcd-node is 2.674 ["} {
		if !strings.Contains(words, want) {
			t.Errorf("%q is missing in:\n%s", want, out.String())
		}
	}
	for arg, want := range map[string]string{"nowhere": "expected a run and the label",
		filepath.Join(dir, "real.csv") + ":raft": `unknown algorithm "raft"`, filepath.Join(dir, "no.csv") + ":etcd": "no.csv"} {
		if _, err := Samples([]string{args[0], arg}, q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", arg, err, want)
		}
	}
}
