package queue

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nkeys"
)

// plain are the two ends of a session without NATS. What either sends is kept, until it is passed
// on. They are of use in a bubble, where nobody waits for a clock.
type plain struct {
	lead, other *session
	keys        [2]string // of lead and of other

	mu   sync.Mutex
	sent [2][][]byte // by lead and by other
	fail error       // of sending
}

// Where the ends listen.
var inboxes = [2]string{"inbox of lead", "inbox of other"}

func newPlain(t *testing.T) *plain {
	t.Helper()
	p := &plain{}
	ends := [2]**session{&p.lead, &p.other}
	for i, s := range ends {
		var err error
		*s, p.keys[i], err = endOf(i == 0, func(subject string, data []byte) error {
			p.mu.Lock()
			defer p.mu.Unlock()
			if subject != inboxes[1-i] {
				t.Errorf("a frame goes to %q, want %q", subject, inboxes[1-i])
			}
			if p.fail == nil {
				p.sent[i] = append(p.sent[i], data)
			}
			return p.fail
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// begun are two ends that know each other, and nothing goes on of them behind the test.
func begun(t *testing.T) *plain {
	t.Helper()
	p := newPlain(t)
	for i, s := range []*session{p.lead, p.other} {
		if err := s.begin(inboxes[1-i], p.keys[1-i]); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// over ends both, so that the bubble can.
func (p *plain) over() {
	for _, s := range []*session{p.lead, p.other} {
		s.mu.Lock()
		s.end(errKilled)
		s.mu.Unlock()
	}
}

// pass hands on what an end has sent, 0 for lead, and returns how many frames that were.
func (p *plain) pass(from int) int {
	p.mu.Lock()
	frames := p.sent[from]
	p.sent[from] = nil
	p.mu.Unlock()
	for _, f := range frames {
		[]*session{p.other, p.lead}[from].hear(f)
	}
	return len(frames)
}

// A frame is what the other end finds in it.
type frame struct {
	number, taken uint64
	kind, side    byte
	data          string
}

func (f frame) bytes() []byte {
	b := binary.LittleEndian.AppendUint64(nil, f.number)
	b = binary.LittleEndian.AppendUint64(b, f.taken)
	return append(append(b, f.kind, f.side), f.data...)
}

// frames opens what an end has sent.
func (p *plain) frames(t *testing.T, from int) (out []frame) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, sealed := range p.sent[from] {
		b, err := []*session{p.other, p.lead}[from].keys.Open(sealed, p.keys[from])
		if err != nil || len(b) < frameHead {
			t.Fatalf("%d bytes, %v", len(b), err)
		}
		out = append(out, frame{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), b[16], b[17],
			string(b[frameHead:])})
	}
	return out
}

// hears passes on a frame that lead could have sent, as it stands here.
func (p *plain) hears(t *testing.T, content []byte) {
	t.Helper()
	sealed, err := p.lead.keys.Seal(content, p.keys[1])
	if err != nil {
		t.Fatal(err)
	}
	p.other.hear(sealed)
}

// reason is why an end is over; "": it is not.
func reason(s *session) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.why == nil {
		return ""
	}
	return s.why.Error()
}

// TestSession_Begin: an end begins with a key to seal to and a place to send to.
func TestSession_Begin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		user, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		ofUser, err := user.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		p := newPlain(t)
		key := p.keys[1]
		for name, c := range map[string][2]string{
			"nothing":            {"", ""},
			"no inbox":           {"", key},
			"no key":             {inboxes[1], ""},
			"a key to sign with": {inboxes[1], ofUser},
			"a key cut short":    {inboxes[1], key[:len(key)-1]},
			"a key misspelt":     {inboxes[1], key[:10] + string(key[10]^1) + key[11:]},
		} {
			if err := p.lead.begin(c[0], c[1]); err == nil || p.lead.peer != "" || p.lead.inbox != "" {
				t.Errorf("%s: it begins: %v", name, err)
			}
		}
		if err := p.lead.begin(inboxes[1], key); err != nil {
			t.Error(err)
		}
		p.over()
	})
}

