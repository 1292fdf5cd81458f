package serve

import (
	"fmt"
	"html"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/theme"
	"github.com/conclave-bench/conclave/pkg/metric"
	"github.com/conclave-bench/conclave/pkg/results"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// listen serves dir for the test.
func listen(t *testing.T, o Options) *Server {
	t.Helper()
	o.Log = log.New(io.Discard, "", 0)
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
		Report: func(string, ...theme.Link) ([]byte, error) {
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
	for name, verdict := range map[string]string{"good": "ok", "bad": "violation", "half": "interrupted",
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
	if n := strings.Count(text, "<th scope=\"row\">"); n != mostRuns ||
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

// Two runs that are ticked are compared, the older as the base; of any other number there is no page.
func TestServer_Compare(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	older := ended(t, root, "older", 0)
	time.Sleep(1100 * time.Millisecond) // the index knows seconds
	newer := ended(t, root, "newer", 0)
	s := listen(t, Options{Dir: root, Compare: func(base, new string, links ...theme.Link) ([]byte, error) {
		return fmt.Appendf(nil, "%s against %s, %v", base, new, links), nil
	}})
	ids := []string{"newer/" + filepath.Base(newer), "older/" + filepath.Base(older)}
	_, text := get(t, s.URL(""))
	for _, id := range ids {
		if !strings.Contains(text, `<input type="checkbox" name="run" value="`+id+`"`) {
			t.Errorf("%s cannot be ticked", id)
		}
	}
	for _, c := range []struct {
		ids  []string
		code int
		want string
	}{
		{ids, 200, older + " against " + newer}, {ids, 200, "{all runs ./}"},
		{ids[:1], 404, "1 run is ticked: tick two"}, {nil, 404, "0 runs are ticked"},
		{append(ids, ids[0]), 404, "3 runs are ticked"}, {[]string{ids[0], "../older"}, 404, "no such run"},
	} {
		code, text := get(t, s.URL("")+"compare?"+url.Values{"run": c.ids}.Encode())
		if code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%q: %d, want %d and %s: %s", c.ids, code, c.code, c.want, text[strings.Index(text, "<main"):])
		}
	}
}

// The index leads to each history that there is, and to no other place.
func TestServer_History(t *testing.T) {
	t.Parallel()
	s := listen(t, Options{Dir: t.TempDir(), Histories: []string{"git:refs/notes/a b"},
		History: func(place string, _ ...theme.Link) ([]byte, error) { return []byte("trends of " + place), nil }})
	_, text := get(t, s.URL(""))
	link := regexp.MustCompile(`<a href="(history[^"]+)">trends of git:refs/notes/a b</a>`).FindStringSubmatch(text)
	if link == nil {
		t.Fatalf("no link: %s", text)
	}
	if code, text := get(t, s.URL("")+html.UnescapeString(link[1])); code != 200 || text != "trends of git:refs/notes/a b" {
		t.Errorf("%d %s", code, text)
	}
	for _, of := range []string{"", "/etc", "git:refs/notes/a"} {
		if code, _ := get(t, s.URL("")+"history?of="+of); code != 404 {
			t.Errorf("%q: %d", of, code)
		}
	}
}

// An archive is sent as a file of a harmless name; one that cannot be made is a page that says why.
func TestServer_Archive(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	good, bad := ended(t, root, "good", 0), ended(t, root, "bad", 0)
	f, err := results.Create(root, results.Header{Name: "going", Planned: 1,
		Design: results.DesignColumns()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := listen(t, Options{Dir: root, Archive: func(w io.Writer, dir, name string) error {
		if dir == bad {
			return os.ErrPermission
		}
		_, err := io.WriteString(w, name)
		return err
	}})
	path := func(dir string) string {
		return s.URL(filepath.Base(filepath.Dir(dir))+"/"+filepath.Base(dir)) + "archive.zip"
	}
	r, err := http.Get(path(good))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	name := "good-" + filepath.Base(good)
	if b, err := io.ReadAll(r.Body); err != nil || string(b) != name ||
		r.Header.Get("Content-Disposition") != `attachment; filename="`+name+`.zip"` ||
		r.Header.Get("Content-Type") != "application/zip" {
		t.Errorf("%s, %v, %v", b, err, r.Header)
	}
	for dir, want := range map[string]string{bad: "permission denied", f.Dir(): "the run is in progress"} {
		if code, text := get(t, path(dir)); code != 503 || !strings.Contains(text, want) {
			t.Errorf("%d, want %s: %s", code, want, text)
		}
	}
	for given, want := range map[rune]rune{'a': 'a', '"': '-', '/': '-', 'ä': '-', '\r': '-', '.': '.'} {
		if got := fileRune(given); got != want {
			t.Errorf("%q becomes %q", given, got)
		}
	}
}
