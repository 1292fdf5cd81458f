package cli

import (
	"archive/zip"
	"bytes"
	"html"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// serving serves the runs in dir for the test.
func serving(t *testing.T, dir string, measuring func() string) (address string) {
	t.Helper()
	p, err := newStreams(strings.NewReader(""), io.Discard, io.Discard, nil).pages(dir, 0, measuring)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p.URL("")
}

// ask is what a request is answered.
func ask(t *testing.T, method, address, host string) (code int, text string, h http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		r.Host = host
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(b), answer.Header
}

// Who has not the whole address, comes by another name or wants to write gets nothing.
func TestServe_Refuses(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	bench(t, "run", write(t, "small.yaml", small), "--out", root, "--quiet").want(t, Good)
	secret := filepath.Join(filepath.Dir(root), "journal.ndjson")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	home := serving(t, root, nil)
	run := home + "run/small/" + filepath.Base(latest(t, root, "small")) + "/"
	server, _, _ := strings.Cut(strings.TrimPrefix(home, "http://"), "/")
	for _, c := range []struct {
		method, address, host string
		code                  int
	}{
		{"GET", home, "", 200},
		{"HEAD", run, "", 200},
		{"GET", home, strings.Replace(server, "127.0.0.1", "localhost", 1), 200},
		{"GET", "http://" + server + "/", "", 403},
		{"GET", home[:len(home)-2] + "/", "", 403},
		{"GET", strings.ToLower(home), "", 403},
		{"GET", home, "evil.example", 403},
		{"GET", home, "127.0.0.1", 403},
		{"POST", home, "", 405},
		{"DELETE", run, "", 405},
		{"PUT", run + "trials", "", 405},
		{"GET", home + "run/../", "", 404},
		{"GET", home + "run/..%2f/", "", 404},
		{"GET", home + "run/small/../../", "", 404},
		{"GET", home + "run/%2e%2e%2fsmall/", "", 404},
		{"GET", home + "run/" + root + "/", "", 404},
		{"GET", home + "run/small/latest/", "", 404},
		{"GET", run + "journal.ndjson", "", 404},
		{"GET", run + "../trials.csv", "", 404},
		{"GET", run + "trial?n=0", "", 404},
		{"GET", run + "trial?n=99", "", 503},
	} {
		code, text, h := ask(t, c.method, c.address, c.host)
		if code != c.code {
			t.Errorf("%s %s as %q: %d, want %d: %.80s", c.method, c.address, c.host, code, c.code, text)
		}
		if code != 200 && (strings.Contains(text, "Conclave report") || strings.Contains(text, "secret")) ||
			code/10 == 40 && code != 404 && strings.Contains(text, "html") {
			t.Errorf("%s %s: the refusal shows something: %s", c.method, c.address, text)
		}
		policy := h.Get("Content-Security-Policy")
		if h.Get("Referrer-Policy") != "no-referrer" || h.Get("X-Frame-Options") != "DENY" ||
			h.Get("Set-Cookie") != "" || h.Get("Cache-Control") != "no-store" ||
			h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s %s: headers %v", c.method, c.address, h)
		}
	}
	// Another address of this machine does not answer.
	_, port, _ := net.SplitHostPort(server)
	for _, other := range []string{"127.0.0.2", "::1"} {
		if c, err := net.Dial("tcp", net.JoinHostPort(other, port)); err == nil {
			t.Errorf("%s answers", other)
			_ = c.Close()
		}
	}
	if again := serving(t, root, nil); again[len(again)-27:] == home[len(home)-27:] {
		t.Error("two servers have one token")
	}
}

// The index has every run, a damaged one, too; a run that is gone is said to be.
func TestServe_Pages(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	home := serving(t, root, nil)
	_, text, _ := ask(t, "GET", home, "")
	has(t, text, "There is no run in")
	file := write(t, "small.yaml", small)
	bench(t, "run", file, "--out", root, "--quiet").want(t, Good)
	good := latest(t, root, "small")
	for name, damage := range map[string]func(dir string) error{
		"cut": func(dir string) error { return os.Remove(filepath.Join(dir, "journal.ndjson")) },
		"edited": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "manifest.json"), []byte("{}"), 0o644)
		},
	} {
		bench(t, "run", file, "--out", root, "--quiet", "--set", "name="+name).want(t, Good)
		if err := damage(latest(t, root, name)); err != nil {
			t.Fatal(err)
		}
	}
	_, text, _ = ask(t, "GET", home, "")
	has(t, text, ">damaged<", "journal.ndjson is missing", "was edited or damaged",
		`"state good">ok<`, "</b> ok")
	_, text, _ = ask(t, "GET", home+"?q=ok+SMALL", "")
	has(t, text, "1 of 3 runs")
	run := home + "run/small/" + filepath.Base(good) + "/"
	for leaf, wants := range map[string][]string{
		"":          {"Conclave report", `href="trials"`, `href="../../../"`, `href="archive.zip"`},
		"trials":    {"56 of 56 trials", `href="trial?n=56"`},
		"trial?n=3": {"small, trial 3", "Conclave bench trace", `<a href="trials">`},
	} {
		code, text, _ := ask(t, "GET", run+leaf, "")
		if code != 200 {
			t.Errorf("%s: %d", leaf, code)
		}
		has(t, text, wants...)
	}
	_, packed, _ := ask(t, "GET", run+"archive.zip", "")
	z, err := zip.NewReader(strings.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	folder, err := fs.Sub(z, "small-"+filepath.Base(good))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ro-crate-metadata.json", "trials.csv", "journal.ndjson"} {
		if text, err := fs.ReadFile(folder, name); err != nil || len(text) == 0 {
			t.Errorf("the archive: %v", err)
		}
	}
	edited := home + "run/edited/" + filepath.Base(latest(t, root, "edited")) + "/"
	if code, text, _ := ask(t, "GET", edited, ""); code != 503 {
		t.Errorf("a damaged run: %d %s", code, text)
	}
	if err := os.RemoveAll(good); err != nil {
		t.Fatal(err)
	}
	code, text, _ := ask(t, "GET", run, "")
	if has(t, text, "may have been removed"); code != 404 {
		t.Errorf("a run that is gone: %d", code)
	}
	_, text, _ = ask(t, "GET", home, "")
	has(t, text, "2 of 2 runs")
}

