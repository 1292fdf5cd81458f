package fleet

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/text"
	"github.com/conclave-bench/conclave/internal/runs/hub"
	"github.com/conclave-bench/conclave/internal/runs/queue"
)

// An OwnHub is a hub on this machine. That of the fleet is a process of its own, which outlives the
// command that starts it.
type OwnHub struct {
	Fleet  string     // folder of the fleet
	Folder hub.Folder // of the hub
	Exe    string     // bench
	Args   []string   // of bench hub, beside the folder
	For    time.Duration

	server *queue.Server
}

// script is what scripts about the hub begin with.
func (h *OwnHub) script() string { return "d=" + quoted(h.Fleet) + "\n" + alive }

// Server is its queue.
func (h *OwnHub) Server() (queue.Server, error) {
	if h.server == nil {
		s, err := h.Folder.Runner()
		if err != nil {
			return s, err
		}
		h.server = &s
	}
	return *h.server, nil
}

// Ensure has the hub run. One that is not the fleet's is not started.
func (h *OwnHub) Ensure(ctx context.Context) error {
	if _, err := h.Server(); err == nil || string(h.Folder) != filepath.Join(h.Fleet, hubName) {
		return err
	}
	s, err := open(ctx, "sh", "-s")
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }() // its output has been read
	args := ""                       // the token that it prints into its log is of no use to anybody
	for _, word := range append([]string{h.Exe, "hub", "--folder", string(h.Folder),
		"--token-for", "1s"}, h.Args...) {
		args += " " + quoted(word)
	}
	if _, _, err := s.do(h.script() + apart(`echo $$ >"$d/pid" && exec`+args, hubName+".log")); err != nil {
		return err
	}
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		_, err := h.Server()
		if err == nil {
			return nil
		}
		if _, code, gone := s.do("alive"); gone != nil || code != 0 {
			said, _, _ := s.do(`tail -n 1 "$d/` + hubName + `.log"`)
			return answer.Mistaken("the hub has ended: %s", text.Printable(strings.TrimSpace(said)))
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-tick.C:
		}
	}
}

// Invite makes a token of the hub.
func (h *OwnHub) Invite(_ context.Context, machines int) (address, invitation string, err error) {
	i, err := h.Folder.Invite(hub.TokenRequest{Machines: machines, For: h.For, Role: hub.Worker})
	return i.Address, i.String(), err
}

// Workers are what the workers say that answer within that time.
func (h *OwnHub) Workers(ctx context.Context, wait time.Duration) ([]queue.Status, error) {
	s, err := h.Server()
	if err != nil {
		return nil, err
	}
	return queue.Workers(ctx, s, wait)
}

// End ends the hub. What it keeps stays in its folder.
func (h *OwnHub) End(ctx context.Context) error {
	s, err := open(ctx, "sh", "-s")
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }() // its output has been read
	if output, code, err := s.do(h.script() + stopped); err != nil || code != 0 {
		return errors.Join(err, fmt.Errorf("the hub has not ended: %s", text.Printable(output)))
	}
	return nil
}
