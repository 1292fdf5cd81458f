package view

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestRemedyFor: each reason has the remedy of its cause, and only what a machine can do better is blamed on it.
func TestRemedyFor(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"a time between host1 and host3 is known only to 4.6ms (limit 2ms): the network between them is too slow": "use the latency",
		"the clock of host3: its answers contradict each other: one of the two clocks was changed":                "let time services",
		"p2 got message 3 of p1 1ms before it was sent, by clocks that are known to 9µs: one was changed":         "let time services",
		"the agent on host2 died: SIGKILL":                                                                  "look at that machine",
		"the clock of host2: no answer from it for 5s: EOF":                                                 "look at that machine",
		"the clock of host2: no answer from it for 5s: i/o timeout; a firewall may drop what is sent there": "open the ports",
		"host2: silent routes to other hosts cut off by the bus: 2":                                         "use a network",
		"node p2 was not ready: etcd, server 1, is not ready: etcd has ended: exit code 1":                  "see what it wrote",
		"telemetry of p4 is full: shorten the trial":                                                        "shorten",
		"the machine was late: 83 % of latency_achieved_ms is lateness":                                     "use fewer nodes or an idle machine",
		"": "use fewer nodes or an idle machine",
	} {
		if got := RemedyFor(reason); !strings.HasPrefix(got.Do, want) || got.Cause == "" {
			t.Errorf("%s: %+v, want %q", reason, got, want)
		}
	}
}

// TestRemedies_Reasons: what a reason is known by is part of one that the code gives.
func TestRemedies_Reasons(t *testing.T) {
	t.Parallel()
	var code strings.Builder
	for _, folder := range []string{"../../worlds/host", "../../runs/work", "../../base/clock",
		"../../../systems/service/servers"} {
		err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			code.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	whole := strings.Join(strings.FieldsFunc(code.String(), func(r rune) bool { return r == '\n' || r == '\t' }), "")
	whole = strings.ReplaceAll(whole, `" +"`, "") + syscall.ENOSPC.Error()
	for _, r := range remedies {
		if !strings.Contains(whole, r.part) {
			t.Errorf("no reason has %q", r.part)
		}
	}
}
