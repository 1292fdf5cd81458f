package guard

import "golang.org/x/sys/unix"

// physical is how much memory this machine has.
func physical() uint64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return n
}

// refuse is not possible on this system: the guard looks.
func refuse(uint64) {}
