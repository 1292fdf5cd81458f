package progress

import (
	"fmt"
	"io"
	"time"

	"github.com/conclave-bench/conclave/internal/base/console"
)

// A Sharing tells people who wait how much of a search is done and how long the rest may take, in lines:
// on a terminal as well as in a pipe.
type Sharing struct {
	w     io.Writer
	now   func() time.Time
	begun time.Time
	told  time.Duration // since it was begun
	what  string
	done  float64
}

// Shares tells to w of a search that begins now.
func Shares(w io.Writer) *Sharing { return &Sharing{w: w, now: time.Now, begun: time.Now()} }

// Tell says what is being done, and how much of all is done, from 0 to 1.
func (p *Sharing) Tell(what string, done float64) {
	p.what, p.done = what, max(done, p.done)
	p.Tick()
}

// Tick is that time has passed.
func (p *Sharing) Tick() {
	elapsed := p.now().Sub(p.begun)
	if elapsed-p.told < pauseAfter(elapsed) {
		return
	}
	p.told = elapsed
	line := fmt.Sprintf("%.0f %% done in %s", 100*p.done, span(elapsed))
	if p.done > 0 {
		line += fmt.Sprintf(", about %s left", span(time.Duration(float64(elapsed)*(1/p.done-1))))
	}
	if p.what != "" {
		line += ": " + p.what
	}
	fmt.Fprintln(p.w, console.Fold(line))
}
