package lease

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

const (
	ms  = time.Millisecond
	sec = time.Second
)

// sets are the settings of systems that lead by leases on a record.
func sets() []algo.Set {
	return []algo.Set{
		{Name: "kubernetes", Doc: "Kubernetes' control plane: a lease of 15 s, renewed every 2 s",
			Params: durations(15*sec, 10*sec, 2*sec),
			Source: "Kubernetes 1.34: --leader-elect-lease-duration 15s, " +
				"--leader-elect-renew-deadline 10s and --leader-elect-retry-period 2s " +
				"(k8s.io/component-base/config); client-go 0.34, tools/leaderelection.",
			Differs: clientDiffers, Demands: clientDemands, Fit: fitClient,
			System: clientSystem(kubernetesLines)},
		{Name: "openshift", Doc: "OpenShift's operators: a lease of 137 s, renewed every 26 s",
			Params: durations(137*sec, 107*sec, 26*sec),
			Source: "github.com/openshift/library-go, pkg/config/leaderelection: 137, 107 and 26 " +
				"s; client-go 0.34, tools/leaderelection.",
			Differs: clientDiffers, Demands: clientDemands, Fit: fitClient,
			System: clientSystem(openshiftLines)},
		{Name: "patroni", Doc: "Patroni: a ttl of 30 s, a cycle every 10 s",
			Params: map[string]any{"rule": "ttl", "ttl": 30 * sec, "loop_wait": 10 * sec,
				"retry_timeout": 10 * sec, "watch": true},
			Source: "Patroni 4.0: ttl 30, loop_wait 10 and retry_timeout 10 (patroni/config.py). Between " +
				"cycles a member watches the leader's key, in etcd, Consul, ZooKeeper and Kubernetes " +
				"(patroni/dcs, watch).",
			Differs: "Before a member takes the lead it asks the others how far their logs are. Failsafe " +
				"mode and watchdog are missing. Without a watch is watch: false.",
			Demands: "Times are whole seconds, loop_wait >= 1s, retry_timeout >= 3s, ttl >= 20s " +
				"and loop_wait + 2 retry_timeout <= ttl; Patroni adjusts what is not (config.py, " +
				"_validate_and_adjust_timeouts).",
			Fit: fitPatroni, System: patroniSystem()},
	}
}

const (
	clientDiffers = "A client whose request fails sends the next one within the same renewal. A client " +
		"that has lost the lease ends, and its pod starts it again."
	clientDemands = "lease_duration > renew_deadline > 1.2 retry_period " +
		"(leaderelection.go, NewLeaderElector)."
)

func durations(lease, renew, retry time.Duration) map[string]any {
	return map[string]any{"rule": "renew", "lease_duration": lease, "renew_deadline": renew,
		"retry_period": retry}
}

func fitClient(p algo.Params) map[string]any {
	retry := max(p.Duration("retry_period"), ms)
	renew := p.Duration("renew_deadline")
	if renew*10 <= retry*12 {
		renew = retry*12/10 + ms
	}
	return durations(max(p.Duration("lease_duration"), renew+ms), renew, retry)
}

func fitPatroni(p algo.Params) map[string]any {
	whole := func(name string, least time.Duration) time.Duration {
		return max((p.Duration(name) + sec/2).Truncate(sec), least)
	}
	ttl, loop, retry := whole("ttl", 20*sec), whole("loop_wait", sec), whole("retry_timeout", 3*sec)
	if loop+2*retry > ttl { // in Patroni's order
		if loop = ttl - 2*retry; loop < sec {
			loop, retry = sec, ((ttl - sec) / 2).Truncate(sec)
		}
	}
	return map[string]any{"rule": "ttl", "ttl": ttl, "loop_wait": loop, "retry_timeout": retry}
}
