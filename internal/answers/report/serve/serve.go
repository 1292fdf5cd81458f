// Package serve shows the runs in a folder to a browser on this machine: an index, a run in
// progress, the report of one that has ended, and its trials. It only reads.
package serve

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed" // the pages' assets
	"encoding/base64"
	"fmt"
	"html/template"
	"log"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/report"
	"github.com/conclave-bench/conclave/internal/base/console"
)

// Options are what a Server needs of others.
type Options struct {
	// Dir has the runs: in itself, in its folders, or in theirs.
	Dir string
	// Report is the page of the run in a folder. Home is the way back to the index. It may be
	// called from several goroutines, and so may Trial.
	Report func(dir, home string) ([]byte, error)
	// Trial is the page to step through a trial.
	Trial func(dir string, number int) ([]byte, error)
	// Verdict is what a run is called that ended with an exit code, and how it looks: good, bad
	// or warn.
	Verdict func(code int) (name, style string)
	// Measuring says why no page that takes work may be made now; "" or nil: it may.
	Measuring func() string
	// Log gets what goes wrong with connections.
	Log *log.Logger
}

// A Server shows runs. A visitor without its whole address sees nothing.
type Server struct {
	options Options
	token   string
	host    string // address and port
	http    http.Server

	work chan struct{} // a token for each page that takes work and is being made

	mu    sync.Mutex // of what follows; nobody who has it waits for a page
	runs  map[string]*entry
	found time.Time     // when they were
	took  time.Duration // which took so long
	lives map[string]*live
	pages []*page
}

// A page is one that takes work. A request that comes while it is being made waits for it.
type page struct {
	key  string
	done chan struct{} // closed when it is made
	html []byte
	err  error
}

// mostWork is how many pages are made at a time: a run may go on beside them.
const mostWork = 2

// mostPages are kept, and take at most about 5 MB each.
const mostPages = 8

// Listen opens a port of this machine, which nobody else can reach. Port 0: the system
// chooses one.
func Listen(port int, o Options) (*Server, net.Listener, error) {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, nil, err
	}
	s := &Server{options: o, token: rand.Text(), host: l.Addr().String(), runs: map[string]*entry{},
		lives: map[string]*live{}, work: make(chan struct{}, mostWork)}
	s.http = http.Server{Handler: s, ErrorLog: o.Log, ReadTimeout: 10 * time.Second,
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 16}
	return s, l, nil
}

// Serve answers until Close.
func (s *Server) Serve(l net.Listener) error { return s.http.Serve(l) }

// Close ends the server at once.
func (s *Server) Close() error { return s.http.Close() }

// URL is the address of the index, or of a run by its id.
//
// The token is in the path, so that the address can be copied. It is no cookie, since a
// browser sends those of 127.0.0.1 to every port there, whoever listens.
func (s *Server) URL(id string) string {
	address := "http://" + s.host + "/" + s.token + "/"
	if id != "" {
		address += runPath(id)
	}
	return address
}

// runPath is the address of a run relative to that of the index.
func runPath(id string) string { return "run/" + (&url.URL{Path: id}).EscapedPath() + "/" }

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	// Report and trial have a policy of their own besides.
	h.Set("Content-Security-Policy", "frame-ancestors 'none'")
	port := s.host[strings.LastIndexByte(s.host, ':'):]
	if r.Host != s.host && r.Host != "localhost"+port {
		// A page of somebody else may have a name that leads here (DNS rebinding).
		http.Error(w, "this server is called "+s.host, http.StatusForbidden)
		return
	}
	token, rest, slash := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1 {
		http.Error(w, "wrong address: copy all of the one that bench has printed", http.StatusForbidden)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "this server only shows: GET or HEAD", http.StatusMethodNotAllowed)
		return
	}
	if !slash {
		http.Redirect(w, r, "/"+s.token+"/", http.StatusMovedPermanently)
		return
	}
	html, err := s.page(rest, r.URL.Query())
	code := http.StatusOK
	if err != nil {
		html, code = s.refusal(rest, err)
	}
	if bytes.Contains(html[:min(len(html), 512)], []byte(ours)) {
		h.Set("Content-Security-Policy", policy)
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(html) // a reader that has gone needs no answer
}

// A missing is an error about what is not there.
type missing struct{ text string }

func (m *missing) Error() string { return m.text }

// A later is an error about what cannot be had now.
type later struct{ text string }

func (l *later) Error() string { return l.text }

