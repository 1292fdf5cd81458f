package work

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo/algotest"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
	_ "github.com/conclave-bench/conclave/plugins/mutex/naimitrehel"
)

// fakeRole makes the test binary a worker that greets, has a machine, and then does something else
// than run a trial.
const fakeRole = "fake-worker"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == fakeRole {
		fake(os.Args[2])
		os.Exit(3)
	}
	os.Exit(m.Run())
}

func fake(deed string) {
	to, from := newSender(os.Stdout), newReceiver(os.Stdin)
	say := func(a *answer) {
		if err := errors.Join(to.send(a), to.Flush()); err != nil {
			os.Exit(1)
		}
	}
	if deed == "another version" {
		fmt.Println(hello + "99")
		time.Sleep(time.Minute)
	}
	fmt.Printf("%s%d\n", hello, protocol)
	for range 2 {
		if err := from.receive(&order{}); err != nil {
			os.Exit(1)
		}
		switch deed {
		case "refuses":
			say(&answer{Failed: "not here"})
		case "another version":
		default:
			say(&answer{About: []byte("{}")})
			_ = from.receive(&order{})
		}
		switch deed {
		case "ends later":
			return
		case "talks later":
			fmt.Println("hm")
		case "babbles later":
			fmt.Println(string(mark) + "\x02hm")
		case "lies":
			say(&answer{Records: []byte{0, 0, 0}})
		case "cannot":
			say(&answer{Failed: "too many open files"})
		case "says nothing":
			say(&answer{})
		}
		time.Sleep(time.Minute)
	}
}

func TestRemote_NoHost(t *testing.T) {
	t.Parallel()
	shell := func(text string) []string { return []string{"sh", "-c", text} }
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		command []string // nil: the fake of that name
		start   string   // the error, or
		trial   string   // of the trial, or
		invalid string
	}{
		"missing": {command: []string{"no-such-program"},
			start: `start host: exec: "no-such-program": executable file not found in $PATH`},
		"ends": {command: shell(`echo "Permission denied (publickey)." >&2; exit 255`),
			start: "the host died: exit code 255: Permission denied (publickey)."},
		"talks": {command: shell(`echo Welcome to lab7; sleep 60`),
			start: `the host died: it wrote "Welcome to lab7" to its standard output, which is for the runner`},
		"another version": {start: "it speaks protocol 99, this program 4: use the same version on both machines"},
		"refuses":         {start: "the host: not here"},
		"ends later":      {invalid: "the host died: exit code 3"},
		"talks later":     {invalid: `the host died: it wrote "hm"`},
		"babbles later":   {invalid: "the host died: it sent what cannot be read: "},
		"lies":            {invalid: "the host died: it sent a damaged record: trace record: 3 bytes, expected 64"},
		"cannot":          {trial: "the host: too many open files"},
		"says nothing":    {trial: "the host: no end of the trial in its answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.command == nil {
				test.command = []string{exe, fakeRole, name}
			}
			r, err := NewRemote(context.Background(), test.command, Room{Nodes: 3})
			if test.start != "" {
				if err == nil || !strings.Contains(err.Error(), test.start) {
					t.Errorf("error %v, want %q", err, test.start)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			p, err := algotest.Plan("mutex/naimi-trehel", 3, harness.Scenario{Plot: &harness.Sequential{Requests: 20}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			o, err := Host(context.Background(), r, &p, trace.SinkFunc(func(*trace.Record) {}))
			switch {
			case test.trial != "":
				if err == nil || err.Error() != test.trial {
					t.Errorf("error %v, want %q", err, test.trial)
				}
			case err != nil:
				t.Error(err)
			case o.Verdict.Status != trace.Invalid || !strings.Contains(strings.Join(o.End.Invalid, ""), test.invalid):
				t.Errorf("%s: %q, want %q", o.Verdict.Status, o.End.Invalid, test.invalid)
			}
		})
	}
}

// TestServe_Refuses: a worker without a runner, or without a machine, says so.
func TestServe_Refuses(t *testing.T) {
	t.Parallel()
	sent := func(o *order) string {
		var b bytes.Buffer
		if s := newSender(&b); s.send(o) != nil || s.Flush() != nil {
			t.Fatal("it cannot be sent")
		}
		return b.String()
	}
	for input, want := range map[string]string{
		"hello\n":                    `it wrote "hello"`,
		sent(&order{Baseline: true}): "no runner is connected",
		sent(&order{Setup: &setup{Room: &Room{}}}): "no machine for real nodes",
		"": "",
	} {
		for range 500 { // the end of the input may be there before the order is taken
			var out strings.Builder
			err := Serve(strings.NewReader(input), &out, Config{})
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Fatalf("%q: error %v, want %q", input, err, want)
			}
			if !strings.HasPrefix(out.String(), "conclave worker 4\n") {
				t.Fatalf("%q: it greets with %.20q", input, out.String())
			}
		}
	}
}

// TestAnswer: an end is the same on both sides.
func TestAnswer(t *testing.T) {
	t.Parallel()
	for _, busy := range []float64{0, 0.5, math.NaN()} {
		want := Outcome{End: harness.End{At: 5, Reason: harness.Broken, Err: errors.New("hm"), Pending: 3, Skipped: 2,
			Invalid: []string{"a", "b"}},
			Quality: &harness.Quality{SchedDelayP99: 7, Busy: busy, Stolen: busy / 2, Throttled: 11, ReadyTime: 9,
				ClockError: 13, Usage: harness.Usage{CPU: 17, BusiestCPU: 15, Switches: 19, BusiestSwitches: 14,
					Involuntary: 3}}}
		var b bytes.Buffer
		s := newSender(&b)
		if err := errors.Join(s.send(answered(want)), s.Flush()); err != nil {
			t.Fatal(err)
		}
		var a answer
		if err := newReceiver(&b).receive(&a); err != nil {
			t.Fatal(err)
		}
		got := a.outcome()
		if math.IsNaN(busy) && math.IsNaN(got.Quality.Busy) && math.IsNaN(got.Quality.Stolen) {
			want.Quality.Busy, want.Quality.Stolen, got.Quality.Busy, got.Quality.Stolen = 0, 0, 0, 0
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// FuzzReceive: what comes is read or refused, whatever it is.
func FuzzReceive(f *testing.F) {
	var b bytes.Buffer
	s := newSender(&b)
	if err := errors.Join(s.send(answered(Outcome{})), s.Flush()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("hello"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		_ = newReceiver(bytes.NewReader(b)).receive(&answer{})
	})
}