// TestSession_Early: frames that come before an end knows from whom are taken in when it does, in
// their order. There is room for some; without the others the session ends.
func TestSession_Early(t *testing.T) {
	for _, n := range []int{0, 1, 2, mostEarly, mostEarly + 1, mostEarly + 5} {
		synctest.Test(t, func(t *testing.T) {
			p := newPlain(t)
			if err := p.lead.begin(inboxes[1], p.keys[1]); err != nil {
				t.Fatal(err)
			}
			all := ""
			for i := range n {
				text := strings.Repeat(string(rune('a'+i)), i+1)
				if _, err := p.lead.Write([]byte(text)); err != nil {
					t.Fatal(err)
				}
				if i < mostEarly {
					all += text
				}
			}
			p.pass(0)
			if kept := min(n, mostEarly); len(p.other.early) != kept || p.other.heard != 0 {
				t.Errorf("%d frames: %d are kept, %d taken in, want %d kept", n, len(p.other.early), p.other.heard, kept)
			}
			if err := p.other.begin(inboxes[0], p.keys[0]); err != nil {
				t.Fatal(err)
			}
			if p.other.early != nil || string(p.other.in) != all || p.other.heard != uint64(min(n, mostEarly)) {
				t.Errorf("%d frames: %q of %d frames, want %q", n, p.other.in, p.other.heard, all)
			}
			if _, err := p.lead.Write([]byte("!")); err != nil {
				t.Fatal(err)
			}
			p.pass(0)
			want := ""
			if n > mostEarly {
				want = "messages from it were lost by way of NATS: " + string(rune('0'+n-mostEarly))
			} else if got := string(p.other.in); got != all+"!" {
				t.Errorf("then %q, want %q", got, all+"!")
			}
			if got := reason(p.other); got != want {
				t.Errorf("%d frames: it is over: %q, want %q", n, got, want)
			}
			p.over()
		})
	}
}

// TestSession_Beats: each end says every second that it is there, and takes the other for lost
// when that has said nothing for longer than it may.
func TestSession_Beats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		until := func(d time.Duration) {
			time.Sleep(time.Until(begin.Add(d)))
			synctest.Wait()
		}
		p := begun(t)
		until(beatEvery - time.Millisecond)
		if n := p.pass(0) + p.pass(1); n != 0 {
			t.Errorf("%d frames before the first beat", n)
		}
		until(2*beatEvery + beatEvery/2)
		want := []frame{{1, 0, beat, 1, ""}, {2, 0, beat, 1, ""}}
		if got := p.frames(t, 0); !slices.Equal(got, want) {
			t.Errorf("lead sends %+v, want %+v", got, want)
		}
		want[0].side, want[1].side = 0, 0
		if got := p.frames(t, 1); !slices.Equal(got, want) {
			t.Errorf("other sends %+v, want %+v", got, want)
		}
		p.pass(0) // now; nothing from then on
		if p.other.heard != 2 || p.lead.heard != 0 {
			t.Errorf("%d and %d frames are heard, want 2 and 0", p.other.heard, p.lead.heard)
		}
		until(silence)
		if got := reason(p.lead); got != "" {
			t.Errorf("lead is over while it may be silent: %s", got)
		}
		until(silence + beatEvery)
		if got := reason(p.lead); got != "nothing came from it by way of NATS for 7s" {
			t.Errorf("lead: %q", got)
		}
		until(silence + 5*beatEvery/2)
		if got := reason(p.other); got != "" {
			t.Errorf("other is over while it may be silent: %s", got)
		}
		until(silence + 3*beatEvery)
		if got := reason(p.other); got != "nothing came from it by way of NATS for 7s" {
			t.Errorf("other: %q", got)
		}
		sent := [2]uint64{p.lead.number, p.other.number}
		if want := [2]uint64{6, 8}; sent != want {
			t.Errorf("%d frames were sent, want %d: none once it was over", sent, want)
		}
		until(time.Minute)
		if now := [2]uint64{p.lead.number, p.other.number}; now != sent {
			t.Errorf("who is over says that it is there: %d, then %d", sent, now)
		}
	})
}

