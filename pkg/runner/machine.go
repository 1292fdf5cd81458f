package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/conclave-bench/conclave/internal/host"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// A machine runs trials on real nodes: this process, or a host program.
type machine interface {
	Baseline() (map[string]any, error)
	Run(context.Context, *harness.Setup, trace.Sink) (harness.End, host.Quality, error)
	Close()
}

var (
	_ machine = (*host.Machine)(nil)
	_ machine = (*host.Remote)(nil)
)

// newMachine is the one that o asks for; cfg says how large. The site is that of the
// host program; nil if this process is the host.
func newMachine(ctx context.Context, e *experiment.Experiment, o Options, cfg host.MachineConfig) (
	machine, *results.Site, error) {
	if len(o.Host) > 0 {
		m, err := host.NewRemote(ctx, o.Host, cfg)
		if err != nil {
			return nil, nil, err
		}
		site := &results.Site{}
		if err := json.Unmarshal(m.About(), site); err != nil {
			m.Close()
			return nil, nil, fmt.Errorf("start host: what it says of itself: %w", err)
		}
		return m, site, nil
	}
	b := e.Bus
	cfg.Exe, cfg.NodeArgs, cfg.BusArgs = o.Exe, o.NodeArgs, o.BusArgs
	cfg.External = bus.DialConfig{URL: b.URL, CredentialsFile: b.Credentials, CAFile: b.TLS.CA,
		CertFile: b.TLS.Cert, KeyFile: b.TLS.Key}
	m, err := host.NewMachine(cfg)
	if err != nil { // a nil *host.Machine is no nil machine
		return nil, nil, err
	}
	return m, nil, nil
}

// otherProgram warns where the host may run other code than this process: its
// algorithms are then not those that the judge believes to see.
func otherProgram(ours, theirs results.Tool) []string {
	switch {
	case ours.Binary == theirs.Binary && ours.Binary != "",
		ours.Commit == theirs.Commit && ours.Commit != "" && !ours.Dirty && !theirs.Dirty:
		return nil
	case ours.Commit == theirs.Commit:
		return []string{"it is not known whether the host runs the same program as bench: build both from " +
			"the same commit, without uncommitted changes"}
	}
	return []string{fmt.Sprintf("the host runs another program than bench: it was built from commit %.12s, "+
		"bench from %.12s; build both from the same one", cmp.Or(theirs.Commit, "unknown"),
		cmp.Or(ours.Commit, "unknown"))}
}
