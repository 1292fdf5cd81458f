package console

import (
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	long := strings.Repeat("word ", 20)
	path := "/" + strings.Repeat("x", 90)
	for name, c := range map[string]struct{ line, want string }{
		"it fits":        {strings.Repeat("x", 80), strings.Repeat("x", 80)},
		"two columns in": {"  " + long + "end", "  " + long[:74] + "\n    " + long[:25] + "end"},
		"a footnote":     {"[12] " + long, "[12] " + long[:74] + "\n     " + long[:25]},
		"a column":       {"ok       ID   " + long, "ok       ID   " + long[:64] + "\n              " + long[:34]},
		"a path is not broken, and does not begin a line of its own": {"bench: " + path + ": end",
			"bench: " + path + ":\n  end"},
		"a command is not broken": {"this is longer than what a terminal has room for; go on with: " +
			"bench run --resume x --host y, or not", "this is longer than what a terminal has room for; go on with:\n" +
			"  bench run --resume x --host y, or not"},
	} {
		if got := Fold(c.line); strings.TrimRight(got, " ") != strings.TrimRight(c.want, " ") {
			t.Errorf("%s:\n%q, want\n%q", name, got, c.want)
		}
	}
}

// TestTable_Fits: a table that is wider than a terminal is parted, and every part tells its rows.
func TestTable_Fits(t *testing.T) {
	for name, keys := range map[string][]string{
		"short keys": {"bully", "3"},
		"long keys":  {strings.Repeat("bully-", 6), strings.Repeat("3", 30)},
	} {
		var text strings.Builder
		tab := &Table{}
		for _, head := range []string{"algorithm", "nodes", "first", "second", "third"} {
			tab.Column(head, false)
		}
		tab.Keyed(2)
		tab.Add(append(keys, strings.Repeat("a", 30), strings.Repeat("b", 30), strings.Repeat("c", 30))...)
		tab.Write(&text)
		narrow(t, text.String())
		parts := strings.Split(strings.TrimSpace(text.String()), "\n\n")
		if len(parts) < 2 {
			t.Errorf("%s: not parted:\n%s", name, &text)
		}
		for _, part := range append(keys, "first", "second", "third", "aaa", "bbb", "ccc") {
			if !strings.Contains(text.String(), part) {
				t.Errorf("no %q in:\n%s", part, &text)
			}
		}
		for _, part := range parts {
			if key := strings.Fields(strings.Split(part, "\n")[1])[0]; key != keys[0] && key != "1" {
				t.Errorf("%s: a part whose rows nothing tells apart:\n%s", name, part)
			}
		}
	}
}

// TestTable_Common: what all rows of a wide table have in common is said once; a table that fits
// stays as it is.
func TestTable_Common(t *testing.T) {
	var text strings.Builder
	tab := &Table{}
	for _, head := range []string{"algorithm", "figure", "n", "trials"} {
		tab.Column(head, false)
	}
	for _, name := range []string{"bully", "raft"} {
		tab.Add(name, strings.Repeat(name, 4), "10", "ok 10")
	}
	if tab.Write(&text); strings.Contains(text.String(), "all: ") {
		t.Errorf("a narrow table is shortened:\n%s", &text)
	}
	for i := range tab.Rows {
		tab.Rows[i][1] = strings.Repeat(tab.Rows[i][0]+"-", 12)
	}
	text.Reset()
	tab.Write(&text)
	if !strings.Contains(text.String(), "all: n 10, trials ok 10\n") {
		t.Errorf("no common part in:\n%s", &text)
	}
	if strings.Count(text.String(), "\n") != 4 {
		t.Errorf("want a head, two rows and what they share:\n%s", &text)
	}
}

// narrow fails if a line of text is wider than a terminal, and could be broken.
func narrow(t testing.TB, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if Fold(line) != line {
			t.Errorf("%d columns: %s", Width(line), line)
		}
	}
}

// TestTable_Widths: a table that is too wide loses first the columns that do not vary, also those that tell rows
// apart, and is parted only if that is not enough. Where there is room it stays whole.
func TestTable_Widths(t *testing.T) {
	table := func(most int) string {
		tab := &Table{Most: most}
		for _, head := range []string{"algorithm", "latency", "nodes", "figure", "loss", "trials"} {
			tab.Column(head, false)
		}
		tab.Keyed(3)
		tab.Add("bully", "constant 5 ms", "3", "38 [37, 39]", "0", "ok 10")
		tab.Add("raft", "constant 5 ms", "5", "138 [137, 139]", "0", "ok 9, invalid 1")
		var text strings.Builder
		tab.Write(&text)
		return text.String()
	}
	for most, want := range map[int]string{
		80: `algorithm  latency        nodes  figure          loss  trials
bully      constant 5 ms  3      38 [37, 39]     0     ok 10
raft       constant 5 ms  5      138 [137, 139]  0     ok 9, invalid 1
`,
		60: `all: latency constant 5 ms, loss 0
algorithm  nodes  figure          trials
bully      3      38 [37, 39]     ok 10
raft       5      138 [137, 139]  ok 9, invalid 1
`,
		40: `all: latency constant 5 ms, loss 0
algorithm  nodes  figure
bully      3      38 [37, 39]
raft       5      138 [137, 139]

algorithm  nodes  trials
bully      3      ok 10
raft       5      ok 9, invalid 1
`,
	} {
		if got := table(most); got != want {
			t.Errorf("%d columns:\n%swant\n%s", most, got, want)
		}
	}
}
