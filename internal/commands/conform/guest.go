package conform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/conclave-bench/conclave/internal/judgement/trial"
	"github.com/conclave-bench/conclave/internal/worlds/guest"
)

// chunk is how many trials a program runs before it runs them again.
const chunk = 50

// apart runs every trial of a program twice: with all processes in one copy of it, and then, the last trial
// first, with a copy for each process. A program whose processes share anything, or that draws, looks at the
// time or goes through a hash table, answers otherwise the second time.
func (k *kit) apart(p *guest.Program) error {
	defer p.Tap(nil)
	defer guest.Separate(false)
	for from := 0; from < k.schedules; from += chunk {
		until := min(from+chunk, k.schedules)
		together := make([]told, until-from)
		for i := range together {
			guest.Separate(false)
			if err := together[i].run(p, k.id, from+i); err != nil {
				return err
			}
		}
		for i := range slices.Backward(together) {
			guest.Separate(true)
			var alone told
			if err := alone.run(p, k.id, from+i); err != nil {
				return err
			}
			if err := together[i].differs(&alone); err != nil {
				return fmt.Errorf("schedule %d: %w", from+i, err)
			}
		}
		k.tell(until)
	}
	return nil
}

// told is what a program answered in a trial.
type told struct {
	answers []guest.Answered
	records uint64
}

func (t *told) run(p *guest.Program, id string, seed int) error {
	p.Tap(func(a guest.Answered) { t.answers = append(t.answers, a) })
	plan, err := Schedule(id, uint64(seed), nil)
	if err != nil {
		return err
	}
	o, err := trial.SimulateFor(plan, mostEvents/20)
	if err != nil {
		return fmt.Errorf("schedule %d: %w", seed, err)
	}
	t.records = hash(o.Trace)
	return nil
}

// differs finds the first event to which the answers are not the same.
func (t *told) differs(alone *told) error {
	const causes = "; the usual causes are the order of a hash table, the time, an address in memory, and " +
		"a global variable"
	for i, a := range t.answers {
		if i == len(alone.answers) {
			break
		}
		b := alone.answers[i]
		if a.Process != b.Process || a.Event != b.Event {
			break
		}
		if a != b {
			return fmt.Errorf("event %d of the trial, process %d, %s: with all processes in one copy of the "+
				"program, it answers %s, and with a copy for each process %s"+causes, i+1, a.Process, a.Event,
				brief(a.Answer), brief(b.Answer))
		}
	}
	if t.records != alone.records || len(t.answers) != len(alone.answers) {
		return fmt.Errorf("the records differ" + causes)
	}
	return nil
}

// mostAnswer bounds what is shown of an answer, in bytes.
const mostAnswer = 300

func brief(answer string) string {
	if len(answer) > mostAnswer {
		return strings.ToValidUTF8(answer[:mostAnswer], "") + " ..."
	}
	return answer
}
