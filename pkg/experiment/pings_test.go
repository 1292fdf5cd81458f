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

// TestPings_Network: a folder of pings, or a table, is the network; the resolved copy has it whole.
func TestPings_Network(t *testing.T) {
	t.Parallel()
	const times = "PING a (10.0.0.1) 56(84) bytes of data.\n64 bytes from a: icmp_seq=1 ttl=57 time=4.0 ms\n" +
		"64 bytes from a: icmp_seq=3 ttl=57 time=8.0 ms\n64 bytes from a: icmp_seq=4 ttl=57 time=8.0 ms\n"
	folder := map[string]string{"pings/1-2.txt": times, "pings/1-3.txt": times, "pings/2-3.txt": "5\n6\n"}
	e, err := pinged(t, "recorded: {folder: pings, every: 20ms, block: 40ms}", folder)
	if err != nil {
		t.Fatal(err)
	}
	law := e.Cells[0].Plan.Network.Latency.Law.(*link.Recorded)
	if law.Every != 20*time.Millisecond || law.Block != 40*time.Millisecond || len(law.Pairs) != 6 ||
		!slices.Equal(law.Pairs[0].Values, []time.Duration{2e6, link.Lost, 4e6, 4e6}) {
		t.Errorf("%+v", law)
	}
	text, err := e.Resolved()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("again.yaml", text, Overrides{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if same := again.Cells[0].Plan.Network.Latency.Law.(*link.Recorded); same.Block != law.Block || len(same.Pairs) != 6 {
		t.Errorf("the resolved copy: %+v", same)
	}
	e, err = pinged(t, "recorded: {table: pings.csv}", map[string]string{
		"pings.csv": "at,1-2,1-3,2-3\n0,4,,10\n1,8,6,10\n"})
	if err != nil {
		t.Fatal(err)
	}
	law = e.Cells[0].Plan.Network.Latency.Law.(*link.Recorded)
	if law.Every != time.Second || law.Block != time.Minute || !slices.Equal(law.Pairs[1].Values, []time.Duration{link.Lost, 3e6}) {
		t.Errorf("of a table: %+v", law)
	}
	for want, c := range map[string]struct {
		network string
		records map[string]string
	}{
		"1-2.txt: one delay is no record": {"recorded: {folder: pings}", map[string]string{"pings/1-2.txt": "5\n"}},
		"no record from 2 to 3, and 3 processes need one: add a file 2-3.txt": {"recorded: {folder: pings}",
			map[string]string{"pings/1-2.txt": times, "pings/1-3.txt": times}},
		"line 3, 1-3: -2, expected a round trip in ms above 0": {"recorded: {table: p.csv}", map[string]string{"p.csv": "1-2,1-3\n1,2\n1,-2\n"}},
		"3-3: expected two processes":                          {"recorded: {table: p.csv}", map[string]string{"p.csv": "1-2,3-3\n1,2\n1,2\n"}},
		"and two rows or more":                                 {"recorded: {table: p.csv}", map[string]string{"p.csv": "1-2,1-3\n1,2\n"}},
		"every and block are for pings":                        {"recorded: {every: 1s}", nil},
		"network.latency: with network.recorded":               {"recorded: {folder: pings}\n  latency: 1ms", folder},
	} {
		if _, err := pinged(t, c.network, c.records); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
