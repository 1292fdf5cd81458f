package tidy

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pitfalls are the mistakes that the descriptions of the algorithms warn of, each
// with the tests that fail when it is made: package, function and, behind a colon,
// the row or subtest that is meant; or a case of the reference. Where no algorithm
// here can make it, the package that could stands after "without".
var pitfalls = []struct {
	id, what string
	tests    []string
}{
	{"P1", "a stale reply of an earlier round", []string{
		"election/bully TestRules: an answer to an earlier attempt is stale (P1)",
		"election/bully TestRules: an answer after the declaration changes nothing (P1)",
		"election/bully TestLateOK",
		"election/bullymodified TestLateAlive",
		"election/bullynextinline TestAnswererDies",
		"election/bullynextinline TestFull",
		"election/bullycandidateordinary TestAnswer",
		"election/bullyquality TestAnswer",
		"election/bullyquorum TestRules: one in answer to an earlier round",
		"election/bullyquorum TestRules: another term",
		"election/invitation TestRules: too late",
		"election/invitation TestRules: taken over too late",
		"election/ringlist TestRules: what it announced in its former life is old (P1)",
		"election/ringmax TestRules: one of an older era, electing: void",
		"election/raft TestCampaign",
		"election/multipaxos TestProposer",
		"election/stableleader TestRules",
		"election/zabfle TestLooking",
		"election/ble TestRules: a reply of another round (P1)",
		"mutex/naimitrehelft TestRules: 12: a newer epoch",
		"mutex/ricartagrawala TestReply_OfAnEarlierRequest",
		"election/viewstampedreplication TestRecovery",
		"election/lease TestContender",
		"election/leasecas TestMember",
	}},
	{"P2", "a stale LOCKED, INQUIRE or FAILED", []string{
		"mutex/maekawa TestRequester: stale",
		"mutex/maekawa TestRequester: is asked for an earlier request",
		"mutex/maekawa TestArbiter",
	}},
	{"P3", "overtaking", []string{
		"all TestOvertaking",
		"election/lelann TestWithoutFIFO",
		"election/gallagerhumbletspira TestWithoutFIFO",
		"mutex/lamport TestWithoutFIFO",
		"election/zabfle TestJoining",
	}},
	{"P4", "simultaneous initiators", []string{
		"all TestInitiators",
		"election/bully TestInitiators",
		"election/bully TestAllDetect",
		"election/bullymodified TestSeveralDetect",
		"election/bullynextinline TestAllDetect",
		"election/bullyquorum TestCounts",
		"election/ringlist TestInitiators",
		"election/ringmax TestStaggered",
		"election/multipaxos TestTogether",
		"election/tree TestCounts",
		"election/afekgafni TestCounts",
		"election/echoextinction TestWaves",
		"election/gallagerhumbletspira TestTree",
	}},
	{"P5", "a suspicion during an election", []string{
		"election/bully TestRules: a suspicion during an election is ignored (P5)",
		"election/bully TestSecondSuspicion",
		"election/bullymodified TestSecondSuspicion",
		"election/bullynextinline TestSuspicion",
		"election/bullycandidateordinary TestSecondSuspicion",
		"election/bullyquality TestElection",
		"election/bullyquorum TestSuspicionDuringElection",
		"election/invitation TestRules: twice",
		"election/ringlist TestSuspicionDuringElection",
		"election/ringmax TestSuspicionDuringElection",
		"election/raft TestCampaign",
		"election/multipaxos TestProposer",
		"election/stableleader TestRules",
		"election/tree TestOnce",
		"election/zabfle TestLooking",
		"election/viewstampedreplication TestViewChange",
		"election/lease TestContender",
		"election/leasecas TestMember",
	}},
	{"P6", "a start after relaying", []string{
		"election/changroberts TestRules", "election/hirschbergsinclair TestRules",
		"election/franklin TestRules", "election/dolevklawerodeh TestRules",
		"election/itairodeh TestRules: has passed on",
		"election/lelann TestRules: has passed on",
		"election/echoextinction TestRules: joined, begins not",
	}},
	{"P7", "ties of rank", []string{
		"election/bully TestEqualEstimates",
		"election/bullyquality TestTies",
		"election/bullyquorum TestNewestState",
		"election/tree TestRanks",
		"election/zabfle TestScenarios",
	}},
	{"P8", "a restart that uses counters again", []string{
		"election/bully TestRules: counters go on after a crash, old answers are ignored (P8)",
		"election/bully TestStaleAnswerInAWholeRun",
		"election/bully TestReturnWithinT",
		"election/bullymodified TestReturnWithinT",
		"election/bullynextinline TestReturnWithinT",
		"election/bullycandidateordinary TestAnswer",
		"election/bullyquality TestAnswer",
		"election/invitation TestReturn",
		"election/ringlist TestRules: in its next life it counts from one again (P8)",
		"election/ringmax TestStaleEra",
		"election/multipaxos TestKeepsPromise",
		"election/viewstampedreplication TestRecovery",
		"election/ble TestReturn",
	}},
	{"P9", "a double vote", []string{
		"election/raft TestNoDoubleVote",
		"election/raft TestVote: voted for another",
		"election/raft TestVote: a new term",
		"election/multipaxos TestKeepsPromise",
		"election/bullyquorum TestRules: of a term that is promised",
		"election/bullyquorum TestSettledTerm",
	}},
	{"P10", "a responder that dies after answering", []string{
		"election/bully TestFigure181",
		"election/bully TestResponderDies",
		"election/bullymodified TestGrantedDies",
		"election/bullynextinline TestAnswererDies",
	}},
	{"P11", "a coordinator that dies during its broadcast", []string{
		"election/bully TestDeclarationCutShort",
		"election/bully TestDiesAnnouncing",
		"election/bullymodified TestDiesAnnouncing",
		"election/bullynextinline TestDiesAnnouncing",
		"election/bullycandidateordinary TestDiesAnnouncing",
		"election/bullyquality TestDiesAnnouncing",
	}},
	{"P12", "a coordinator of lower rank", []string{
		"election/bully TestRules: a lower coordinator is bullied (P12)",
		"election/bully TestRules: a lower coordinator, the top (P12)",
		"election/bully TestLowerCoordinator",
		"election/bully TestCoordinator",
		"election/bullynextinline TestLower",
		"election/bullyquality TestCoordinator",
	}},
	{"P13", "an initiator or converter that dies amid its lap", []string{
		"election/ringlist TestDeathMidLap",
		"election/ringlist TestConverterDies",
		"election/ringmax TestInitiatorDies",
		"election/ringmax TestOrphan",
	}},
	{"P14", "a TOKEN before its WAKEUP", []string{"election/tree TestTokensBeforeTheStart"}},
	{"P15", "a tree of one or two processes", []string{"election/tree TestCounts"}},
	{"P16", "start-up delays too close together", []string{
		"election/bullycandidateordinary TestSpacing",
	}},
	{"P17", "invitations that cross", []string{
		"election/invitation TestCrossed",
		"election/invitation TestRules: 3c, crossed, we stand",
	}},
	{"P18", "a quorum counted over stale JOINs", []string{
		"case QUORUM-08",
		"election/bullyquorum TestSchedules",
		"election/bullyquorum TestRules: by a quorum of another round",
	}},
	{"P19", "a partial partition", []string{
		"election/bullyquorum TestElectable",
		"election/bullyquorum TestElectable_Rule",
		"election/bullyquorum TestPartialPartition",
		"election/raft TestPartialPartition",
		"case BLE-CHAIN", "case BLE-QLOSS", "case BLE-QLOSS-ANNOUNCE", "case BLE-HAPPY-QLOSS",
	}},
	{"P20", "a pre-vote against a leader that lives", []string{
		"election/raft TestPreVoteKeepsLeader",
		"election/raft TestPreVoteAsked",
		"case RAFTO-PREVOTE-NOLEASE", "case RAFTO-DISRUPT-PREVOTE-STICKY",
	}},
	{"P21", "a lost wake-up", []string{
		"mutex/raymond TestTogether",
		"mutex/raymond TestSaturation",
		"mutex/maekawa TestRequester: is asked before it has the lock",
		"mutex/maekawa TestDisplacedWaiter",
		"mutex/carvalhoroucairol TestRequest_AskedAgain",
		"mutex/lodhakshemkalyani TestRequest_Served",
		"mutex/singhal TestRequest_Late",
	}},
	{"P22", "a request that comes twice", []string{
		"mutex/central TestSecondCopies",
		"mutex/suzukikasami TestRequest_Late",
		"mutex/ricartagrawalatoken TestRequest_Late",
		"mutex/naimitrehel TestDuplicates",
		"case NT-FT-05",
	}},
	{"P23", "a second token", []string{
		"mutex/naimitrehelft TestRules: 6: asked while the token is on its way",
		"mutex/naimitrehelft TestHolderBack",
		"mutex/naimitrehelft TestTelecTooShort",
		"mutex/naimitrehelft TestTelecBound",
	}},
	{"P24", "a root that forwards to itself", []string{"mutex/naimitrehel TestWaitingRoot"}},
	{"P25", "sending before assigning", []string{
		"mutex/naimitrehel TestRules: idle, asks",
		"mutex/naimitrehel TestWaitingRoot",
		"mutex/naimitrehelft TestWithoutFailures",
	}},
	{"P26", "priorities turned round", []string{
		"mutex/ricartagrawala TestRequest_ComparesTheRequestNotTheClock",
		"mutex/ricartagrawala TestCounts",
		"mutex/maekawa TestRequester: fails, then is asked",
		"mutex/maekawa TestArbiter",
	}},
	{"P27", "equal timestamps", []string{
		"mutex/lamport TestEqualTimes",
		"mutex/ricartagrawala TestRequest_EqualNumbers",
		"mutex/maekawa TestArbiter",
	}},
	{"P28", "a clock that goes back at a restart", []string{
		"mutex/central TestRestart",
		"mutex/lamport TestRestart",
		"mutex/maekawa TestRestart",
		"mutex/ricartagrawala TestRestart",
		"mutex/carvalhoroucairol TestRestart",
		"mutex/ricartagrawalatoken TestCrash",
		"mutex/singhal TestCrash",
		"mutex/suzukikasami TestCrash",
	}},
	{"P29", "a token handed over inside", []string{
		"mutex/suzukikasami TestRequest_Inside",
		"mutex/ricartagrawalatoken TestRequest_Inside",
		"mutex/neilsenmizuno TestRequest_Waits",
	}},
	{"P30", "replies of different polls", []string{
		"mutex/raynaloriginal TestReply_OfAnEarlierPoll",
	}},
	{"P31", "numbers that overflow", []string{
		"mutex/raynaloriginal TestManyLaps",
		"mutex/raynalmodified TestManyLaps",
	}},
	{"P32", "circulation or polling without end", []string{
		"mutex/raynaloriginal TestBlocks",
		"mutex/raynaloriginal TestBlocks_WithoutAnEnd",
		"mutex/raynalmodified TestIdle",
		"mutex/tokenring TestLivelock",
	}},
	{"P33", "the detector announced in place of the maximum", []string{
		"election/dolevklawerodeh TestRules",
	}},
	{"P34", "a capture without asking the owner", []string{"election/afekgafni TestRivals"}},
	{"P35", "a lease judged by another clock", []string{
		"election/leasecas TestStore", "election/leasecas TestSlowClock", "election/lease TestContender",
	}},
	{"P36", "a timer that fires though cancelled", []string{
		"pkg/harness TestTimers: cancelled by a message of the same instant",
		"pkg/harness TestTimers: set again by a message of the same instant",
		"pkg/sim TestOrderOfOneInstant",
		"election/bully TestAnswerAtTheLastInstant",
		"election/ringlist TestAcknowledgedAtTheLastInstant",
	}},
	{"P37", "a crash inside the critical section", []string{
		"mutex/central TestCrash",
		"mutex/lamport TestCrashInside",
		"mutex/maekawa TestCrashInside",
		"mutex/naimitrehel TestCrash",
		"mutex/naimitrehelft TestCrashInside",
		"mutex/raymond TestCrash",
		"mutex/ricartagrawala TestCrashInside",
		"mutex/suzukikasami TestCrash",
		"mutex/tokenring TestCrash",
	}},
	{"P38", "messages to oneself that are counted", []string{
		"mutex/maekawa TestAlone", "case GRID-01", "case AE-04",
	}},
	{"P39", "the end of the request's path in place of the neighbor", []string{
		"mutex/neilsenmizuno TestDistance", "case NM-09",
	}},
	{"P40", "a token handed over from inside", []string{"case NM-18"}},
	{"P41", "the order of a queue in place of the cyclic scan", []string{"case RAT-09", "case RAT-18"}},
	{"P42", "a late reply that counts for the next request", []string{"mutex/raymondk TestReply_Late"}},
	{"P43", "late replies that are not merged", []string{
		"mutex/raymondk TestMerged", "mutex/raymondk TestRequest_PutOff",
	}},
	{"P44", "one too many inside", []string{
		"case RK-03", "case RK-06", "case RK-07", "mutex/raymondk TestNoMoreThanK",
	}},
	{"P45", "a displaced waiter in a grid", []string{"case GRID-22", "mutex/grid TestDisplacedWaiter"}},
	{"P46", "a quorum replaced in the middle of a request", []string{
		"case GRID-12", "case GRID-13", "mutex/grid TestSubstitution",
	}},
	{"P47", "a RELEASE that overtakes its REQUEST", []string{
		"mutex/grid TestArbiter", "mutex/grid TestRandomSchedules",
	}},
	{"P48", "the same session kept out, or two let in", []string{
		"case JG-05", "mutex/jounggroup TestSameSession", "mutex/jounggroup TestConcurrency",
	}},
	{"P49", "followers whom the next does not know", []string{
		"case JG-18", "mutex/jounggroup TestFollowers",
	}},
}

