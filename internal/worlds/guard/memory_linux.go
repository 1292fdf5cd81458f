package guard

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// physical is how much memory this machine has, or the control group that we are in.
func physical() uint64 {
	var kib uint64
	if b, err := os.ReadFile("/proc/meminfo"); err == nil {
		_, _ = fmt.Sscanf(string(b), "MemTotal: %d kB", &kib) // 0 then
	}
	most := kib << 10
	if b, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		group, err := strconv.ParseUint(string(bytes.TrimSpace(b)), 10, 64)
		if err == nil && (most == 0 || group < most) { // else "max"
			most = group
		}
	}
	return most
}

// refuse has the system refuse what jumps far beyond so many bytes in between two looks.
func refuse(bytes uint64) {
	hard := bytes + bytes/4 + 256<<20
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_DATA, &limit) == nil && hard < limit.Max {
		limit.Cur = hard
		_ = unix.Setrlimit(unix.RLIMIT_DATA, &limit) // it may not; the guard looks all the same
	}
}
