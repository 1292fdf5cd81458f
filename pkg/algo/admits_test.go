package algo

import "testing"

// TestRoom: who keeps whom out, and what is said of it.
func TestRoom(t *testing.T) {
	t.Parallel()
	place := Param{Name: "k", Type: Int, Min: int64(1)}
	session := Param{Name: "session", Type: Int, Min: int64(0), Max: int64(MostSessions), PerProcess: true}
	params := Params{"k": int64(2), "session": []any{int64(1), int64(0), int64(7)}}
	for name, test := range map[string]struct {
		admits Admits
		inside []Session // as they entered
		bars   []bool    // one more of session 1
		text   string
		reason string // of 1 against another of session 1
	}{
		"one": {Admits{}, []Session{1, 1}, []bool{true, true},
			"at most one process in the critical section", ""},
		"two": {Admits{Places: "k"}, []Session{1, 1, 1}, []bool{false, true, true},
			"at most k processes in the critical section", ", and at most 2 may be"},
		"sessions": {Admits{Sessions: "session"}, []Session{1, 2, 1}, []bool{false, true, false},
			"only processes of one session in the critical section", ", and at most 2147483647 may be"},
		"two of a session": {Admits{Places: "k", Sessions: "session"}, []Session{1, 2, 1},
			[]bool{false, true, true}, "at most k processes in the critical section, all of one session",
			", and at most 2 may be"},
	} {
		s := Spec{Admits: test.admits, Params: []Param{place, session}}
		if err := s.Admits.defect(s.Params); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if s.Admits.Several() != (name != "one") || s.Admits.Text() != test.text {
			t.Errorf("%s: several %v, %q", name, s.Admits.Several(), s.Admits.Text())
		}
		room := s.Room(params)
		door := room.Door(1)
		for i, other := range test.inside {
			if got := door.Bars(other); got != test.bars[i] {
				t.Errorf("%s: the %d-th inside bars: %v", name, i+1, got)
			}
		}
		if room.Reason(1, 1) != test.reason || room.Reason(2, 1) != ", in session 2 and not 1" {
			t.Errorf("%s: %q, %q", name, room.Reason(1, 1), room.Reason(2, 1))
		}
		for id, want := range []Session{1, 0, 7} {
			if s.Admits.Sessions == "" {
				want = 0
			}
			if got := s.SessionOf(params, ID(id+1)); got != want {
				t.Errorf("%s: process %d always asks for %d, want %d", name, id+1, got, want)
			}
		}
	}
}

// TestSession: a request finds its session, and any other event none.
func TestSession(t *testing.T) {
	t.Parallel()
	var seen []Session
	s := bareStepper(func(e Env) { seen = append(seen, e.Session()) })
	s.Step(0, Event{Type: Request, Session: 3})
	s.Step(0, Event{Type: Release})
	if len(seen) != 2 || seen[0] != 3 || seen[1] != 0 {
		t.Errorf("sessions %v, want 3 at the request and 0 at the release", seen)
	}
}
