package check

// A Rule is what a checker enforces.
type Rule struct{ Name, Sentence string }

// Rules are what trials are judged by. A violation begins with the name of its rule.
var Rules = []Rule{
	{mutualExclusion, "no two processes are in the critical section at once, unless the algorithm admits " +
		"several, and then only those; no process is in it without a request"},
	{fencing, "no write of a holder with its token is accepted once another process has been in the " +
		"critical section since"},
	{requestOrder, "if promised, grants follow the happened-before order of requests"},
	{starvation, "if promised, no request waits while others enter more than 4n times (4n² if some " +
		"processes have no link, or if requests name sessions). Entries count from when the others can " +
		"know of the request, and the last fault has been detected"},
	{deadlock, "if promised, no request waits once the system is quiescent"},
	{tokenUniqueness, "if the algorithm survives neither crashes nor lost messages, there is never a " +
		"second token"},
	{leadership, "no two processes consider themselves leader, in one term or at all, as promised; with " +
		"groups, once the system is quiescent, each process has a leader that names itself"},
	{agreement, "once the system is quiescent, every live connected process names the same leader"},
	{leaderAlive, "once the system is quiescent, no process names one that is down"},
	{liveness, "if promised, there is a leader, by the definition of an outage that the Spec names: no " +
		"outage lasts longer than the time-outs of the promise while the processes are connected as it " +
		"requires and nothing else happens to a process, a link or a message"},
	{highest, "if promised, the leader is the live connected process with the highest number"},
	{afterHeal, "once the system is quiescent after a heal, the parts have one leader again"},
	{invariant, "after every event, the invariant that the algorithm states for a process holds. " +
		"The rule is for trials beyond the model: within it, a breach is an error of the plugin"},
	{expectation, "a script has the outcome that it expects"},
}

// The names of the rules.
const (
	mutualExclusion = "mutual-exclusion"
	fencing         = "fencing"
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
