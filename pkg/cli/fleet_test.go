package cli

import (
	"strings"
	"testing"
)

// TestFleet_Mistakes: each is one sentence with what to do, and touches nothing.
func TestFleet_Mistakes(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	hosts := func(text string) string { return write(t, "hosts.txt", text) }
	for _, c := range []struct {
		want string
		args []string
	}{
		{"expected up, status, logs or down", nil},
		{"expected one list of hosts", []string{"up"}},
		{"no hosts; expected one a line", []string{"up", hosts("# none\n")}},
		{"host a is on line 1 already", []string{"up", hosts("a\na\n")}},
		{"--wait 0s, expected a time", []string{"up", hosts("a"), "--wait", "0s"}},
		{"--price -1, expected a price", []string{"up", hosts("a"), "--price", "-1"}},
		{"--idle -1s, expected a time", []string{"up", hosts("a"), "--idle", "-1s"}},
		{"--ssh \" \", expected a command", []string{"up", hosts("a"), "--ssh", " "}},
		{"no such file", []string{"up", folder + "/none"}},
		{"there is no fleet in", []string{"status"}},
		{"there is no fleet in", []string{"logs"}},
		{"there is no fleet in", []string{"down"}},
	} {
		args := append([]string{"fleet"}, c.args...)
		if len(c.args) > 0 {
			args = append(args, "--folder", folder)
		}
		r := bench(t, args...).want(t, Usage)
		if !strings.Contains(strings.Join(strings.Fields(r.errors), " "), c.want) {
			t.Errorf("%q: %s, want %q", args, r.errors, c.want)
		}
	}
}
