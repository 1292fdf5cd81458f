package ricartagrawala_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	ra "github.com/conclave-bench/conclave/plugins/mutex/ricartagrawala"
)

const id = "mutex/ricart-agrawala"

func TestConformance(t *testing.T) { algotest.Run(t, id) }

func TestCases(t *testing.T) { algotest.Cases(t, id) }

// TestCounts: 2(N-1) messages for each entry, however many ask at once. Alone,
// the replies are there after a round trip; together, entries follow the order
// of the stamps, and each waits one message for the one before.
func TestCounts(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 10; n++ {
		pairs := int64(n * (n - 1))
		all := algotest.Entries{
			Nodes: n, Events: algotest.Together(algotest.Everybody(n)...), Order: algotest.Everybody(n),
			Kinds: map[string]int64{"REQUEST": pairs, "REPLY": pairs}, SyncMax: time.Millisecond,
		}
		if n == 1 {
			all.Kinds, all.SyncMax = map[string]int64{}, 0
		}
		all.Run(t, id)
		if n == 1 {
			continue
		}
		each := int64(2 * (n - 1))
		algotest.Entries{
			Nodes: n, Events: algotest.InTurn(algo.ID(n), 1, 1), Order: []algo.ID{algo.ID(n), 1, 1},
			Each:    []int64{each, each, each},
			Kinds:   map[string]int64{"REQUEST": 3 * each / 2, "REPLY": 3 * each / 2},
			Waiting: []time.Duration{2 * time.Millisecond, 2 * time.Millisecond, 2 * time.Millisecond},
		}.Run(t, id)
	}
}

// TestCrashInside: a crash inside blocks everybody else, and is reported so.
func TestCrashInside(t *testing.T) {
	t.Parallel()
	c := algotest.Entries{Nodes: 3, Events: []harness.Event{
		{Do: harness.DoRequest, Node: 1},
		{At: 2500 * time.Microsecond, Do: harness.DoCrash, Node: 1},
		{At: 3 * time.Millisecond, Do: harness.DoRequest, Node: 2},
	}}
	p := c.Plan(t, id)
	p.InModel = false
	o, err := algotest.Simulate(p)
	if err != nil || o.Status != trace.TimedOut || o.Completed != 1 {
		t.Errorf("%s: %s, %d entries, %v", o.Status, o.Reason, o.Completed, err)
	}
}

// asks lets d request, and wants that stamp and these receivers.
func asks(d algotest.Drive, own algo.Stamp, a, b algo.ID) {
	d.Requests(algotest.Sends(a, ra.Request{Stamp: own}), algotest.Sends(b, ra.Request{Stamp: own}))
}

func request(number uint64, p algo.ID) ra.Request {
	return ra.Request{Stamp: algo.Stamp{Number: number, ID: p}}
}

func reply(number uint64, p algo.ID) ra.Reply {
	return ra.Reply{Stamp: algo.Stamp{Number: number, ID: p}}
}

// TestRequest_ComparesTheRequestNotTheClock: 2 asks with number 1, then hears of
// number 9. A request with number 5 comes after its own, although the highest
// number that it has seen is larger.
func TestRequest_ComparesTheRequestNotTheClock(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 3, 2, 1, nil)
	asks(d, algo.Stamp{Number: 1, ID: 2}, 1, 3)
	d.Receives(3, request(9, 3))
	d.Receives(1, request(5, 1))
	d.Receives(1, reply(1, 2))
	d.Receives(3, reply(1, 2), algotest.Enters())
	d.Releases(algotest.Sends(3, reply(9, 3)), algotest.Sends(1, reply(5, 1)))
	asks(d, algo.Stamp{Number: 10, ID: 2}, 1, 3) // above the highest seen
}

// TestRequest_EqualNumbers: the smaller process comes first.
func TestRequest_EqualNumbers(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 3, 2, 1, nil)
	asks(d, algo.Stamp{Number: 1, ID: 2}, 1, 3)
	d.Receives(1, request(1, 1), algotest.Sends(1, reply(1, 1)))
	d.Receives(3, request(1, 3))
}

// TestReply_OfAnEarlierRequest: a second copy of a reply from the entry before
// permits nothing, nor does a second copy of a reply to this request.
func TestReply_OfAnEarlierRequest(t *testing.T) {
	t.Parallel()
	d := algotest.NewDrive(t, id, 3, 1, 1, nil)
	asks(d, algo.Stamp{Number: 1, ID: 1}, 2, 3)
	d.Receives(2, reply(1, 1))
	d.Receives(3, request(1, 3))
	d.Receives(3, reply(1, 1), algotest.Enters())
	d.Releases(algotest.Sends(3, reply(1, 3)))
	asks(d, algo.Stamp{Number: 2, ID: 1}, 2, 3)
	d.Receives(2, reply(1, 1))
	d.Receives(3, reply(2, 1))
	d.Receives(3, reply(2, 1))
	d.Receives(2, reply(2, 1), algotest.Enters())
	d.Receives(2, reply(2, 1)) // not let in twice
}

// TestDocument: what the documents for authors quote stands in the sources.
func TestDocument(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	sources := read("messages.go") + read("ricartagrawala.go") + read("ricartagrawala_test.go") +
		read("../../all/all.go") + read("../../election/changroberts/changroberts.go") +
		read("../../election/lap/lap.go") +
		strings.NewReplacer("<<.Core>>", "github.com/conclave-bench/conclave", "<<.Module>>", "example.com/own",
			"<<.Package>>", "myelection").Replace(read("../../../internal/commands/scaffold/templates/main.go.tmpl"))
	_, quoted, _ := strings.Cut(read("../../../docs/reference/cases.md"), "```yaml\n")
	quoted, _, _ = strings.Cut(quoted, "```")
	if cases := read("../../../docs/how-to/ricart-agrawala-cases.yaml"); quoted == "" ||
		!strings.Contains(cases, quoted) {
		t.Errorf("the document quotes a case that is not in the file:\n%s", quoted)
	}
	parts := strings.Split(read("../../../docs/tutorials/first-algorithm.md")+
		read("../../../docs/how-to/adding-an-algorithm.md"), "```go\n")[1:]
	for _, part := range parts {
		code, _, _ := strings.Cut(part, "```")
		if !strings.Contains(sources, code) {
			t.Errorf("the document quotes what is not in the sources:\n%s", code)
		}
	}
	if len(parts) < 12 {
		t.Errorf("the document quotes %d pieces of code", len(parts))
	}
}