// TestSession_Take: what a frame must be to count, and what each kind does.
func TestSession_Take(t *testing.T) {
	ofLead := func(number uint64, kind byte, data string) []byte {
		return frame{number, 0, kind, 1, data}.bytes()
	}
	for _, c := range []struct {
		name   string
		frames [][]byte
		heard  uint64
		in     string
		over   string // "": it is not
	}{
		{"data", [][]byte{ofLead(1, data, "ab"), ofLead(2, data, "c")}, 2, "abc", ""},
		{"a beat", [][]byte{ofLead(1, beat, "ab")}, 1, "", ""},
		{"of a kind to come", [][]byte{ofLead(1, kill+1, "ab")}, 1, "", ""},
		{"no byte behind the head", [][]byte{ofLead(1, data, "")}, 1, "", ""},
		{"less than a head", [][]byte{ofLead(1, data, "")[:frameHead-1], {}}, 0, "", ""},
		{"its own", [][]byte{frame{1, 0, data, 0, "ab"}.bytes()}, 0, "", ""},
		{"before the first", [][]byte{ofLead(0, data, "ab")}, 0, "", ""},
		{"again", [][]byte{ofLead(1, data, "ab"), ofLead(1, data, "xy"), ofLead(2, data, "c"), ofLead(1, kill, "")},
			2, "abc", ""},
		{"one is lost", [][]byte{ofLead(1, data, "ab"), ofLead(3, data, "c")}, 1, "ab",
			"messages from it were lost by way of NATS: 1"},
		{"three are lost", [][]byte{ofLead(4, data, "ab"), ofLead(1, data, "c")}, 0, "",
			"messages from it were lost by way of NATS: 3"},
		{"kill", [][]byte{ofLead(1, data, "ab"), ofLead(2, kill, "x"), ofLead(3, data, "c")}, 2, "ab",
			"it was ended by bench"},
		{"as much as may be on its way", [][]byte{ofLead(1, data, strings.Repeat("a", window))}, 1,
			strings.Repeat("a", window), ""},
		{"more", [][]byte{ofLead(1, data, strings.Repeat("a", window)), ofLead(2, data, "b")}, 2,
			strings.Repeat("a", window) + "b", "it sent more by way of NATS than was asked for"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := begun(t)
				for _, f := range c.frames {
					p.hears(t, f)
				}
				if p.other.heard != c.heard || string(p.other.in) != c.in || reason(p.other) != c.over {
					t.Errorf("%d frames are heard, %d bytes, and it is over: %q; want %d, %d and %q", p.other.heard,
						len(p.other.in), reason(p.other), c.heard, len(c.in), c.over)
				}
				p.over()
			})
		})
	}
}

// TestSession_Stranger: what none of the two has sealed for the other is no frame.
func TestSession_Stranger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begun(t)
		stranger, err := nkeys.CreateCurveKeys()
		if err != nil {
			t.Fatal(err)
		}
		content := frame{1, 0, kill, 1, ""}.bytes()
		sealed, err := stranger.Seal(content, p.keys[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range [][]byte{sealed, content, nil} {
			p.other.hear(f)
		}
		if p.other.heard != 0 || reason(p.other) != "" {
			t.Errorf("%d frames are heard, over: %q", p.other.heard, reason(p.other))
		}
		p.over()
	})
}

// TestSession_Finish: the end with the program learns that no more bytes come, and goes on; for
// the one that leads the program has ended, for that reason. What has come can be read.
func TestSession_Finish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begun(t)
		if _, err := p.lead.Write([]byte("last")); err != nil {
			t.Fatal(err)
		}
		if err := p.lead.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		want := []frame{{1, 0, data, 1, "last"}, {2, 0, finish, 1, ""}}
		if got := p.frames(t, 0); !slices.Equal(got, want) {
			t.Errorf("lead sends %+v, want %+v", got, want)
		}
		p.pass(0)
		if got, err := io.ReadAll(p.other); string(got) != "last" || err != nil || reason(p.other) != "" {
			t.Errorf("%q, %v, over: %q", got, err, reason(p.other))
		}
		if _, err := p.other.Write([]byte("too")); err != nil {
			t.Error(err)
		}
		p.other.finish("exit code 7")
		p.pass(1)
		if got, err := io.ReadAll(p.lead); string(got) != "too" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		if got := p.lead.Obituary(); got != "exit code 7" {
			t.Errorf("%q", got)
		}
		p.other.Kill()
		if n := p.pass(1); n != 1 || reason(p.lead) != "exit code 7" {
			t.Errorf("%d frames, and it is over for another reason: %s", n, reason(p.lead))
		}
		p.over()
	})
}

