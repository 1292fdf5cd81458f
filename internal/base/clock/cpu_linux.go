package clock

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// ReadCPU reads the processors' times from /proc/stat.
func ReadCPU() (CPUTimes, error) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return CPUTimes{}, fmt.Errorf("read processor times: %w", err)
	}
	return parseCPU(stat)
}

// parseCPU reads the first line: "cpu user nice system idle iowait irq softirq
// steal guest guest_nice". The two guest times are part of user and nice.
func parseCPU(stat []byte) (CPUTimes, error) {
	const idle, iowait, steal = 4, 5, 8
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	fields := bytes.Fields(line)
	if len(fields) <= idle || string(fields[0]) != "cpu" {
		return CPUTimes{}, fmt.Errorf("read processor times: /proc/stat: begins with %.80q, "+
			"expected \"cpu\" and at least four numbers", line)
	}
	var t CPUTimes
	for i := 1; i < len(fields) && i <= steal; i++ {
		ticks, err := strconv.ParseUint(string(fields[i]), 10, 64)
		if err != nil {
			return CPUTimes{}, fmt.Errorf("read processor times: /proc/stat: %w", err)
		}
		t.Total += ticks
		if i != idle && i != iowait {
			t.Busy += ticks
		}
		if i == steal {
			t.Stolen = ticks
		}
	}
	return t, nil
}
