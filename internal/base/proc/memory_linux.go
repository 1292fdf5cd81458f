package proc

import (
	"fmt"
	"os"
)

// Memory is what process pid has in memory, in bytes; 0: that is not known.
func Memory(pid int) uint64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	var whole, resident uint64
	if _, err := fmt.Sscan(string(b), &whole, &resident); err != nil {
		return 0
	}
	return resident * uint64(os.Getpagesize())
}
