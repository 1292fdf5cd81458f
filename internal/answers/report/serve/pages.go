package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/conclave-bench/conclave/internal/answers/answer"
)

// Pages are served while other work goes on.
type Pages struct {
	*Server
	ended chan error
}

// Start begins to serve.
func Start(port int, o Options) (*Pages, error) {
	if port < 0 || port > 65535 {
		return nil, answer.Mistaken("--port %d: expected 1 to 65535, or 0 for one that is free", port)
	}
	server, l, err := Listen(port, o)
	var taken *net.OpError
	if errors.As(err, &taken) && port != 0 {
		return nil, answer.Mistaken("--port %d: %v; leave it out, and a free one is taken", port, taken.Err)
	}
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	p := &Pages{Server: server, ended: make(chan error, 1)}
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			p.ended <- err
		}
	}()
	return p, nil
}

// Wait waits for Ctrl-C. An error says why the pages ended before it.
func (p *Pages) Wait() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	select {
	case <-ctx.Done():
		return nil
	case err := <-p.ended:
		return fmt.Errorf("serve: %w", err)
	}
}
