package runner

import (
	"slices"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/experiment"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/metric"
)

// TestHeader_Wire: runs with a wire, if only in some cells, have the columns about packets, and others none.
func TestHeader_Wire(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"":                      false,
		"network: {wire: true}": true,
		"sweep: [{vary: network.wire, over: [false, true]}]": true,
	} {
		e, err := experiment.Parse("x.yaml", []byte("algorithms: [election/bully]\ntransport: nats\n"+text+"\n"),
			experiment.Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*metric.Metric{metric.Packets, metric.PacketsLost, metric.PacketsMissed,
			metric.PacketDelayP50, metric.PacketDelayP99, metric.PacketDelayMax} {
			if got := slices.Contains(Header(e, nil).Metrics, m.Name); got != want {
				t.Errorf("%q: column %s: %v, want %v", text, m.Name, got, want)
			}
		}
	}
}

// TestPackets: each figure stands in its column, and times are in microseconds.
func TestPackets(t *testing.T) {
	t.Parallel()
	got := packets(&harness.Packets{Sent: 1, Lost: 2, Missed: 3, DelayP50: 4 * time.Microsecond,
		DelayP99: 5 * time.Microsecond, DelayMax: 6500})
	want := map[string]float64{"packets": 1, "packets_lost": 2, "packets_missed": 3, "packet_delay_p50_us": 4,
		"packet_delay_p99_us": 5, "packet_delay_max_us": 6.5}
	if len(got) != len(want) {
		t.Errorf("%d figures, want %d", len(got), len(want))
	}
	for _, v := range got {
		if v.Value != want[v.Name] {
			t.Errorf("%s: %v, want %v", v.Name, v.Value, want[v.Name])
		}
	}
}
