package bus

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxConfigLine bounds the configuration that a server process reads. A user takes
// some 80 bytes.
const maxConfigLine = 16 << 20

// A ServerReply is the first line that a server process prints: where it is, or why it is not.
type ServerReply struct {
	URL   string `json:"url,omitempty"`
	Route string `json:"route,omitempty"` // of a member of a cluster: see Server.Route
	Error string `json:"error,omitempty"`
}

// ServeProcess is a process that is nothing but a server. It reads its ServerConfig from the
// first line of stdin and prints a ServerReply, each in JSON on one line; then it answers
// every line "stats" with its ServerStats, and every line "deaf TRIAL N" with a list: see
// Server.Deaf. It ends when stdin does, so that it does not outlive its parent.
func ServeProcess(stdin io.Reader, stdout io.Writer) error {
	lines := bufio.NewScanner(stdin)
	lines.Buffer(nil, maxConfigLine)
	out := json.NewEncoder(stdout)
	s, err := startFromLine(lines)
	if err != nil {
		return errors.Join(err, out.Encode(ServerReply{Error: err.Error()}))
	}
	defer s.Close()
	if err := out.Encode(ServerReply{URL: s.URL(), Route: s.Route()}); err != nil {
		return fmt.Errorf("serve bus: %w", err)
	}
	for lines.Scan() {
		answer, err := s.answer(lines.Text())
		if err == nil {
			err = out.Encode(answer)
		}
		if err != nil {
			return fmt.Errorf("serve bus: %w", err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("serve bus: %w", err)
	}
	return nil
}

// answer answers a question to a server process.
func (s *Server) answer(question string) (any, error) {
	if question == "stats" {
		return s.Stats()
	}
	var trial string
	var nodes int
	if _, err := fmt.Sscanf(question, "deaf %s %d", &trial, &nodes); err != nil {
		return nil, fmt.Errorf("%.80q: expected \"stats\", \"deaf TRIAL N\" or the end", question)
	}
	return s.Deaf(trial, nodes), checkTrial(trial)
}

func startFromLine(lines *bufio.Scanner) (*Server, error) {
	if !lines.Scan() {
		err := lines.Err()
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("serve bus: read configuration: %w", err)
	}
	var cfg ServerConfig
	if err := json.Unmarshal(lines.Bytes(), &cfg); err != nil {
		return nil, fmt.Errorf("serve bus: read configuration: %w", err)
	}
	return StartServer(cfg)
}
