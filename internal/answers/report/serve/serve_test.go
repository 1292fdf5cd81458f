package serve

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// listen serves dir for the test.
func listen(t *testing.T, o Options) *Server {
	t.Helper()
	o.Log = log.New(io.Discard, "", 0)
	if o.Verdict == nil {
		o.Verdict = func(code int) (string, string) { return fmt.Sprint("code ", code), "good" }
	}
	s, l, err := Listen(0, o)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }() // it ends with Close
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// get is what a page says.
func get(t *testing.T, address string) (code int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Error(err)
	}
	return answer.StatusCode, string(b)
}

// ended makes a run of no trial that ended with a code; a negative one: it was killed when its
// tables were written.
func ended(t *testing.T, root, name string, code int) (dir string) {
	t.Helper()
	f, err := results.Create(root, results.Header{Name: name, Planned: 1, Design: results.DesignColumns()},
		[]byte("name: "+name+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if code != -2 { // killed before
		if _, err := f.Finish(results.End{}); err != nil {
			t.Fatal(err)
		}
	}
	if code >= 0 {
		if err := f.Conclude(code); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Dir()
}

// While a report is being made, the index and other pages are there at once, and who asks for the
// same report waits for it: it is made once. One that fails is made again for who asks then.
func TestServer_Slow(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	run := "run/slow/" + filepath.Base(ended(t, root, "slow", 0)) + "/"
	begun, goOn := make(chan bool, 9), make(chan bool)
	var made, tried atomic.Int32
	s := listen(t, Options{Dir: root,
		Report: func(string, string) ([]byte, error) {
			made.Add(1)
			begun <- true
			<-goOn
			return []byte("the report"), nil
		},
		Trial: func(_ string, number int) ([]byte, error) {
			if tried.Add(1); number == 2 {
				return nil, os.ErrInvalid
			}
			if number == 3 {
				panic("a page that cannot be made")
			}
			return []byte("the trial"), nil
		}})
	home := s.URL("")
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if code, text := get(t, home+run); code != 200 || text != "the report" {
				t.Errorf("%d %.80s", code, text)
			}
		})
	}
	<-begun
	for _, c := range []struct {
		path, want string
	}{
		{"", "1 of 1 run"}, {run + "trials", "0 of 0 trials"}, {run + "trial?n=1", "the trial"},
		{run + "trial?n=2", "invalid argument"}, {run + "trial?n=2", "invalid argument"},
	} {
		if _, text := get(t, home+c.path); !strings.Contains(text, c.want) {
			t.Errorf("%s has no %q: %s", c.path, c.want, text)
		}
	}
	if n := tried.Load(); n != 3 {
		t.Errorf("trials were made %d times, want the bad one twice", n)
	}
	close(goOn)
	both.Wait()
	if n := made.Load(); n != 1 {
		t.Errorf("the report was made %d times", n)
	}
	// A panic ends one connection, and keeps nobody waiting.
	for range mostWork + 1 {
		r, err := http.Get(home + run + "trial?n=3")
		if err == nil {
			_ = r.Body.Close()
			t.Errorf("a panic is answered: %v", r.Status)
		}
	}
	if _, text := get(t, home+run+"trial?n=4"); text != "the trial" {
		t.Errorf("after a panic: %s", text)
	}
}

