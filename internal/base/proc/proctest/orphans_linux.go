package proctest

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// Orphans lists the processes that have marker in the environment they were
// started with, this one included. Processes that have ended and that nobody has
// waited for do not count. It is for tests.
func Orphans(marker string) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var found []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		// A process that cannot be read is another user's, or has just ended.
		env, err := os.ReadFile("/proc/" + entry.Name() + "/environ")
		if err == nil && bytes.Contains(env, []byte(marker)) && isAlive(pid) {
			found = append(found, pid)
		}
	}
	return found, nil
}

// isAlive reads "pid (name) state ...". A name may hold any character.
func isAlive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, found := bytes.Cut(stat[max(0, bytes.LastIndexByte(stat, ')')):], []byte(") "))
	return found && len(state) > 0 && state[0] != 'Z' && state[0] != 'X'
}
