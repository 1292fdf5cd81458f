package prove

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/program"
	"github.com/conclave-bench/conclave/pkg/algo"
)

// kept are the options of a search that is kept in a file.
func kept(t *testing.T, l Limits) Limits {
	t.Helper()
	l.Checkpoint = Checkpoint{
		Path: filepath.Join(t.TempDir(), "search"), Version: "v1", Program: program.Build{Binary: "1"},
	}
	return l
}

// compared is what an interrupted search has in common with one in one piece.
func compared(s *Space) []any {
	broken := ""
	if s.Find != nil {
		broken = s.Find.Error()
	}
	return []any{s.States, s.Steps, s.Depth, s.Levels, s.Terminal, s.Cut, s.Served, s.Locals, s.Live, s.Bound,
		s.Clocks, broken, s.Frontier}
}

// TestSearch_Resumed: a search that was interrupted again and again ends as one in one piece: with as many
// states, on as many levels, and with the same verdict.
func TestSearch_Resumed(t *testing.T) {
	t.Parallel()
	for id, w := range map[string]System{
		"mutex/naimi-trehel":        {Nodes: 3, Requests: 2},
		"mutex/ricart-agrawala":     {Nodes: 3, Requests: 2, Canonical: true},
		"mutex/naimi-trehel-ft":     {Nodes: 3, Requests: 1, Budget: Budget{Cuts: 1, Timeouts: 3}, Canonical: true},
		"mutex/lodha-kshemkalyani":  {Nodes: 3, Requests: 1, Budget: Budget{Copies: 1}},
		"election/bully":            {Nodes: 3, Requests: 2, Budget: Budget{Timeouts: Any}, Canonical: true},
		"election/raft":             {Nodes: 3, Requests: 2, Budget: Budget{Crashes: 1}, Canonical: true},
		"election/echo-extinction":  {Nodes: 3, Requests: 2, Canonical: true},
		"election/stable-leader":    {Nodes: 3, Requests: 2, Budget: Budget{Timeouts: 1}, Canonical: true},
		"mutex/chandy-misra":        {Nodes: 3, Requests: 2, Budget: Budget{Losses: 1}},
		"mutex/test-enters-at-once": {Nodes: 3, Requests: 2},
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			want, err := Search(context.Background(), id, w, Limits{Workers: 1, Live: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, workers := range [][]int{{1}, {2, 1, 3}} {
				l, pieces := kept(t, Limits{Live: true, States: max(want.States/5, 1)}), 0
				for {
					l.Workers = workers[pieces%len(workers)]
					got, err := Search(context.Background(), id, w, l)
					if err != nil {
						t.Fatal(err)
					}
					if got.Resumed != (pieces > 0) || got.Saved != (got.Bound != "") {
						t.Fatalf("piece %d: resumed %v, saved %v, stopped by %q", pieces, got.Resumed, got.Saved,
							got.Bound)
					}
					if pieces++; !got.Saved {
						if workers[0] == 1 && !reflect.DeepEqual(compared(&got), compared(&want)) {
							t.Errorf("in %d pieces\n%v, in one\n%v", pieces, compared(&got), compared(&want))
						}
						if got.States != want.States && want.Find == nil || got.Live != want.Live ||
							(got.Find == nil) != (want.Find == nil) || got.Bound != "" {
							t.Errorf("in %d pieces: %d states, %v, want %d, %v", pieces, got.States, got.Find,
								want.States, want.Find)
						}
						if got.Find != nil && len(got.Find.Schedule) != len(want.Find.Schedule) {
							t.Errorf("found %v, want %v", got.Find, want.Find)
						}
						break
					}
				}
				if want.States > 1000 && pieces < 2 {
					t.Errorf("%d states in %d pieces", want.States, pieces)
				}
			}
		})
	}
}

