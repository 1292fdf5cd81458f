package proc

import "time"

// A Usage is what a process has used since it began.
type Usage struct {
	CPU         time.Duration // processor time, in user mode and in the system
	Voluntary   uint64        // context switches: it waited for something
	Involuntary uint64        // context switches: the processor was given to another
}

// Since is what was used since an earlier reading.
func (u Usage) Since(before Usage) Usage {
	return Usage{u.CPU - before.CPU, u.Voluntary - before.Voluntary, u.Involuntary - before.Involuntary}
}

// Add adds what another process has used.
func (u *Usage) Add(v Usage) {
	u.CPU += v.CPU
	u.Voluntary += v.Voluntary
	u.Involuntary += v.Involuntary
}

// Usage waits for the child's end and says what it has used in its whole life; zero if that
// is not known.
func (c *Child) Usage() Usage {
	<-c.done
	return c.usage
}
