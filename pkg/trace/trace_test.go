package trace

import (
	"bytes"
	"encoding/hex"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var anyRecord = rapid.Custom(func(t *rapid.T) Record {
	r := rapid.Make[Record]().Draw(t, "record")
	r.Type = Type(rapid.Uint8Range(1, uint8(types)-1).Draw(t, "type"))
	r.Plane = rapid.Uint8Range(Data, Detection).Draw(t, "plane")
	r.Copy = rapid.Uint8Range(0, 1).Draw(t, "copy")
	r.Text = ""
	return r
})

func TestRecord_RoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := anyRecord.Draw(t, "r")
		b := bytes.Repeat([]byte{0xee}, Size+3)
		want.Put(b)
		if !bytes.Equal(b[Size:], []byte{0xee, 0xee, 0xee}) {
			t.Fatalf("wrote behind its %d bytes", Size)
		}
		got := anyRecord.Draw(t, "what was there") // Get leaves nothing of it
		got.Text = "old"
		if err := got.Get(b); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
	})
}

// TestRecord_LayoutIsFixed: stored traces must stay readable.
func TestRecord_LayoutIsFixed(t *testing.T) {
	t.Parallel()
	r := Record{
		At: -2, Sent: 0x0102, Due: time.Second, Seq: 0x1122334455667788, Arg: math.MaxUint64,
		Process: 7, Peer: 0xfffefdfc, Incarnation: 2, Bytes: 300, Depth: 9,
		Type: Deliver, Plane: Detection, Kind: 0xab, Copy: 1, Text: "stands beside",
	}
	want := "feffffffffffffff" + "0201000000000000" + "00ca9a3b00000000" + // At, Sent, Due
		"8877665544332211" + "ffffffffffffffff" + // Seq, Arg
		"07000000" + "fcfdfeff" + "02000000" + "2c010000" + "09000000" + // Process to Depth
		"05" + "01" + "ab" + "01" // Type, Plane, Kind, Copy
	var b [Size]byte
	r.Put(b[:])
	if got := hex.EncodeToString(b[:]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestPut_PanicsOnTooFewBytesBeforeItWrites(t *testing.T) {
	t.Parallel()
	b := make([]byte, Size-1)
	defer func() {
		if recover() == nil {
			t.Errorf("took %d bytes", len(b))
		}
		if !bytes.Equal(b, make([]byte, Size-1)) {
			t.Error("wrote half a record")
		}
	}()
	(&Record{At: math.MaxInt64, Type: Up}).Put(b)
}

func TestGet_Refuses(t *testing.T) {
	t.Parallel()
	var good [Size]byte
	(&Record{Type: Resume, Plane: Detection, Copy: 1}).Put(good[:])
	for name, test := range map[string]struct {
		spoil func([]byte) []byte
		want  string
	}{
		"good":         {func(b []byte) []byte { return b }, ""},
		"longer":       {func(b []byte) []byte { return append(b, 9) }, ""},
		"nothing":      {func([]byte) []byte { return nil }, "0 bytes, expected 64"},
		"one too few":  {func(b []byte) []byte { return b[:Size-1] }, "63 bytes, expected 64"},
		"no type":      {func(b []byte) []byte { b[60] = 0; return b }, "type 0"},
		"unknown type": {func(b []byte) []byte { b[60] = byte(types); return b }, "not a record"},
		"last type":    {func(b []byte) []byte { b[60] = 255; return b }, "type 255"},
		"plane":        {func(b []byte) []byte { b[61] = 2; return b }, "plane 2"},
		"second copy":  {func(b []byte) []byte { b[63] = 2; return b }, "copy 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r Record
			err := r.Get(test.spoil(slices.Clone(good[:])))
			if test.want == "" && err != nil ||
				test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func FuzzGet(f *testing.F) {
	var b [Size]byte
	f.Add(b[:])
	(&Record{At: -1, Seq: 1, Process: 1, Peer: 2, Type: Send, Bytes: 12}).Put(b[:])
	f.Add(b[:])
	f.Add(b[:Size-1])
	f.Add(bytes.Repeat([]byte{0xff}, Size))
	f.Fuzz(func(t *testing.T, in []byte) {
		var r Record
		if r.Get(in) != nil {
			return
		}
		if name := r.Type.String(); name == "" || strings.HasPrefix(name, "type(") || r.Text != "" {
			t.Errorf("%x is a record of type %q with text %q", in, name, r.Text)
		}
		var out [Size]byte
		r.Put(out[:])
		if !bytes.Equal(out[:], in[:Size]) {
			t.Errorf("%x\nbecame %x", in, out)
		}
	})
}

// TestType_NumbersAndNamesAreFixed: they stand in stored traces.
func TestType_NumbersAndNamesAreFixed(t *testing.T) {
	t.Parallel()
	want := []string{
		"none", "up", "crash", "send", "duplicate", "deliver", "lose", "undelivered", "request",
		"granted", "released", "elect", "elected", "suspect", "restore", "timeout", "cut", "heal",
		"cause", "save", "log", "do", "pause", "resume",
	}
	if int(types) < len(want) {
		t.Fatalf("%d types, want %d: one is gone", types, len(want))
	}
	seen := map[string]bool{}
	for i := range types {
		name := i.String()
		if name == "" || seen[name] {
			t.Errorf("type %d: name %q is empty or taken", i, name)
		}
		if int(i) < len(want) && name != want[i] {
			t.Errorf("type %d is %q, want %q", i, name, want[i])
		}
		seen[name] = true
	}
	for i, number := range map[Type]uint8{Up: 1, Send: 3, Deliver: 5, Granted: 9, Elected: 12} {
		if uint8(i) != number {
			t.Errorf("%v has number %d, want %d", i, uint8(i), number)
		}
	}
	if got := types.String(); !strings.HasPrefix(got, "type(") {
		t.Errorf("an unknown type is called %q", got)
	}
}

func TestTee_HandsOnInTurn(t *testing.T) {
	t.Parallel()
	var first, second List
	var order []string
	sink := Tee(&first, SinkFunc(func(r *Record) {
		order = append(order, r.Type.String())
		if len(first) != len(order) {
			t.Error("called before the sink that stands before it")
		}
	}), &second)
	r := Record{Type: Send}
	sink.Record(&r)
	r.Type = Deliver // the writer's again
	sink.Record(&r)
	want := List{{Type: Send}, {Type: Deliver}}
	if !slices.Equal(first, want) || !slices.Equal(second, want) {
		t.Errorf("lists %v and %v, want %v", first, second, want)
	}
	if !slices.Equal(order, []string{"send", "deliver"}) {
		t.Errorf("order %v", order)
	}
	Tee().Record(&r)
}

func BenchmarkPut(b *testing.B) {
	r := Record{At: 1, Sent: 2, Due: 3, Seq: 4, Process: 5, Peer: 6, Type: Send}
	var buf [Size]byte
	for b.Loop() {
		r.Put(buf[:])
	}
}

func BenchmarkGet(b *testing.B) {
	var buf [Size]byte
	r := Record{At: 1, Sent: 2, Due: 3, Seq: 4, Process: 5, Peer: 6, Type: Send}
	r.Put(buf[:])
	for b.Loop() {
		if err := r.Get(buf[:]); err != nil {
			b.Fatal(err)
		}
	}
}

func TestHasText(t *testing.T) {
	t.Parallel()
	for i := range types {
		want := slices.Contains([]Type{Log, Timeout, Save, Cut, Heal, Flaky, Do, Fault, Unsound}, i)
		if i.HasText() != want {
			t.Errorf("%v: has a text: %v", i, !want)
		}
	}
}

// TestDocumented: the format of traces, which others read, is documented in full: every
// type of record, and every key of its line.
func TestDocumented(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../docs/reference/results.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(b), "\n## traces/\n")
	if !found {
		t.Fatal("docs/reference/results.md has no section traces/")
	}
	var named []string
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) > 2 {
			for _, word := range strings.Split(cells[1], ",") {
				named = append(named, strings.Trim(word, " `"))
			}
		}
	}
	for typ := Up; typ < types; typ++ {
		if !slices.Contains(named, typ.String()) {
			t.Errorf("docs/reference/results.md does not say what a record of type %s is", typ)
		}
	}
	source, err := os.ReadFile("../results/traces.go")
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(source), "type traceLine struct {")
	line, _, _ = strings.Cut(line, "\n}")
	keys := regexp.MustCompile(`json:"([a-z_]+)`).FindAllStringSubmatch(line, -1)
	if len(keys) < 10 {
		t.Fatalf("keys %q: where are the others?", keys)
	}
	for _, key := range keys {
		if !slices.Contains(named, key[1]) {
			t.Errorf("docs/reference/results.md does not say what %s is", key[1])
		}
	}
}
