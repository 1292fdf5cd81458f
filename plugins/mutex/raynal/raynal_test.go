package raynal_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	_ "github.com/conclave-bench/conclave/plugins/mutex/raynalmodified"
	_ "github.com/conclave-bench/conclave/plugins/mutex/raynaloriginal"
)

// TestAttributes: both forms refuse numbers A that have a factor in common, or are 1.
func TestAttributes(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"mutex/raynal-original", "mutex/raynal-modified"} {
		alg := algotest.Lookup(t, id)
		for _, c := range []struct {
			a    []any
			want string
		}{
			{[]any{int64(4), int64(9), int64(25)}, "<nil>"},
			{[]any{int64(0), int64(0), int64(0)}, "<nil>"},
			{[]any{int64(4), int64(1), int64(25)}, "a of process 2 is 1"},
			{[]any{int64(9), int64(4), int64(6)},
				"a of processes 1 and 3, 9 and 6, have a common factor"},
			{[]any{int64(7), int64(0), int64(0)},
				"a of processes 1 and 3, 7 and 7, have a common factor"},
		} {
			net := algo.Network{Nodes: 3, Latency: time.Millisecond}
			params, errs := alg.Spec.Resolve(map[string]any{"a": c.a}, net)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			if got := fmt.Sprint(alg.Spec.Needs.Params(net, params.Of(1))); got != c.want {
				t.Errorf("%s: a = %v: %s, want %s", id, c.a, got, c.want)
			}
		}
	}
}