// TestSession_Kill: the other end is told, and this one is over.
func TestSession_Kill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begun(t)
		p.lead.Kill()
		if got, want := p.frames(t, 0), []frame{{1, 0, kill, 1, ""}}; !slices.Equal(got, want) {
			t.Errorf("lead sends %+v, want %+v", got, want)
		}
		p.pass(0)
		for _, s := range []*session{p.lead, p.other} {
			<-s.Done()
			if got := s.Obituary(); got != errKilled.Error() {
				t.Error(got)
			}
			if n, err := s.Read(make([]byte, 1)); n != 0 || !errors.Is(err, errKilled) {
				t.Errorf("%d bytes, %v", n, err)
			}
			if n, err := s.Write([]byte("x")); n != 0 || !errors.Is(err, errKilled) {
				t.Errorf("%d bytes, %v", n, err)
			}
			s.finish("")
			s.Kill()
		}
		if n := p.pass(0) + p.pass(1); n != 0 {
			t.Errorf("%d frames of ends that are over", n)
		}
	})
}

// TestSession_Waiting: who waits for bytes, for room or for the end gets on when the session ends.
func TestSession_Waiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begun(t)
		var waiting sync.WaitGroup
		waiting.Go(func() {
			if n, err := p.lead.Read(make([]byte, 1)); n != 0 || !errors.Is(err, errKilled) {
				t.Errorf("reading: %d bytes, %v", n, err)
			}
		})
		waiting.Go(func() {
			if n, err := p.lead.Write(make([]byte, window+1)); n != window || !errors.Is(err, errKilled) {
				t.Errorf("writing: %d bytes, %v", n, err)
			}
		})
		waiting.Go(func() {
			if got := p.lead.Obituary(); got != errKilled.Error() {
				t.Error(got)
			}
		})
		synctest.Wait()
		p.over()
		waiting.Wait()
	})
}

// TestSession_Conn: an end listens until it is closed, which ends the other one; then its connection
// is closed as well, if it was made for the session.
func TestSession_Conn(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{false, true} {
		lead, other, _ := pair(t)
		lead.own = own
		if _, err := other.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 6)
		if n, err := lead.Read(got); string(got[:n]) != "hello" || err != nil {
			t.Errorf("%q, %v", got[:n], err)
		}
		lead.Close()
		if got := other.Obituary(); got != errKilled.Error() {
			t.Errorf("the other one: %s", got)
		}
		if lead.sub.IsValid() || lead.nc.IsClosed() != own {
			t.Errorf("its own connection: %v; it listens: %v, closed: %v", own, lead.sub.IsValid(), lead.nc.IsClosed())
		}
		lead.nc.Close()
		if _, _, err := newSession(lead.nc, true); err == nil {
			t.Error("it listens without a connection")
		}
	}
}

// TestSession_Unsent: who cannot send is over, with what was not sent.
func TestSession_Unsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begun(t)
		p.fail = errors.New("no connection")
		_, _ = p.lead.Write([]byte("x"))
		if got := reason(p.lead); got != "send by way of NATS: no connection" {
			t.Errorf("%q", got)
		}
		p.over()
		p = newPlain(t) // knows nobody
		p.lead.Kill()
		if p.pass(0) != 0 || reason(p.lead) == "" {
			t.Errorf("over: %q", reason(p.lead))
		}
	})
}

// TestSession_Read: who reads tells the other end how far, once that is much.
func TestSession_Read(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begun(t)
		const much = window / 4
		go func() {
			time.Sleep(beatEvery / 2)
			p.hears(t, frame{1, 0, data, 1, strings.Repeat("a", much) + "b"}.bytes())
		}()
		got := make([]byte, 2*much)
		n, err := p.other.Read(got[:much]) // waits for them
		if n != much || err != nil || time.Since(p.other.last) != 0 {
			t.Errorf("%d bytes, %v", n, err)
		}
		if n := p.pass(1); n != 0 {
			t.Errorf("%d frames, want none: so much is not told", n)
		}
		if n, err := p.other.Read(got); n != 1 || got[0] != 'b' || err != nil {
			t.Errorf("%q, %v", got[:n], err)
		}
		if got, want := p.frames(t, 1), []frame{{1, much + 1, beat, 0, ""}}; !slices.Equal(got, want) {
			t.Errorf("other sends %+v, want %+v", got, want)
		}
		p.hears(t, frame{2, 0, data, 1, "c"}.bytes())
		if n, err := p.other.Read(got); n != 1 || got[0] != 'c' || err != nil || len(p.frames(t, 1)) != 1 {
			t.Errorf("%q, %v, and it is told again", got[:n], err)
		}
		if _, err := p.other.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if got, want := p.frames(t, 1)[1], (frame{2, much + 2, data, 0, "x"}); got != want {
			t.Errorf("other sends %+v, want %+v", got, want)
		}
		p.over()
	})
}

