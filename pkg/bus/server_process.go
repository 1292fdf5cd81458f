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

// A ServerReply is the first line that a server process prints: either of the two.
type ServerReply struct {
	URL   string `json:"url,omitempty"`
	Error string `json:"error,omitempty"`
}

// ServeProcess is a process that is nothing but a server. It reads its ServerConfig
// from the first line of stdin and prints a ServerReply, each in JSON on one line;
// then it answers every line "stats" with its ServerStats. It ends when stdin does,
// so that it does not outlive whoever started it.
func ServeProcess(stdin io.Reader, stdout io.Writer) error {
	lines := bufio.NewScanner(stdin)
	lines.Buffer(nil, maxConfigLine)
	out := json.NewEncoder(stdout)
	s, err := startFromLine(lines)
	if err != nil {
		return errors.Join(err, out.Encode(ServerReply{Error: err.Error()}))
	}
	defer s.Close()
	if err := out.Encode(ServerReply{URL: s.URL()}); err != nil {
		return fmt.Errorf("serve bus: %w", err)
	}
	for lines.Scan() {
		if lines.Text() != "stats" {
			return fmt.Errorf("serve bus: %.80q: expected \"stats\" or the end", lines.Text())
		}
		stats, err := s.Stats()
		if err == nil {
			err = out.Encode(stats)
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
