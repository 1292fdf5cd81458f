package check

// A Rule is what a checker enforces.
type Rule struct{ Name, Sentence string }

// Rules are what trials are judged by. A violation begins with the name of its rule.
var Rules = []Rule{
	{mutualExclusion, "no two processes are in the critical section at once, unless the algorithm admits " +
		"several, and then no others than those; and none without a request"},
	{requestOrder, "if promised, grants follow the happened-before order of requests"},
	{starvation, "if promised, no request waits while others enter more than 4n times (4n² where not all " +
		"have links to all, or requests name sessions), counted from when it could have been known and " +
		"the last fault found out"},
	{deadlock, "if promised, no request waits when nothing moves any more"},
	{tokenUniqueness, "if the algorithm survives neither crashes nor lost messages, there is never a " +
		"second token"},
	{leadership, "no two processes consider themselves leader, in one term or at all, as promised; for " +
		"groups, when nothing moves any more, each has a leader that names itself"},
	{agreement, "when nothing moves any more, every live connected process names the same leader"},
	{leaderAlive, "when nothing moves any more, nobody names a process that is down"},
	{liveness, "if promised, there is a leader, by the definition of an outage that the Spec names: none " +
		"is missing for longer than the time-outs of the promise while the processes are connected as " +
		"it wants it and nothing else happens to a process, a link or a message"},
	{highest, "if promised, the leader is the live connected process with the highest number"},
	{afterHeal, "when nothing moves any more after a heal, the parts have one leader again"},
	{invariant, "what an algorithm states of a process after every event; beyond its model, since within " +
		"it a breach is an error of the plugin"},
	{expectation, "a script has the outcome that it expects"},
}

// The names of the rules.
const (
	mutualExclusion = "mutual-exclusion"
	requestOrder    = "request-order"
	starvation      = "starvation"
	deadlock        = "deadlock"
	tokenUniqueness = "token-uniqueness"
	leadership      = "leadership"
	agreement       = "agreement"
	leaderAlive     = "leader-alive"
	liveness        = "liveness"
	highest         = "highest"
	afterHeal       = "after-heal"
	invariant       = "invariant"
	expectation     = "expectation"
)