// TestSession_Write: bytes go out in frames of bounded size, and no more of them than may be on
// their way; the rest follows when the other end has read so much.
func TestSession_Write(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begun(t)
		text := bytes.Repeat([]byte("0123456789abcdef"), (window+2*atMost)/16)
		text = append(text, "end"...)
		done := make(chan int)
		go func() {
			n, err := p.lead.Write(text)
			if err != nil {
				t.Error(err)
			}
			done <- n
		}()
		synctest.Wait()
		const most = window / atMost
		sizes := func() (out []int) {
			for _, f := range p.frames(t, 0) {
				out = append(out, len(f.data))
			}
			return out
		}
		if got := sizes(); !slices.Equal(got, slices.Repeat([]int{atMost}, most)) {
			t.Errorf("frames of %d are on their way, want %d of %d", got, most, atMost)
		}
		for i, c := range []struct {
			taken uint64
			want  []int // that come then
		}{{atMost - 1, nil}, {atMost, []int{atMost}}, {2*atMost + 2, []int{atMost}}, {2*atMost + 3, []int{3}}} {
			before := len(sizes())
			sealed, err := p.other.keys.Seal(frame{uint64(i + 1), c.taken, beat, 0, ""}.bytes(), p.keys[0])
			if err != nil {
				t.Fatal(err)
			}
			p.lead.hear(sealed)
			synctest.Wait()
			if got := sizes()[before:]; !slices.Equal(got, c.want) {
				t.Errorf("%d bytes are read: frames of %d follow, want %d", c.taken, got, c.want)
			}
		}
		if n := <-done; n != len(text) {
			t.Errorf("%d bytes, want %d", n, len(text))
		}
		var whole []byte
		for i, f := range p.frames(t, 0) {
			if f.number != uint64(i+1) || f.kind != data || f.side != 1 {
				t.Fatalf("frame %d is %d of kind %d", i+1, f.number, f.kind)
			}
			whole = append(whole, f.data...)
		}
		if !bytes.Equal(whole, text) {
			t.Errorf("%d bytes are others than those written", len(whole))
		}
		p.over()
	})
}

// TestSession_Deadline: who writes waits until the deadline and no longer; one that is taken back
// is none.
func TestSession_Deadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		p := begun(t)
		p.lead.last = begin.Add(time.Hour) // the silence does not end the session
		write := func(size, want int) {
			t.Helper()
			if n, err := p.lead.Write(make([]byte, size)); n != want || !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%d bytes, %v, want %d until the deadline", n, err, want)
			}
		}
		set := func(at time.Time) {
			t.Helper()
			if err := p.lead.SetWriteDeadline(at); err != nil {
				t.Error(err)
			}
		}
		set(begin.Add(300 * time.Millisecond))
		write(window+1, window)
		if d := time.Since(begin); d < 300*time.Millisecond || d > 301*time.Millisecond {
			t.Errorf("it waits for %v", d)
		}
		before := time.Now()
		write(1, 0)
		set(before) // as just now
		write(1, 0)
		if d := time.Since(before); d != 0 {
			t.Errorf("it waits for %v more", d)
		}
		set(before.Add(time.Second))
		set(time.Time{})
		done := make(chan error)
		go func() {
			_, err := p.lead.Write([]byte("x"))
			done <- err
		}()
		time.Sleep(2 * time.Second)
		sealed, err := p.other.keys.Seal(frame{1, 1, beat, 0, ""}.bytes(), p.keys[0])
		if err != nil {
			t.Fatal(err)
		}
		p.lead.hear(sealed)
		if err := <-done; err != nil {
			t.Errorf("without a deadline: %v", err)
		}
		p.over()
	})
}
