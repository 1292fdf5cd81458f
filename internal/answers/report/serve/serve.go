// Package serve shows the runs in a folder to a browser on this machine: an index, a run in
// progress, the report of one that has ended, and its trials. It only reads.
package serve

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	_ "embed" // the pages' assets
	"errors"
	"fmt"
	"html/template"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/conclave-bench/conclave/internal/answers/theme"
	"github.com/conclave-bench/conclave/internal/base/console"
)

// Options are what a Server needs of others.
type Options struct {
	// Dir has the runs: in itself, in its folders, or in theirs.
	Dir string
	// Report is the page of the run in a folder. Links lead to what stands beside it. It may be called from
	// several goroutines, and so may the others.
	Report func(dir string, links ...theme.Link) ([]byte, error)
	// Trial is the page to step through a trial.
	Trial func(dir string, number int) ([]byte, error)
	// Compare is the page of what changed from one run to another.
	Compare func(base, new string, links ...theme.Link) ([]byte, error)
	// Histories are the places of histories, each of which History makes a page of trends of.
	Histories []string
	History   func(place string, links ...theme.Link) ([]byte, error)
	// Archive writes the run in a folder as a ZIP, in which it has that name. An error before the first byte
	// is shown as a page.
	Archive func(w io.Writer, dir, name string) error
	// Prices are what machines cost an hour, by name; nil: no price is known.
	Prices func() map[string]float64
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
// browser sends those of 127.0.0.1 to every port there, whichever program listens.
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
		http.Error(w, "wrong address: copy the whole address that bench printed", http.StatusForbidden)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "this server is read-only: GET or HEAD", http.StatusMethodNotAllowed)
		return
	}
	if !slash {
		http.Redirect(w, r, "/"+s.token+"/", http.StatusMovedPermanently)
		return
	}
	if err := s.archive(w, rest); err == nil {
		return
	} else if !errors.Is(err, errNoArchive) {
		s.answer(w, rest, nil, err)
		return
	}
	html, err := s.page(rest, r.URL.Query())
	s.answer(w, rest, html, err)
}

// answer sends a page, or says why there is none.
func (s *Server) answer(w http.ResponseWriter, rest string, html []byte, err error) {
	h, code := w.Header(), http.StatusOK
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

// The pages beside the runs, and what is below a run.
const (
	comparePath = "compare"
	historyPath = "history"
	archivePath = "archive.zip"
)

// at is the run of a path behind the token, and what is asked of it.
func (s *Server) at(rest string) (e *entry, leaf string, err error) {
	inside, ok := strings.CutPrefix(rest, "run/")
	at := strings.LastIndexByte(inside, '/')
	if !ok || at < 0 {
		return nil, "", &missing{"no such page"}
	}
	if e, err = s.find(inside[:at]); err == nil && e == nil {
		err = &missing{"there is no such run; it may have been removed"}
	}
	return e, inside[at+1:], err
}

// page makes the page at a path behind the token.
func (s *Server) page(rest string, query url.Values) ([]byte, error) {
	switch rest {
	case "":
		return s.index(query.Get("q"))
	case comparePath:
		return s.compare(query["run"])
	case historyPath:
		return s.history(query.Get("of"))
	}
	e, leaf, err := s.at(rest)
	if err != nil {
		return nil, err
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
			links := []theme.Link{{Name: "all trials", Value: "trials"}}
			if s.options.Archive != nil {
				links = append(links, theme.Link{Name: "archive (ZIP)", Value: archivePath})
			}
			return s.options.Report(e.dir, append(links, home(e.Path))...)
		})
	case "trials":
		return s.trials(e, query.Get("q"))
	case "trial":
		n, err := strconv.Atoi(query.Get("n"))
		if err != nil || n < 1 {
			return nil, &missing{"expected the number of a trial, from 1"}
		}
		return s.kept(fmt.Sprintf("trial %d %s", n, e.key()), func() ([]byte, error) {
			return s.options.Trial(e.dir, n)
		})
	}
	return nil, &missing{"no such page"}
}

// home is the way to the index from a path behind the token. It is relative: a page that somebody saves and
// hands on does not tell the token.
func home(from string) theme.Link {
	return theme.Link{Name: "all runs", Value: cmp.Or(strings.Repeat("../", strings.Count(from, "/")), "./")}
}

