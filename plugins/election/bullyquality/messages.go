package bullyquality

// Election asks all processes of higher rank than its sender, which has this
// score, whether they are alive.
type Election struct {
	Attempt
	Score int64
}

// Answer says that its sender is, in answer to Attempt.
type Answer struct{ Attempt }

// Coordinator announces its sender, with the score by which it defends itself.
type Coordinator struct{ Score int64 }

// An Attempt identifies one election of one process across its crashes, so
// that an answer to an earlier one is not taken for an answer to this one.
type Attempt struct {
	Incarnation uint32
	Count       uint32
}

// Kind is ELECTION.
func (Election) Kind() string { return "ELECTION" }

// Kind is ANSWER.
func (Answer) Kind() string { return "ANSWER" }

// Kind is COORDINATOR.
func (Coordinator) Kind() string { return "COORDINATOR" }
