//go:build linux || darwin

package proc

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// RaiseFileLimit makes sure that this process may have need files open at once,
// and returns how many it may have.
func RaiseFileLimit(need uint64) (have uint64, err error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("read limit of open files: %w", err)
	}
	if have = limit.Cur; have >= need {
		return have, nil
	}
	// A system may allow less than the hard limit that it names.
	for _, wanted := range []uint64{limit.Max, need} {
		raised := unix.Rlimit{Cur: wanted, Max: limit.Max}
		if wanted <= limit.Max && unix.Setrlimit(unix.RLIMIT_NOFILE, &raised) == nil {
			have = wanted
			break
		}
	}
	if have < need {
		return have, fmt.Errorf("limit of open files: %d needed, %d allowed (hard limit %d): raise "+
			"it with \"ulimit -Hn %d\" as root, LimitNOFILE= (systemd) or --ulimit nofile= (docker), "+
			"or use fewer nodes", need, have, limit.Max, need)
	}
	return have, nil
}