// TestSearch_Interrupted: what ends with its context is kept, too.
func TestSearch_Interrupted(t *testing.T) {
	t.Parallel()
	w := System{Nodes: 3, Requests: 2}
	ctx, cancel := context.WithCancel(context.Background())
	l := kept(t, Limits{Workers: 1})
	cancel()
	s, err := Search(ctx, "mutex/singhal", w, l)
	if err != nil || !s.Saved || s.States != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	for pieces := 0; s.Saved; pieces++ {
		l.Time = 20 * time.Millisecond
		if s, err = Search(context.Background(), "mutex/singhal", w, l); err != nil || pieces > 1000 {
			t.Fatal(err, pieces)
		}
	}
	if s.States != 36_529 || s.Bound != "" {
		t.Errorf("%d states, %q", s.States, s.Bound)
	}
}

// TestSearch_Damaged: a file that is not of this search, or not what was written, is refused in one sentence,
// and stays as it is.
func TestSearch_Damaged(t *testing.T) {
	t.Parallel()
	id, w := "mutex/naimi-trehel", System{Nodes: 3, Requests: 2}
	l := kept(t, Limits{Workers: 1, States: 300})
	if s, err := Search(context.Background(), id, w, l); err != nil || !s.Saved {
		t.Fatalf("%+v, %v", s, err)
	}
	text, err := os.ReadFile(l.Checkpoint.Path)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(id string, w System, l Limits, text []byte, want string) {
		t.Helper()
		if err := os.WriteFile(l.Checkpoint.Path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Search(context.Background(), id, w, l)
		var bad *CheckpointError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want %q", err, want)
		}
		if now, err := os.ReadFile(l.Checkpoint.Path); err != nil || !bytes.Equal(now, text) {
			t.Errorf("%q: the file is another now, %v", want, err)
		}
	}
	for at := len(checkpointed) + 1; at < len(text); at += len(text) / 50 {
		other := bytes.Clone(text)
		other[at] ^= 4
		refused(id, w, l, other, "is damaged: its checksum does not match")
		refused(id, w, l, text[:at], "is damaged: its checksum does not match")
	}
	refused(id, w, l, append(bytes.Clone(text), 0), "is damaged: its checksum does not match")
	refused(id, w, l, nil, "is no search of bench prove")
	refused(id, w, l, []byte("name: x\n"), "is no search of bench prove")
	refused("mutex/raymond", w, l, text, "holds another search: of mutex/naimi-trehel, nodes=3 requests=2")
	w.Losses = 1
	refused(id, w, l, text, "holds another search: of mutex/naimi-trehel, nodes=3 requests=2")
	w.Losses, l.Live = 0, true
	refused(id, w, l, text, "with other parameters or other checks")
	l.Live, l.Checkpoint.Program.Binary, l.Checkpoint.Version = false, "2", "v2"
	refused(id, w, l, text, "was written by another program, bench v1; this is v2")
	l.Checkpoint.Program.Binary = "1"
	l.Checkpoint.Path = t.TempDir()
	if _, err := Search(context.Background(), id, w, l); err == nil ||
		!strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("a folder: %v", err)
	}
}

// version is that of an algorithm that changes while a search is kept.
var version atomic.Int64

type changing struct {
	eager
	other algo.ID
}

func (c changing) Request(env algo.Env) {
	if version.Load() == 1 {
		env.Send(c.other, idleTalk{})
	}
	c.eager.Request(env)
}

// TestSearch_Changed: a search of an algorithm that does something else since is refused.
func TestSearch_Changed(t *testing.T) {
	t.Parallel()
	w, l := System{Nodes: 2, Requests: 1}, kept(t, Limits{Workers: 1, States: 2})
	if s, err := Search(context.Background(), "mutex/test-changes", w, l); err != nil || !s.Saved {
		t.Fatalf("%+v, %v", s, err)
	}
	version.Store(1)
	_, err := Search(context.Background(), "mutex/test-changes", w, l)
	if err == nil || !strings.HasSuffix(err.Error(), "the algorithm has changed since; remove it to start anew") {
		t.Error(err)
	}
}

func init() {
	algo.RegisterMutex(algo.Spec{
		Name: "test-changes", Summary: "broken",
		Paper: algo.Paper{Authors: "nobody", Title: "none", Year: 2026}, Breaks: "by itself",
		Messages: []algo.Message{idleTalk{}},
	}, func(c algo.Config) algo.Mutex { return changing{other: c.ID%2 + 1} })
}
