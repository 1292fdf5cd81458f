package trace

import "time"

// A Status is how a trial ended.
type Status string

// The statuses.
const (
	OK       Status = "ok"        // it ran to its end and kept every promise
	TimedOut Status = "timeout"   // an operation did not complete, and was not promised to, or not in time
	Violated Status = "violation" // a promise was broken
	Unknown  Status = "unknown"   // too little happened to tell
	Unstable Status = "unstable"  // open load came faster than it was served: no time of it is steady
	Invalid  Status = "invalid"   // the harness skewed it; repeated while retries last
	Failed   Status = "error"     // it could not be run
)

// Statuses lists them in the order in which reports show them.
func Statuses() []Status { return []Status{OK, TimedOut, Violated, Unknown, Unstable, Invalid, Failed} }

// Doc is what the status means: a phrase.
func (s Status) Doc() string {
	return map[Status]string{
		OK: "it ran to its end, and every promise held; there is evidence: an election that reached " +
			"agreement, " +
			"or an entry, or, in a scenario about a span of time, agreement all the time",
		TimedOut: "the time limit ended it: something did not finish that the algorithm does not promise " +
			"to " +
			"finish, or not in that time. In `churn`, an election under way when the span ends is no failure",
		Violated: "a promise of the algorithm was broken",
		Unknown:  "too little happened to decide",
		Unstable: "open load came faster than it was served: every waiting time grows with the duration",
		Invalid:  "the harness or the machine skewed it and all its retries",
		Failed: "it could not be run, or the plugin broke its contract: it panics, hangs, exits, or asks " +
			"for " +
			"more than is allowed",
	}[s]
}

// Counted says how summary.csv counts such a trial.
func (s Status) Counted() string {
	return map[Status]string{OK: "yes", TimedOut: "as censored"}[s]
}

// Judged says whether such a trial came to a verdict on the algorithm: it kept its promises, broke one, or
// ran out of time.
func (s Status) Judged() bool { return s == OK || s == TimedOut || s == Violated }

// An Operation is an election or an entry. Its instants are offsets from the start of the
// trial; a negative one has not come.
type Operation struct {
	Process           uint32 // that entered or was elected
	Cause, Begin, End time.Duration
	Origin            Origin // of an election: what began it
	Status            Progress
	// Phase is, of an election, the share of its longest period that the leader of before had
	// behind it at the cause: above 0, and up to 1, or little more if its timer was late. 0:
	// there was none, or it repeated nothing.
	Phase float64
}

// An Outage is a span in which a service that rests on the elected leader had none, by one
// definition of what that means. Its instants are offsets from the start of the trial.
type Outage struct {
	Definition string // algo.Service in words
	Spec       bool   // it is the definition that the Spec of the algorithm names
	Begin      time.Duration
	// Cause is from where the downtime counts: Begin, or the later loss of the leader in an
	// outage that something else began.
	Cause     time.Duration
	End       time.Duration // negative: the trial was over before
	Origin    Origin        // what began it, or what was lost at Cause
	Status    Progress      // Completed, Pending, or Unasked, which may have an end or none
	Operation int           // the first operation that went on during it, from 1; 0: none did
}

// Length is how long it lasted: until the trial ended then, if it was not over before.
func (o *Outage) Length(end time.Duration) time.Duration {
	if o.End >= 0 {
		end = o.End
	}
	return max(0, end-o.Begin)
}

// An Origin is what began an election: by what agreement on a leader was lost.
type Origin string

// The origins. A leader that is suspended counts as crashed: to the others it is gone.
const (
	LeaderCrashed Origin = "leader-crash"    // the leader crashed, or was suspended
	OtherCrashed  Origin = "crash"           // another process did, and with it a majority was gone
	Unwritable    Origin = "disk"            // a disk was slow, hung or was full
	CameBack      Origin = "return"          // a process came back, was resumed, or is trusted again
	Parted        Origin = "partition"       // links were cut
	Mended        Origin = "heal"            // links were healed
	Mistrusted    Origin = "false-suspicion" // a process gave up a leader that was live and in reach
	Unneeded      Origin = "unneeded"        // nothing had happened to the leader, and nobody suspected it
	AtStart       Origin = "start"           // there was none to begin with
	Asked         Origin = "script"          // a script made a process begin, or do an operation
)

// Origins lists them.
func Origins() []Origin {
	return []Origin{LeaderCrashed, OtherCrashed, Unwritable, Parted, AtStart, Asked, CameBack, Mended,
		Mistrusted, Unneeded}
}

// Doc is what it means: a phrase.
func (o Origin) Doc() string {
	return map[Origin]string{
		LeaderCrashed: "the leader crashed, or was suspended",
		OtherCrashed:  "another process did, and with it a majority was gone",
		Unwritable:    "a disk was slow, hung or was full",
		CameBack:      "a process came back, was resumed, or is trusted again",
		Parted:        "links were cut",
		Mended:        "links were healed",
		Mistrusted:    "a process gave up a leader that was live and in reach",
		Unneeded:      "nothing had happened to the leader, and no process suspected it",
		AtStart:       "there was no leader to begin with",
		Asked:         "the scenario asked a process to begin, or to do an operation",
	}[o]
}

// Loss says whether something was taken from the processes without which there is no leader:
// the leader, or a majority, or any leader at all at the start. The other origins are what
// processes do to each other although their leader is there.
func (o Origin) Loss() bool {
	switch o {
	case LeaderCrashed, OtherCrashed, Unwritable, Parted, AtStart, Asked:
		return true
	}
	return false
}

// A Progress is how far an operation came.
type Progress string

// What becomes of operations.
const (
	Completed Progress = "ok"      // it came to its end, and counts
	Warmup    Progress = "warmup"  // an entry before the measured ones
	Pending   Progress = "pending" // the trial was over before
	Crashed   Progress = "crashed" // an entry whose process crashed before it was granted
	Joined    Progress = "joined"  // a process came back, and all agree on the leader of before
	Restarted Progress = "restart" // a process came back, and brought another leader
	Unasked   Progress = "other"   // an election that began with something else than what is measured
	// Hastened is an election by whose cause, the loss of the leader, another was on its way already.
	Hastened Progress = "hastened"
)

// Progresses lists what becomes of operations.
func Progresses() []Progress {
	return []Progress{Completed, Pending, Warmup, Crashed, Joined, Restarted, Unasked, Hastened}
}

// Doc is what it means: a phrase.
func (p Progress) Doc() string {
	return map[Progress]string{
		Completed: "it came to its end, and counts",
		Warmup:    "an entry that is not measured",
		Pending:   "it had not finished when the trial ended",
		Crashed:   "a request whose process crashed before the grant",
		Joined:    "a process came back, and in the end all agree on the leader of before",
		Restarted: "a process came back, and brought another leader",
		Unasked:   "an election that began for another reason than the scenario measures",
		Hastened:  "an election that was on its way before the leader was lost",
	}[p]
}
