package etcd

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/commands/advise"
	"github.com/conclave-bench/conclave/pkg/algo"
	_ "github.com/conclave-bench/conclave/plugins/election/raft"
	"github.com/conclave-bench/conclave/systems/service"
	"github.com/conclave-bench/conclave/systems/service/servers"
	"github.com/conclave-bench/conclave/systems/service/servicetest"
)

// programs are the servers that the tests start: the one that is installed, and, where slow tests run, the
// current one, which the module in folder current names.
func programs(t *testing.T) map[string]string {
	t.Helper()
	servicetest.Need(t, &System{})
	path, err := service.Find("etcd", "etcd-server")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{"installed": path}
	if os.Getenv("CI") != "true" && os.Getenv("CONCLAVE_SLOW") == "" {
		t.Log("the current server is not built: CONCLAVE_SLOW=1 does")
		return out
	}
	built := filepath.Join(t.TempDir(), "etcd")
	c := exec.CommandContext(t.Context(), "go", "build", "-o", built, "go.etcd.io/etcd/server/v3")
	c.Dir, c.Env = "current", append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("the current server: %v: %s", err, text)
	}
	out["current"] = built
	return out
}

// advised are the lines of the settings that bench advise writes for etcd in its three networks, and those of
// the shortest and the longest settings that it may choose.
func advised(t *testing.T) map[string][]algo.Line {
	t.Helper()
	all := advise.Subjects()
	set := all[slices.IndexFunc(all, func(s advise.Subject) bool { return s.Set.Name == "etcd" })]
	out := map[string][]algo.Line{}
	for _, trip := range []time.Duration{2 * time.Millisecond, 12 * time.Millisecond, 90 * time.Millisecond} {
		d, _, err := advise.Answer(t.Context(), &advise.Request{System: "etcd", Nodes: 3, RoundTrip: trip,
			Jitter: -1, Away: -1, Clocks: -1, Messages: 1, Seed: 1, Loss: 0.001, Effort: advise.Effort{
				Outages: 1000, Paths: 60, Replications: 3, Search: 40, Levels: 10, Lengths: 4}})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range d.Blocks {
			if table, is := b.(*answer.Table); is && table.Name == "lines" {
				for _, row := range table.Rows {
					of := fmt.Sprintf("%v for %v", row[0], trip)
					out[of] = append(out[of], algo.Line{Into: row[1].(string), Text: row[2].(string)})
				}
			}
		}
	}
	base, errs := set.Algorithm.Spec.Resolve(set.Set.Params, algo.Network{Nodes: 3, Latency: time.Millisecond})
	if errs != nil {
		t.Fatal(errs)
	}
	for _, c := range [][2]time.Duration{{time.Millisecond, time.Millisecond}, {3 * time.Millisecond, time.Hour},
		{777 * time.Millisecond, 5 * time.Second}, {20 * time.Second, time.Second}} {
		fit, _ := set.Set.Fitted(set.Choose(base, c[0], c[1], 0))
		lines := set.Write(fit)
		out[lines[0].Text] = lines
	}
	return out
}

// TestAdvice: every form of the lines that bench advise writes is accepted at startup: the server then listens.
// What breaks the rule that the set declares is refused.
func TestAdvice(t *testing.T) {
	for name, path := range programs(t) {
		t.Run(name, func(t *testing.T) {
			for of, lines := range advised(t) {
				if len(lines) != 3 {
					t.Errorf("%s: %d forms, want flags, environment and a file", of, len(lines))
				}
				for i, line := range lines {
					if err := starts(t, path, i, line.Text); err != nil {
						t.Errorf("%s, as %s: %v", of, line.Into, err)
					}
				}
			}
			if err := starts(t, path, 0, "--heartbeat-interval=100 --election-timeout=354"); err == nil ||
				!strings.Contains(err.Error(), "5 times") {
				t.Errorf("a time-out of less than five heartbeats: %v", err)
			}
		})
	}
}

// starts starts a cluster of one server with a line as flags (form 0), as its environment (1), or in its
// configuration file (2), and waits until it listens.
func starts(t *testing.T, path string, form int, line string) error {
	t.Helper()
	cluster, err := servers.NewCluster(&System{}, 1, t.TempDir(), service.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = cluster.Close() }()
	m := cluster.Member(0)
	args := slices.Clone((&System{}).Commands(m)[0].Args)
	for _, own := range []string{"--heartbeat-interval", "--election-timeout"} { // that are said once
		if i := slices.Index(args, own); i >= 0 {
			args = slices.Delete(args, i, i+2)
		}
	}
	c := exec.CommandContext(t.Context(), path, args...)
	switch form {
	case 0:
		c.Args = append(c.Args, strings.Fields(line)...)
	case 1:
		c.Env = append(os.Environ(), strings.Split(line, "\n")...)
	case 2:
		c.Args, err = append(c.Args[:1], "--config-file", filepath.Join(m.Folder, "etcd.yaml")), nil
		var text strings.Builder
		for pair := range slices.Chunk(args, 2) {
			value := fmt.Sprintf("%q", pair[1])
			if pair[0] == "--log-outputs" {
				value = "[" + value + "]"
			}
			fmt.Fprintf(&text, "%s: %s\n", strings.TrimPrefix(pair[0], "--"), value)
		}
		text.WriteString(line + "\n")
		err = os.WriteFile(filepath.Join(m.Folder, "etcd.yaml"), []byte(text.String()), 0o600)
	}
	if err != nil {
		return err
	}
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	// It listens once it has accepted its settings. That it elects itself takes up to twice 50 s.
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	for {
		select {
		case <-ended:
			return fmt.Errorf("it has ended: %s", &said)
		case <-ctx.Done():
			err = ctx.Err()
		case <-time.After(10 * time.Millisecond):
			conn, refused := net.Dial("tcp", netip.AddrPortFrom(m.Addr, peerPort).String())
			if refused != nil {
				continue
			}
			_ = conn.Close()
		}
		_ = c.Process.Kill()
		<-ended
		return err
	}
}