// TestPitfalls: each pitfall has its tests, and they exist.
func TestPitfalls(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root(t), "internal/commands/conform/testdata/cases/*/*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []byte
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, text...)
	}
	tests := map[string]map[string][]string{} // strings in each test function of each folder
	for i, p := range pitfalls {
		if want := "P" + strconv.Itoa(i+1); p.id != want || p.what == "" || len(p.tests) == 0 {
			t.Errorf("%s %q with %d tests, want %s, in words and with tests", p.id, p.what, len(p.tests), want)
		}
		for _, name := range p.tests {
			where, test, _ := strings.Cut(name, " ")
			test, row, _ := strings.Cut(test, ": ")
			if where == "without" {
				if _, err := os.Stat(filepath.Join(root(t), "plugins", test)); err == nil {
					t.Errorf("%s: there is %s now: name the test of it", p.id, test)
				}
				continue
			}
			if where == "case" {
				if !bytes.Contains(cases, []byte("\ncase: "+test+"\n")) {
					t.Errorf("%s: the reference has no case %s: name the test that took its place", p.id, test)
				}
				continue
			}
			if !strings.HasPrefix(where, "pkg/") {
				where = "plugins/" + where
			}
			if tests[where] == nil {
				tests[where] = testsIn(t, filepath.Join(root(t), where))
			}
			rows, ok := tests[where][test]
			switch {
			case !ok:
				t.Errorf("%s: %s has no %s: name the test that took its place", p.id, where, test)
			case row != "" && !slices.Contains(rows, row):
				t.Errorf("%s: %s of %s has no row %q: name the one that took its place", p.id, test, where, row)
			}
		}
	}
	if len(pitfalls) != 49 {
		t.Errorf("%d pitfalls, want 49", len(pitfalls))
	}
}

// testsIn are the test functions of a folder, each with the strings in it, and what
// it calls, as "name()" or "package.Name()".
func testsIn(t *testing.T, dir string) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil ||
				!strings.HasPrefix(fn.Name.Name, "Test") && !strings.HasPrefix(fn.Name.Name, "Fuzz") {
				continue
			}
			rows := []string{}
			ast.Inspect(fn, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if s, err := strconv.Unquote(lit.Value); err == nil {
						rows = append(rows, s)
					}
				}
				if call, ok := n.(*ast.CallExpr); ok {
					rows = append(rows, types.ExprString(call.Fun)+"()")
				}
				return true
			})
			out[fn.Name.Name] = rows
		}
	}
	return out
}