// Two runs are compared as bench compare does it, and the trends of a history are shown.
func TestServe_Beside(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	file, ids := write(t, "small.yaml", small), []string(nil)
	for _, seed := range []string{"seed=1", "seed=2"} {
		bench(t, "run", file, "--out", root, "--quiet", "--set", seed).want(t, Good)
		ids = append(ids, "small/"+filepath.Base(latest(t, root, "small")))
	}
	store := filepath.Join(root, "history")
	bench(t, "history", "add", filepath.Join(root, ids[0]), "--store", store, "--commit", "HEAD").want(t, Good)
	if found := foundHistories(root); !slices.Equal(found, []string{store}) {
		t.Errorf("found %q", found)
	}
	p, err := newStreams(strings.NewReader(""), io.Discard, io.Discard, nil).pages(root, 0, nil, store)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	code, text, h := ask(t, "GET", p.URL("")+"compare?"+url.Values{"run": ids}.Encode(), "")
	if has(t, text, "Conclave compare", `href="./">all runs`, `href="run/`+ids[0]+`/">base`); code != 200 ||
		!strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors") {
		t.Errorf("%d %v", code, h)
	}
	told := bench(t, "compare", filepath.Join(root, ids[0]), filepath.Join(root, ids[1]), "--no-fail").out
	for _, word := range strings.Fields(told)[:12] {
		has(t, html.UnescapeString(text), word)
	}
	code, text, _ = ask(t, "GET", p.URL("")+"history?of="+url.QueryEscape(store), "")
	if has(t, text, "Nothing changed.", "did not change", "./"); code != 200 {
		t.Errorf("%d", code)
	}
}

// While times are measured, nothing that takes work is done.
func TestServe_Measuring(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	bench(t, "run", write(t, "small.yaml", small), "--out", root, "--quiet").want(t, Good)
	home := serving(t, root, func() string { return "it measures" })
	run := home + "run/small/" + filepath.Base(latest(t, root, "small")) + "/"
	for _, leaf := range []string{"", "trial?n=3", "archive.zip"} {
		code, text, _ := ask(t, "GET", run+leaf, "")
		if has(t, text, "it measures"); code != 503 {
			t.Errorf("%q: %d", leaf, code)
		}
	}
}

func TestServe_Usage(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	dir, file := t.TempDir(), write(t, "small.yaml", small)
	for _, c := range []struct{ line, says string }{
		{"serve " + filepath.Join(dir, "none"), "expected the folder that bench run --out has made"},
		{"serve " + file, "is no folder"},
		{"serve a b", "takes one folder"},
		{"serve --port 70000 " + dir, "expected 1 to 65535"},
		{"serve --port " + port + " " + dir, "leave it out, and a free one is taken"},
		{"run --port 8080 " + file, "--port means nothing without --serve"},
	} {
		has(t, bench(t, strings.Split(c.line, " ")...).want(t, Usage).errors, c.says)
	}
}

// A visitor is standard error of a run, which looks at the run's page when it is told where
// that is, and again after some trials. The run waits for it.
type visitor struct {
	t          *testing.T
	text       bytes.Buffer
	url        string
	trials     int
	seen, then string
}

var (
	watchAt   = regexp.MustCompile(`watch +(http://\S+)`)
	nonePages = regexp.MustCompile(`\b0 of 56 trials`)
)

func (v *visitor) Write(b []byte) (int, error) {
	v.text.Write(b)
	if m := watchAt.FindSubmatch(v.text.Bytes()); m != nil && v.url == "" {
		v.url = string(m[1])
		_, v.seen, _ = ask(v.t, "GET", v.url, "")
	}
	if bytes.Contains(b, []byte(`"planned"`)) {
		if v.trials++; v.trials == 50 {
			for v.then = v.seen; nonePages.MatchString(v.then); { // a page is as good as new for a second
				_, v.then, _ = ask(v.t, "GET", v.url, "")
			}
		}
	}
	return len(b), nil
}

// A run shows itself while it goes on, ends with its own exit code, and the pages with it.
func TestRun_Serve(t *testing.T) {
	t.Parallel()
	v := &visitor{t: t}
	code := newStreams(strings.NewReader(""), io.Discard, v, nil).bench([]string{"run",
		write(t, "small.yaml", small), "--out", t.TempDir(), "--serve", "--progress", "json"})
	if code != Good {
		t.Errorf("exit code %d: %s", code, v.text.String())
	}
	has(t, v.seen, "<h1>small</h1>", `<span class="state going">running</span>`, "0 of 56 trials", "No trial has ended yet.", "None so far.")
	has(t, v.then, "election time (ms)", "</b> ok", `<svg class="interval"`)
	if _, err := http.Get(v.url); err == nil {
		t.Error("the pages outlive their run")
	}
}
