package hub_test

import (
	"os"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/runs/hub"
	"github.com/conclave-bench/conclave/internal/runs/queue"
)

func startHub(t *testing.T, folder hub.Folder) *hub.Hub {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h, err := hub.Start(hub.Config{Folder: folder, Listen: "127.0.0.1:0", Exe: exe})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

// TestHub: a machine joins with a token, and reaches the queue.
func TestHub(t *testing.T) {
	t.Parallel()
	h := startHub(t, hub.Folder(t.TempDir()))
	i, err := h.Folder().Invite(hub.TokenRequest{Machines: 1, For: time.Hour, Role: hub.Worker})
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := hub.ParseInvitation(i.String())
	if err != nil || parsed != i {
		t.Fatalf("%v is read as %v: %v", i, parsed, err)
	}
	m, programs, err := hub.Join(t.Context(), i, "lab1")
	if err != nil || m.Role != hub.Worker || programs[hub.Platform].Size == 0 {
		t.Fatal(m, programs, err)
	}
	if _, err := queue.Workers(t.Context(), m.Server(), 10*time.Millisecond); err != nil {
		t.Error(err)
	}
	s, err := h.Folder().Runner()
	if err != nil {
		t.Fatal(err)
	}
	if list, err := queue.List(t.Context(), s, func(text string) { t.Log(text) }); err != nil || len(list) > 0 {
		t.Error(list, err)
	}
}
