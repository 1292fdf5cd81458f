package proc

import (
	"bytes"
	"os"
	"strconv"
)

// OutOfMemoryKills is how many processes the system has ended until now since there was no memory left;
// 0 where it does not say.
func OutOfMemoryKills() uint64 {
	b, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(b, []byte("\noom_kill "))
	number, _, _ := bytes.Cut(rest, []byte("\n"))
	n, _ := strconv.ParseUint(string(number), 10, 64) // 0 then
	return n
}