// The verdict is that of the exit code; without one the run was killed.
func TestServer_Verdicts(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, code := range map[string]int{"good": 0, "bad": 3, "half": 130, "killed": -1, "begun": -2} {
		ended(t, root, name, code)
	}
	f, err := results.Create(root, results.Header{Name: "going", Planned: 1,
		Design: results.DesignColumns()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := listen(t, Options{Dir: root})
	_, text := get(t, s.URL(""))
	for name, verdict := range map[string]string{"good": "code 0", "bad": "code 3", "half": "code 130",
		"killed": "interrupted", "begun": "interrupted", "going": "running"} {
		_, row, _ := strings.Cut(text, ">"+name+"</a></th>")
		row, _, _ = strings.Cut(row, "</span>")
		if !strings.HasSuffix(row, ">"+verdict) {
			t.Errorf("%s: %s, want %s", name, row, verdict)
		}
	}
}

// The index lists the newest runs, and finds all.
func TestServer_ManyRuns(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := ended(t, root, "many", 0)
	for i := range mostRuns + 4 {
		copied := filepath.Join(root, "old", fmt.Sprintf("%04d", i))
		if err := os.MkdirAll(copied, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{results.ManifestFile, results.JournalFile} {
			if err := os.Link(filepath.Join(dir, name), filepath.Join(copied, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := listen(t, Options{Dir: root})
	_, text := get(t, s.URL(""))
	if n := strings.Count(text, "<tr><th scope=\"row\">"); n != mostRuns ||
		!strings.Contains(text, fmt.Sprintf("%[1]d of %[1]d runs; the newest %d are listed", mostRuns+5, mostRuns)) {
		t.Errorf("%d rows: %.3000s", n, text[strings.Index(text, "<main"):])
	}
	if _, text := get(t, s.URL("")+"?q=old/0502"); !strings.Contains(text, "1 of 505 runs<") {
		t.Errorf("%.3000s", text[strings.Index(text, "<main"):])
	}
}

// The trials are listed by what went wrong, then by number, whatever the order in which they ended.
func TestServer_Trials(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	f, err := results.Create(root, results.Header{Name: "mixed", Planned: 6, Design: results.DesignColumns()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	statuses := []trace.Status{trace.OK, trace.TimedOut, trace.Violated, trace.OK, trace.Violated, trace.Failed}
	for _, n := range []int{5, 1, 6, 2, 4, 3} {
		one := results.Trial{Trial: n, Cell: 1, Repetition: n, Round: 1, RunOrder: n, Attempts: 1,
			Status: statuses[n-1], Reason: fmt.Sprint("reason ", n), InModel: n != 3}
		for _, name := range results.DesignColumns() {
			one.Design = append(one.Design, metric.Field{Name: name, Value: "its " + name})
		}
		if err := f.Append(one); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s := listen(t, Options{Dir: root})
	run := s.URL("mixed/" + filepath.Base(f.Dir()))
	row := regexp.MustCompile(`trial\?n=(\d)">.*<b>(\w+)</b>( beyond the model)?<`)
	for query, want := range map[string]string{
		"":                "3 violation beyond the model, 5 violation, 2 timeout, 6 error, 1 ok, 4 ok",
		"?q=violation":    "3 violation beyond the model, 5 violation",
		"?q=OK+reason":    "1 ok, 4 ok",
		"?q=reason+its+2": "2 timeout",
	} {
		_, text := get(t, run+"trials"+query)
		var got []string
		for _, m := range row.FindAllStringSubmatch(text, -1) {
			got = append(got, m[1]+" "+m[2]+m[3])
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
}

// Many look at many pages at once; the race detector looks at them.
func TestServer_Together(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	done := "run/done/" + filepath.Base(ended(t, root, "done", 0)) + "/"
	f, err := results.Create(root, results.Header{Name: "going", Planned: 1, Design: results.DesignColumns()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	page := func(string, int) ([]byte, error) { return []byte("the trial"), nil }
	s := listen(t, Options{Dir: root, Trial: page})
	var all sync.WaitGroup
	for range 4 {
		for path, want := range map[string]string{"": "2 of 2 runs", done + "trials": "0 of 0 trials",
			done + "trial?n=1": "the trial", "run/going/" + filepath.Base(f.Dir()) + "/": "0 of 1 trials"} {
			all.Go(func() {
				for range 20 {
					if _, text := get(t, s.URL("")+path); !strings.Contains(text, want) {
						t.Errorf("%s has no %q: %s", path, want, text)
					}
				}
			})
		}
	}
	all.Wait()
}
