package lease

import (
	"fmt"
	"maps"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// clientSystem is client-go's three durations as a system writes them.
func clientSystem(write func(lease, renew, retry time.Duration) []algo.Line) *algo.System {
	return &algo.System{Beat: "retry_period", Patience: "renew_deadline",
		Checked: "Compared with client-go 0.34, tools/leaderelection, in virtual time: 300 crashes of the " +
			"holder with each of two settings.",
		Real: algo.Real{Algorithm: "election/client-go", Takes: map[string]string{
			"lease_duration": "lease_duration", "renew_deadline": "renew_deadline",
			"retry_period": "retry_period", "t_request": "t_request"}},
		Choose: func(p algo.Params, beat, patience, clocks time.Duration) algo.Params {
			renew, retry := whole(patience), whole(beat)
			out := maps.Clone(p)
			maps.Copy(out, durations(max(renew+clocks, renew+retry+sec), renew, retry))
			out["t_request"] = renew / 2
			return out
		},
		Bears: func(p algo.Params) (store, clocks time.Duration) {
			renew, retry := p.Duration("renew_deadline"), p.Duration("retry_period")
			return max(renew/retry*retry-retry, 0), p.Duration("lease_duration") - renew
		},
		Computed: func(p algo.Params) []algo.Computed {
			lease, renew := p.Duration("lease_duration"), p.Duration("renew_deadline")
			retry := p.Duration("retry_period")
			return []algo.Computed{
				{Name: "clock skew tolerance", Formula: "leaseDuration - renewDeadline",
					Value: lease - renew},
				{Name: "API server downtime tolerance",
					Formula: "floor(renewDeadline / retryPeriod) retryPeriod - retryPeriod",
					Value:   max(renew/retry*retry-retry, 0)},
				{Name: "worst non-graceful lease acquisition", Formula: "leaseDuration + retryPeriod",
					Value: lease + retry, Worst: true},
				{Name: "worst graceful lease acquisition", Formula: "retryPeriod", Value: retry},
			}
		},
		Write: func(p algo.Params) []algo.Line {
			return write(p.Duration("lease_duration"), p.Duration("renew_deadline"),
				p.Duration("retry_period"))
		}}
}

// inGo is the durations in a program that uses client-go.
func inGo(lease, renew, retry time.Duration) algo.Line {
	return algo.Line{Into: "Go, leaderelection.LeaderElectionConfig", Text: fmt.Sprintf(
		"LeaseDuration: %s,\nRenewDeadline: %s,\nRetryPeriod:   %s,", goSeconds(lease), goSeconds(renew),
		goSeconds(retry))}
}

// seconds is d in seconds, if it is whole ones, as systems write it.
func seconds(d time.Duration) string {
	if d%sec == 0 {
		return fmt.Sprintf("%ds", d/sec)
	}
	return d.String()
}

func goSeconds(d time.Duration) string {
	if d%sec == 0 {
		return fmt.Sprintf("%d * time.Second", d/sec)
	}
	return fmt.Sprintf("%d * time.Millisecond", d/ms)
}

func kubernetesLines(lease, renew, retry time.Duration) []algo.Line {
	return []algo.Line{
		{Into: "flags of kube-controller-manager and kube-scheduler", Text: fmt.Sprintf(
			"--leader-elect-lease-duration=%s --leader-elect-renew-deadline=%s "+
				"--leader-elect-retry-period=%s", seconds(lease), seconds(renew), seconds(retry))},
		inGo(lease, renew, retry),
	}
}

func openshiftLines(lease, renew, retry time.Duration) []algo.Line {
	return []algo.Line{
		{Into: "an operator's configuration, configv1.LeaderElection", Text: fmt.Sprintf(
			"leaderElection:\n  leaseDuration: %s\n  renewDeadline: %s\n  retryPeriod: %s", seconds(lease),
			seconds(renew), seconds(retry))},
		inGo(lease, renew, retry),
	}
}

func patroniSystem() *algo.System {
	return &algo.System{Beat: "loop_wait", Patience: "retry_timeout",
		Real: algo.Real{Algorithm: "election/patroni",
			Takes: map[string]string{"heartbeat": "loop_wait", "election_timeout": "ttl"}},
		Choose: func(p algo.Params, beat, patience, _ time.Duration) algo.Params {
			out := maps.Clone(p)
			loop, retry := max(whole(beat), sec), max(whole(patience), 3*sec)
			maps.Copy(out, map[string]any{"ttl": max(loop+2*retry, 20*sec), "loop_wait": loop,
				"retry_timeout": retry})
			return out
		},
		Bears: func(p algo.Params) (store, clocks time.Duration) { return p.Duration("retry_timeout"), -1 },
		Write: func(p algo.Params) []algo.Line {
			ttl, loop := p.Duration("ttl")/sec, p.Duration("loop_wait")/sec
			retry := p.Duration("retry_timeout") / sec
			return []algo.Line{
				{Into: "a shell", Text: fmt.Sprintf(
					"patronictl edit-config --set ttl=%d --set loop_wait=%d --set retry_timeout=%d", ttl,
					loop,
					retry)},
				{Into: "Patroni's dynamic configuration", Text: fmt.Sprintf(
					"ttl: %d\nloop_wait: %d\nretry_timeout: %d", ttl, loop, retry)},
			}
		}}
}

// whole is d in whole seconds, one at least.
func whole(d time.Duration) time.Duration { return max((d + sec/2).Truncate(sec), sec) }