// page makes the page at a path behind the token.
func (s *Server) page(rest string, query url.Values) ([]byte, error) {
	if rest == "" {
		return s.index(query.Get("q"))
	}
	inside, ok := strings.CutPrefix(rest, "run/")
	at := strings.LastIndexByte(inside, '/')
	if !ok || at < 0 {
		return nil, &missing{"no such page"}
	}
	id, leaf := inside[:at], inside[at+1:]
	e, err := s.find(id)
	if err != nil {
		return nil, err
	}
	if e == nil {
		return nil, &missing{"there is no such run; it may have been removed"}
	}
	switch leaf {
	case "":
		if e.Running {
			return s.live(e)
		}
		if e.Damage != "" {
			return nil, &later{"the run is damaged: " + e.Damage}
		}
		return s.kept("report "+e.key(), func() ([]byte, error) {
			return s.options.Report(e.dir, strings.Repeat("../", strings.Count(e.Path, "/")))
		})
	case "trials":
		return s.trials(e, query.Get("q"))
	case "trial":
		n, err := strconv.Atoi(query.Get("n"))
		if err != nil || n < 1 {
			return nil, &missing{"want the number of a trial, from 1"}
		}
		return s.kept(fmt.Sprintf("trial %d %s", n, e.key()), func() ([]byte, error) {
			return s.options.Trial(e.dir, n)
		})
	}
	return nil, &missing{"no such page"}
}

// kept makes a page, or takes the one that was made or is being made.
func (s *Server) kept(key string, make func() ([]byte, error)) ([]byte, error) {
	p, mine, err := s.claim(key)
	if err != nil {
		return nil, err
	}
	if !mine {
		<-p.done
		return p.html, p.err
	}
	defer s.settle(p)
	s.work <- struct{}{}
	defer func() { <-s.work }()
	p.err = &later{"the program has failed to make this page"} // which holds if it panics
	html, err := make()
	if p.html, p.err = html, nil; err != nil {
		p.err = &later{err.Error()}
	}
	return p.html, p.err
}

// claim finds a page, or begins a new one, which is the caller's to make.
func (s *Server) claim(key string) (p *page, mine bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pages {
		if p.key == key {
			return p, false, nil
		}
	}
	if why := s.measuring(); why != "" {
		return nil, false, &later{why}
	}
	p = &page{key: key, done: make(chan struct{})}
	if s.pages = append(s.pages, p); len(s.pages) > mostPages {
		s.pages = s.pages[1:]
	}
	return p, true, nil
}

// measuring says why no page that takes work may be made now; "": it may.
func (s *Server) measuring() string {
	if s.options.Measuring == nil {
		return ""
	}
	return s.options.Measuring()
}

// settle gives a page to those who wait for it. One that could not be made is forgotten: it
// may be the next time.
func (s *Server) settle(p *page) {
	if close(p.done); p.err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages = slices.DeleteFunc(s.pages, func(o *page) bool { return o == p })
}

// refusal is a page that says why there is none.
func (s *Server) refusal(rest string, err error) (html []byte, code int) {
	code = http.StatusInternalServerError
	switch err.(type) {
	case *missing:
		code = http.StatusNotFound
	case *later:
		code = http.StatusServiceUnavailable
	}
	html, bad := s.write("refusal", "Not to be had", err.Error())
	if bad != nil {
		html = []byte(bad.Error())
	}
	return html, code
}

var (
	//go:embed assets/pages.html
	pagesText string
	//go:embed assets/serve.css
	style string
	//go:embed assets/serve.js
	script string
)

// pages is read when it is first used: this package is linked into every node process, and a
// node's start is measured time.
var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("pages").Funcs(template.FuncMap{
		"beyond": func() string { return beyond }, "plural": console.Plural,
	}).Parse(pagesText))
})

// ours marks pages that this package makes.
const ours = `content="Conclave bench serve"`

// policy lets them run their own script, and ask this server.
var policy = func() string {
	sum := sha256.Sum256([]byte(script))
	own := base64.StdEncoding.EncodeToString(sum[:])
	return "default-src 'none'; script-src 'sha256-" + own + "'; " +
		"style-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; " +
		"form-action 'self'; frame-ancestors 'none'"
}()

// write makes a page of a kind.
func (s *Server) write(kind, title string, data any) ([]byte, error) {
	var out bytes.Buffer
	err := pages().ExecuteTemplate(&out, "page", map[string]any{
		"Kind": kind, "Title": title, "Data": data, "Style": template.CSS(report.Style() + style),
		"Script": template.JS(script), "Home": "/" + s.token + "/", "Dir": s.options.Dir,
	})
	return out.Bytes(), err
}
