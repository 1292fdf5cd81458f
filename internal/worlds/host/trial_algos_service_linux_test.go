package host_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A small system that people could run: one server that gives a lock to one connection at a time, and the
// clients. What the server has granted stands in a file, so that it is seen whether that outlives a crash.

func init() {
	paper := algo.Paper{Authors: "test", Title: "test", Year: 2026}
	algo.RegisterService(algo.MutualExclusion, algo.Spec{
		Name: "test-service", Summary: "a lock that a server grants", Paper: paper, Perpetual: true,
		Params: []algo.Param{
			{Name: "servers", Type: algo.Int, Min: int64(1), Default: algo.Const(int64(1)), Doc: "servers"},
			{Name: "broken", Type: algo.Bool, Default: algo.Const(false), Doc: "the server does not start"},
		},
		Servers:  "servers",
		Survives: algo.Faults{Recovery: true, Loss: true, Partition: true, Crashes: func(n int, _ algo.Params) int { return n }},
	}, func(c algo.Config) algo.Live { return &served{Config: c} })
}

// A served is the server, or a client.
type served struct {
	algo.Config
	site     algo.Site
	post     func(func(algo.LiveEnv))
	listener net.Listener
	child    *exec.Cmd
	mu       sync.Mutex
	conn     net.Conn
	waits    chan struct{}
	over     sync.WaitGroup
	ended    bool
}

const servicePort = 7100

func (s *served) Receive(algo.Env, algo.ID, algo.Message) {}
func (s *served) Elect(algo.Env)                          {}

func (s *served) Open(at algo.Site, h algo.Host) error {
	s.site, s.post = at, h.Post
	if at.Server(s.ID) >= 0 {
		return s.serve()
	}
	s.waits = make(chan struct{}, 1)
	return s.dial(10 * time.Second)
}

// serve begins to grant, and leaves a program behind that must not outlive the node.
func (s *served) serve() (err error) {
	if s.Params.Bool("broken") {
		return fmt.Errorf("the server has ended at once: \x1b[31mno space left")
	}
	if os.Getuid() == 0 {
		return fmt.Errorf("the server is root")
	}
	s.child = exec.Command("sleep", "600")
	if err = s.child.Start(); err != nil {
		return err
	}
	if s.listener, err = net.Listen("tcp", fmt.Sprintf("%v:%d", s.site.Addresses[s.ID.Index()], servicePort)); err != nil {
		return err
	}
	s.post(func(env algo.LiveEnv) { env.Elected(s.ID, uint64(s.Incarnation)+1) })
	var turn sync.Mutex
	go func() {
		for {
			c, err := s.listener.Accept()
			if err != nil {
				return
			}
			go s.grant(c, &turn)
		}
	}()
	return nil
}

// grant lets the client at c in, each time that it asks.
func (s *served) grant(c net.Conn, turn *sync.Mutex) {
	lines := bufio.NewScanner(c)
	held := false
	for lines.Scan() {
		switch lines.Text() {
		case "acquire":
			turn.Lock()
			held = true
			f, err := os.OpenFile(filepath.Join(s.site.Folder, "granted"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err == nil {
				_, _ = f.WriteString("x")
				_ = f.Close()
			}
			b, _ := os.ReadFile(filepath.Join(s.site.Folder, "granted"))
			_, _ = fmt.Fprintf(c, "granted %d\n", len(b))
		case "release":
			held = false
			turn.Unlock()
		}
	}
	if held {
		turn.Unlock()
	}
}

// dial connects to the server, for so long.
func (s *served) dial(patience time.Duration) error {
	to := fmt.Sprintf("%v:%d", s.site.ServerAddresses()[0], servicePort)
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.DialTimeout("tcp", to, time.Second)
		if err == nil {
			s.mu.Lock()
			s.conn = c
			s.mu.Unlock()
			return nil
		}
		if s.mu.Lock(); s.ended || time.Since(begun) > patience {
			s.mu.Unlock()
			return err
		}
		s.mu.Unlock()
	}
}

func (s *served) Request(algo.Env) {
	s.over.Add(1)
	go func() {
		defer s.over.Done()
		for {
			s.mu.Lock()
			c, ended := s.conn, s.ended
			s.mu.Unlock()
			if ended {
				return
			}
			_ = c.SetReadDeadline(time.Now().Add(2 * time.Second))
			_, _ = fmt.Fprintln(c, "acquire")
			line, err := bufio.NewReader(c).ReadString('\n')
			if err == nil {
				s.post(func(env algo.LiveEnv) { env.Logf("%s", strings.TrimSpace(line)); env.Granted() })
				return
			}
			_ = c.Close()
			if s.dial(10*time.Second) != nil {
				return
			}
		}
	}()
}

func (s *served) Release(algo.Env) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = fmt.Fprintln(s.conn, "release")
}

func (s *served) Close() {
	s.mu.Lock()
	s.ended = true
	if s.conn != nil {
		_ = s.conn.Close()
	}
	s.mu.Unlock()
	if s.listener != nil {
		_ = s.listener.Close()
		_ = s.child.Process.Kill()
		_ = s.child.Wait()
	}
	s.over.Wait()
}
