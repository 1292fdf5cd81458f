package experiment

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/link"
)

const answers = "PING a (10.0.0.1) 56(84) bytes of data.\n64 bytes from a: icmp_seq=1 ttl=57 time=4.0 ms\n" +
	"64 bytes from a: icmp_seq=3 ttl=57 time=8.0 ms\n"

// pinged is an experiment in a folder with records in folders below it.
func pinged(t *testing.T, latency string, records map[string]string) (*Experiment, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range records {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "x.yaml")
	text := "problem: election\nnodes: 3\ntransport: sim\nalgorithms: [bully]\nnetwork:\n  " + latency + "\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return Load(path, Overrides{})
}

// TestPings_Folder: a file for each pair, whose missing direction is as the other. The loss of the record is the loss that was
// asked for, and an algorithm that survives none leaves its model.
func TestPings_Folder(t *testing.T) {
	t.Parallel()
	e, err := pinged(t, "latency: {distribution: recorded, every: 1s, file: pings}", map[string]string{
		"pings/1-2.txt": answers, "pings/2-1.txt": "7ms\nlost\n9ms\n", "pings/3-1.txt": answers, "pings/2-3.txt": "5\n",
		"pings/.hidden": "x", "pings/4-1.txt": "1ms\n"})
	if err != nil {
		t.Fatal(err)
	}
	two, four := 2*time.Millisecond, 4*time.Millisecond
	want := []link.Pair{{From: 1, To: 2, Values: []time.Duration{two, link.Lost, four}},
		{From: 1, To: 3, Values: []time.Duration{two, link.Lost, four}}, {From: 1, To: 4, Values: []time.Duration{two / 2}},
		{From: 2, To: 1, Values: []time.Duration{7e6, link.Lost, 9e6}}, {From: 2, To: 3, Values: []time.Duration{5e6}},
		{From: 3, To: 1, Values: []time.Duration{two, link.Lost, four}}, {From: 3, To: 2, Values: []time.Duration{5e6}},
		{From: 4, To: 1, Values: []time.Duration{two / 2}}}
	p := &e.Cells[0].Plan
	same := func(a, b link.Pair) bool { return a.From == b.From && a.To == b.To && slices.Equal(a.Values, b.Values) }
	if !slices.EqualFunc(p.Network.Latency.Law.(*link.Recorded).Pairs, want, same) {
		t.Errorf("%+v", p.Network.Latency.Law.(*link.Recorded).Pairs)
	}
	for _, f := range e.Cells[0].Design {
		if f.Name == "loss" && f.Value != "0.166666667" {
			t.Errorf("loss %s", f.Value)
		}
	}
	if p.InModel || !strings.Contains(strings.Join(e.Notes, "\n"), "loss") {
		t.Errorf("in its model: %v, notes %q", p.InModel, e.Notes)
	}
	text, err := e.Resolved()
	if err != nil || !strings.Contains(string(text), "values: [2ms, lost, 4ms]") {
		t.Fatalf("%v\n%s", err, text)
	}
	again, err := Parse("again.yaml", text, Overrides{})
	if err != nil || !slices.EqualFunc(again.Cells[0].Plan.Network.Latency.Law.(*link.Recorded).Pairs, want, same) {
		t.Errorf("the resolved copy: %v", err)
	}
}

// TestPings_Links: a link may have a record of its own, in a file or as values.
func TestPings_Links(t *testing.T) {
	t.Parallel()
	e, err := pinged(t, "links: [{links: [[1, 2]], latency: {distribution: recorded, every: 1s, file: p.txt}}]",
		map[string]string{"p.txt": answers})
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Cells[0].Plan.Network.Links[0].Latency.Law.(*link.Recorded).Values; !slices.Equal(got, []time.Duration{2e6, link.Lost, 4e6}) {
		t.Errorf("%v", got)
	}
}

// TestPings_Refused: what is wrong with records is said by file and line, with a remedy.
func TestPings_Refused(t *testing.T) {
	t.Parallel()
	const folder = "latency: {distribution: recorded, every: 1s, file: pings}"
	good := map[string]string{"pings/1-2.txt": answers, "pings/1-3.txt": answers, "pings/2-3.txt": answers}
	for name, c := range map[string]struct {
		latency string
		records map[string]string
		want    string
	}{
		"an empty folder": {folder, map[string]string{"pings/.x": ""},
			"x.yaml:6: network.latency.file: pings: no records in this folder: expected one for each pair, as 1-2.txt"},
		"another name": {folder, map[string]string{"pings/1-2.txt": answers, "pings/notes.md": "x"},
			"pings: notes.md: expected files that are called by two processes, as 1-2.txt"},
		"a process and itself": {folder, map[string]string{"pings/2-2.txt": answers}, "2-2.txt: expected files that are called by two"},
		"a process 0":          {folder, map[string]string{"pings/0-2.txt": answers}, "0-2.txt: expected files that are called by two"},
		"a missing pair": {folder, map[string]string{"pings/1-2.txt": answers, "pings/1-3.txt": answers},
			"network.latency: no record from 2 to 3, and 3 processes need one: add a file 2-3.txt, or run fewer nodes"},
		"more nodes": {folder + "\nsweep: [{vary: nodes, over: [3, 5]}]", good,
			"network.latency: no record from 1 to 4, and 5 processes need one: add a file 1-4.txt, or run fewer nodes"},
		"a broken record": {folder, map[string]string{"pings/1-2.txt": answers + "2 packets transmitted, 1 received\n"},
			"pings: 1-2.txt: the summary says 2 sent and 1 received, but 3 numbers are in it, and 2 answers: it is not whole"},
		"a folder of a link": {"links: [{links: [[1, 2]], latency: {distribution: recorded, every: 1s, file: pings}}]", good,
			"a record for each pair is for network.latency alone: expected one record"},
		"two of them": {"latency: {distribution: recorded, every: 1s, file: pings, values: [1ms]}", good,
			"values and pairs: leave one of them out"},
		"places of a link": {"links: [{links: [[1, 2]], latency: {distribution: cities}}]", nil,
			"cities is for network.latency alone"},
	} {
		if _, err := pinged(t, c.latency, c.records); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
}
