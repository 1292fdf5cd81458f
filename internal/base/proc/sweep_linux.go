package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// adopt makes orphans among the descendants of this process its children, instead of those
// of the first process of the system: so they can be found.
var adopt = sync.OnceFunc(func() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // a kernel without it leaves them alone
})

// sweep ends what a child that has ended has left behind, which has its trail in its
// environment and has become a child of this process. What such a process leaves itself
// is found in the next round.
func sweep(trail string) {
	for range 1000 { // a plugin that forks faster than it can be killed is not ours to win
		left := adopted(trail)
		for _, pid := range left {
			_ = unix.Kill(pid, unix.SIGKILL) // a child that nobody has waited for: its number is its own
			for {
				if _, err := unix.Wait4(pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
					break
				}
			}
		}
		if len(left) == 0 {
			return
		}
	}
}

// adopted are the children of this process that have a trail, or one that begins with it.
func adopted(trail string) (found []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || parent(pid) != os.Getpid() {
			continue
		}
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil {
			continue
		}
		for setting := range bytes.SplitSeq(env, []byte{0}) {
			rest, ok := bytes.CutPrefix(setting, []byte(trail))
			if ok && (len(rest) == 0 || rest[0] == '.') {
				found = append(found, pid)
			}
		}
	}
	return found
}

// parent is the parent of a process; 0: it is gone. It reads "pid (name) state parent ...",
// where a name may hold any character.
func parent(pid int) (id int) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil {
		_, rest, _ := bytes.Cut(stat[max(0, bytes.LastIndexByte(stat, ')')):], []byte(") "))
		_, _ = fmt.Sscanf(string(rest), "%c %d", new(rune), &id) // 0 then
	}
	return id
}