// compare is the page of what changed between two runs: from the older to the newer.
func (s *Server) compare(ids []string) ([]byte, error) {
	if len(ids) != 2 {
		return nil, &missing{fmt.Sprintf("%s: tick two runs to compare them",
			console.Plural(len(ids), "run is ticked", "runs are ticked"))}
	}
	var runs []*entry
	for _, id := range ids {
		e, err := s.find(id)
		switch {
		case err != nil:
			return nil, err
		case e == nil:
			return nil, &missing{"there is no such run; it may have been removed"}
		case e.Damage != "":
			return nil, &later{id + " is damaged: " + e.Damage}
		}
		runs = append(runs, e)
	}
	slices.SortStableFunc(runs, func(a, b *entry) int { return strings.Compare(a.Started, b.Started) })
	base, fresh := runs[0], runs[1]
	return s.kept("compare "+base.key()+" "+fresh.key(), func() ([]byte, error) {
		return s.options.Compare(base.dir, fresh.dir, theme.Link{Name: "base " + base.ID, Value: base.Path},
			theme.Link{Name: "new " + fresh.ID, Value: fresh.Path}, home(comparePath))
	})
}

// history is the page of trends of a place.
func (s *Server) history(place string) ([]byte, error) {
	if !slices.Contains(s.options.Histories, place) { // no path is made of what is asked for
		return nil, &missing{"there is no such history"}
	}
	if why := s.measuring(); why != "" {
		return nil, &later{why}
	}
	// Whoever adds to it wants to see that: it is made anew each time.
	return s.make(&page{}, func() ([]byte, error) { return s.options.History(place, home(historyPath)) })
}

// errNoArchive: it is a page that is asked for.
var errNoArchive = errors.New("no archive")

// archive sends a run as a ZIP.
func (s *Server) archive(w http.ResponseWriter, rest string) error {
	if s.options.Archive == nil || !strings.HasSuffix(rest, "/"+archivePath) {
		return errNoArchive
	}
	e, _, err := s.at(rest)
	switch {
	case err != nil:
		return err
	case e.Running:
		return &later{"the run is in progress: its archive is available when it has ended"}
	case e.Damage != "":
		return &later{"the run is damaged: " + e.Damage}
	}
	if why := s.measuring(); why != "" {
		return &later{why}
	}
	s.work <- struct{}{}
	defer func() { <-s.work }()
	name := strings.Trim(strings.Map(fileRune, e.Name+"-"+e.Run), "-")
	to := &attachment{ResponseWriter: w, name: name + ".zip"}
	switch err := s.options.Archive(to, e.dir, name); {
	case err != nil && to.begun:
		panic(http.ErrAbortHandler) // or the browser would keep half of it
	case err != nil:
		return &later{err.Error()}
	}
	return nil
}

// fileRune is what a character of a name becomes in that of a file.
func fileRune(r rune) rune {
	if r == '.' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
		return r
	}
	return '-'
}

// An attachment is a file that a browser saves, from its first byte on.
type attachment struct {
	http.ResponseWriter
	name  string
	begun bool
}

func (a *attachment) Write(b []byte) (int, error) {
	if !a.begun {
		a.begun = true
		a.Header().Set("Content-Type", "application/zip")
		a.Header().Set("Content-Disposition", `attachment; filename="`+a.name+`"`)
	}
	return a.ResponseWriter.Write(b)
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
	return s.make(p, make)
}

// make makes a page, when few others are being made.
func (s *Server) make(p *page, make func() ([]byte, error)) ([]byte, error) {
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
	top := theme.Page{Kind: "serve", Title: "Not available", Links: []theme.Link{home(rest)}}
	html, bad := s.write("refusal", top, err.Error())
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
	return theme.New("pages", pagesText, template.FuncMap{
		"beyond": func() string { return beyond }, "plural": console.Plural,
	})
})

// generator marks pages that this package makes, ours in their text.
const (
	generator = "Conclave bench serve"
	ours      = `content="` + generator + `"`
)

// code is what they run.
var code = theme.Script + script

// policy lets them run that, and ask this server.
var policy = theme.Policy("connect-src 'self'; form-action 'self'; frame-ancestors 'none'", theme.Sum(code))

// write makes a page of a kind, with what it says at its top.
func (s *Server) write(kind string, top theme.Page, data any) ([]byte, error) {
	top.Generator, top.Style = generator, theme.CSS(style+looks())
	top.Start, top.StartName = "main", "the contents"
	var out bytes.Buffer
	err := pages().ExecuteTemplate(&out, "page", map[string]any{
		"Kind": kind, "Page": top, "Data": data, "Script": template.JS(code), "Dir": s.options.Dir,
	})
	return out.Bytes(), err
}
