package lease

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// TestSets: what Kubernetes and Patroni take, and the setting next to what they do not.
func TestSets(t *testing.T) {
	t.Parallel()
	a, err := algo.Lookup("election/lease")
	if err != nil {
		t.Fatal(err)
	}
	type params = map[string]any
	for i, c := range []struct {
		set         string
		given, want params // want: what differs
		tuned       string
	}{
		{"kubernetes", nil, nil, "lease_duration"},
		{"openshift", nil, nil, "lease_duration"},
		{"patroni", nil, nil, "ttl"},
		{"kubernetes", params{"lease_duration": 10 * sec}, params{"lease_duration": 10*sec + ms}, "lease_duration"},
		{"kubernetes", params{"retry_period": 9 * sec}, params{"renew_deadline": 10*sec + 801*ms}, "lease_duration"},
		{"patroni", params{"ttl": 26 * sec}, params{"loop_wait": 6 * sec}, "ttl"},
		{"patroni", params{"ttl": 8400 * ms}, params{"ttl": 20 * sec, "loop_wait": sec, "retry_timeout": 9 * sec}, "ttl"},
		{"patroni", params{"loop_wait": 200 * ms, "retry_timeout": 2 * sec}, params{"loop_wait": sec, "retry_timeout": 3 * sec}, "ttl"},
	} {
		set, err := a.Spec.SetOf(c.set)
		if err != nil {
			t.Fatal(err)
		}
		given := maps.Clone(set.Params)
		maps.Copy(given, c.given)
		p, errs := a.Spec.Resolve(given, algo.Network{Nodes: 4, Latency: time.Millisecond, Bounded: true})
		if errs != nil {
			t.Fatal(errs)
		}
		fit, changed := set.Fitted(p)
		got := params{}
		for _, name := range changed {
			got[name] = fit[name]
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("case %d, %s with %v: %v, want %v", i, c.set, c.given, got, c.want)
		}
		if _, again := set.Fitted(fit); again != nil {
			t.Errorf("case %d, %s: what fits is changed again: %v", i, c.set, again)
		}
		if tuned := a.Spec.Tuned(algo.Patience, p); tuned.Name != c.tuned {
			t.Errorf("%s: %s is tuned", c.set, tuned.Name)
		}
	}
}
