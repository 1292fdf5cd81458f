package check

// A Rule is what a checker enforces.
type Rule struct{ Name, Sentence string }

// Rules are what trials are held to. A violation begins with the name of its rule.
var Rules = []Rule{
	{mutualExclusion, "no two processes are in the critical section at once, and nobody unasked"},
	{requestOrder, "where it is promised, grants follow the happened-before order of requests"},
	{starvation, "where it is promised, no request waits while others enter more than 4n times, " +
		"or 4n² where not all have links to all, since it could have been known and the last fault " +
		"found out"},
	{deadlock, "where it is promised, no request waits while nothing moves any more"},
	{tokenUniqueness, "there is never a second token, where the first is not to be lost"},
	{leadership, "no two processes hold themselves leader, in one term or at all, as it is promised; " +
		"of groups, when nothing moves any more, each has a leader that names itself"},
	{agreement, "when nothing moves any more, every live connected process names the same leader"},
	{leaderAlive, "when nothing moves any more, nobody names a process that is down"},
	{highest, "where it is promised, the leader is the live connected process of the highest number"},
	{afterHeal, "when nothing moves any more after a heal, the parts have one leader again"},
	{expectation, "a script leads to what it expects"},
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
	highest         = "highest"
	afterHeal       = "after-heal"
	expectation     = "expectation"
)
