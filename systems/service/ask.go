package service

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// answerTime is how long a server may take to say whether it is ready, or who leads.
const answerTime = time.Second

// Ready is nil if a server answers clients. It asks once, for a second at most.
func Ready(ctx context.Context, s System, m Member) error {
	ctx, stop := context.WithTimeout(ctx, answerTime)
	defer stop()
	return s.Ready(ctx, m)
}

// Leader is the server that leads, as server m knows. It asks once, for a second at most. Where servers elect
// nobody, the first one stands for the leader, and so does a single server.
func Leader(ctx context.Context, s System, m Member) (Leadership, error) {
	ctx, stop := context.WithTimeout(ctx, answerTime)
	defer stop()
	if e, elects := s.(Electing); elects && len(m.Peers) > 1 {
		return e.Leader(ctx, m)
	}
	if err := s.Ready(ctx, m); err != nil {
		return Nobody, err
	}
	return Leadership{Leader: 0}, nil
}

// mostAnswer is how many bytes of an answer are read.
const mostAnswer = 1 << 20

// Get asks a server on a port of HTTP and decodes its answer, which is JSON, unless into is nil. An answer
// that is none, or another one than OK, is an error with its beginning.
func Get(ctx context.Context, m Member, port uint16, what string, into any) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+m.At(port)+what, nil)
	if err != nil {
		return err
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer func() { _ = r.Body.Close() }() // all was read
	b, err := io.ReadAll(io.LimitReader(r.Body, mostAnswer))
	if err != nil {
		return err
	}
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %.200s", what, r.Status, b)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%s: %w: %.200s", what, err, b)
	}
	return nil
}
