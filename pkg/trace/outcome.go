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
	Invalid  Status = "invalid"   // the harness skewed it; repeated while retries last
	Failed   Status = "error"     // it could not be run
)

// Statuses lists them in the order in which reports show them.
func Statuses() []Status { return []Status{OK, TimedOut, Violated, Unknown, Invalid, Failed} }

// An Operation is an election or an entry. Its instants are offsets from the start of the
// trial; a negative one has not come.
type Operation struct {
	Process           uint32 // who entered, or who was elected
	Cause, Begin, End time.Duration
	Status            Progress
}

// A Progress is how far an operation came.
type Progress string

// What becomes of operations.
const (
	Completed Progress = "ok"      // it came to its end, and counts
	Warmup    Progress = "warmup"  // an entry before the measured ones
	Pending   Progress = "pending" // the trial was over before
	Crashed   Progress = "crashed" // an entry whose process crashed before it was granted
	Joined    Progress = "joined"  // no election: a process came back, and all agree on the leader of before
	Restarted Progress = "restart" // leader-crash: the return of a process brought another leader
	Unasked   Progress = "other"   // leader-crash: an election that something else than a crash caused
)
