package algo

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The messages of these tests: together they have a field of every type.
type (
	numbers struct {
		U8  uint8
		U16 uint16
		U32 uint32
		U64 uint64
		U   uint
		I8  int8
		I16 int16
		I32 int32
		I64 int64
		I   int
		B   bool
		F   float64
		D   time.Duration
		P   ID
	}
	texts struct {
		S     string
		Raw   []byte
		Name  Timer
		Bytes []letter
	}
	letter byte
	row    struct {
		TS   uint64
		Note string
	}
	nested struct {
		Inner struct {
			A uint16
			B []int64
			C struct{ Deep []string }
		}
		Fixed  [3]int16
		Digest [4]byte
		Pairs  [2]row
	}
	lists struct {
		IDs    []ID
		Flags  []bool
		Loads  []float64
		Waits  []time.Duration
		Rows   []row
		Matrix [][]uint32
		Blocks [][2]int8
	}
	pages struct{ L [][256]uint64 }
	stamp struct {
		TS     uint64
		From   ID
		Urgent bool
		Delta  int64
	}
	signal struct{}
)

func (numbers) Kind() string { return "NUMBERS" }
func (texts) Kind() string   { return "TEXTS" }
func (nested) Kind() string  { return "NESTED" }
func (lists) Kind() string   { return "LISTS" }
func (pages) Kind() string   { return "PAGES" }
func (stamp) Kind() string   { return "STAMP" }
func (signal) Kind() string  { return "SIGNAL" }

func newCodec(t testing.TB) *Codec {
	t.Helper()
	c, err := NewCodec(signal{}, stamp{}, numbers{}, texts{}, nested{}, lists{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// reflected is c by package reflect.
func reflected(c *Codec) *Codec {
	other := *c
	other.reflects = true
	return &other
}

// bothWays decodes b directly and by package reflect, which must not differ.
func bothWays(t testing.TB, c *Codec, b []byte) (Message, uint8, error) {
	t.Helper()
	m, kind, err := c.Decode(b)
	other, otherKind, otherErr := reflected(c).Decode(b)
	if kind != otherKind || fmt.Sprint(err) != fmt.Sprint(otherErr) {
		t.Errorf("%x is of kind %d, error %v; by reflection %d, %v", b, kind, err, otherKind, otherErr)
	}
	if err == nil { // NaN is not equal to itself, but encoded as it is
		was, is := c.Append(nil, kind, m), reflected(c).Append(nil, kind, other)
		if !bytes.Equal(was, is) || fmt.Sprintf("%#v", m) != fmt.Sprintf("%#v", other) {
			t.Errorf("%x is %#v, by reflection %#v", b, m, other)
		}
	}
	return m, kind, err
}

func TestCodec_RoundTrip(t *testing.T) {
	t.Parallel()
	c := newCodec(t)
	t.Run("directly", func(t *testing.T) { roundTrips(t, c) })
	t.Run("by reflection", func(t *testing.T) { roundTrips(t, reflected(c)) })
}

func roundTrips(t *testing.T, c *Codec) {
	t.Run("SIGNAL", roundTrip[signal](c))
	t.Run("STAMP", roundTrip[stamp](c))
	t.Run("NUMBERS", roundTrip[numbers](c))
	t.Run("TEXTS", roundTrip[texts](c))
	t.Run("NESTED", roundTrip[nested](c))
	t.Run("LISTS", roundTrip[lists](c))
}

func roundTrip[M Message](c *Codec) func(*testing.T) {
	return rapid.MakeCheck(func(t *rapid.T) {
		m := rapid.Make[M]().Draw(t, "message")
		b, err := c.Encode([]byte("before"), m)
		if err != nil {
			t.Fatal(err)
		}
		b = bytes.TrimPrefix(b, []byte("before"))
		if other, _ := reflected(c).Encode(nil, m); !bytes.Equal(b, other) {
			t.Errorf("%x, by reflection %x", b, other)
		}
		got, kind, err := c.Decode(b)
		if err != nil {
			t.Fatalf("decode %x: %v", b, err)
		}
		if c.Kinds()[kind] != m.Kind() {
			t.Errorf("kind %d is %s, want %s", kind, c.Kinds()[kind], m.Kind())
		}
		if n := c.Size(kind, m); n != len(b) {
			t.Errorf("size %d, encoded in %d bytes", n, len(b))
		}
		copied := c.Copy(kind, m)
		emptyIsNil(reflect.ValueOf(&m).Elem())
		if !reflect.DeepEqual(got, Message(m)) {
			t.Errorf("got  %#v\nwant %#v", got, m)
		}
		if spoil(reflect.ValueOf(&m).Elem()); !c.Plain(kind) && !reflect.DeepEqual(copied, got) {
			t.Errorf("the copy is %#v\nwant %#v", copied, got)
		}
	})
}

// spoil overwrites the elements of all slices of v.
func spoil(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			spoil(v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			spoil(v.Index(i))
			if v.Kind() == reflect.Slice {
				v.Index(i).SetZero()
			}
		}
	}
}

// emptyIsNil makes v what the wire can tell of it: there, an empty slice and
// none are the same.
func emptyIsNil(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			emptyIsNil(v.Field(i))
		}
	case reflect.Slice:
		if v.Len() == 0 {
			v.SetZero()
		}
		for i := range v.Len() {
			emptyIsNil(v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			emptyIsNil(v.Index(i))
		}
	}
}

func TestCodec_RoundTripOfExtremes(t *testing.T) {
	t.Parallel()
	c := newCodec(t)
	for name, m := range map[string]Message{
		"least": numbers{
			I8: math.MinInt8, I16: math.MinInt16, I32: math.MinInt32, I64: math.MinInt64,
			I: math.MinInt, D: math.MinInt64, F: math.Inf(-1),
		},
		"largest": numbers{
			U8: math.MaxUint8, U16: math.MaxUint16, U32: math.MaxUint32, U64: math.MaxUint64,
			U: math.MaxUint, I8: math.MaxInt8, I16: math.MaxInt16, I32: math.MaxInt32,
			I64: math.MaxInt64, I: math.MaxInt, B: true, F: math.Inf(1), D: math.MaxInt64,
			P: math.MaxUint32,
		},
		"minus zero":   numbers{F: math.Copysign(0, -1)},
		"not a number": numbers{F: math.Float64frombits(0x7ff8_0000_dead_beef)},
		"denormal":     numbers{F: math.SmallestNonzeroFloat64},
		"not UTF-8":    texts{S: "\xff\x00\xfe", Raw: []byte{0, 255}, Name: "\x80"},
		"long":         texts{S: strings.Repeat("x", 1<<16), Raw: make([]byte, 1<<16)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := c.Encode(nil, m)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := bothWays(t, c, b)
			if err != nil {
				t.Fatal(err)
			}
			if n, ok := m.(numbers); ok {
				g := got.(numbers)
				if math.Float64bits(g.F) != math.Float64bits(n.F) {
					t.Errorf("float: got bits %x, want %x", math.Float64bits(g.F), math.Float64bits(n.F))
				}
				g.F, n.F = 0, 0
				got, m = g, n
			}
			if !reflect.DeepEqual(got, m) {
				t.Errorf("got %#v, want %#v", got, m)
			}
		})
	}
}

// sample has a field of every operation of the codec. Its bytes are written
// down below: who changes them changes CodecVersion.
type sample struct {
	TS     uint64
	From   ID
	Urgent bool
	Delta  time.Duration
	Name   string
	Raw    []byte
	Load   float64
	Queue  []ID
	Pair   [2]int8
	Rows   []row
}

func (sample) Kind() string { return "SAMPLE" }

var (
	sampleValue = sample{
		TS: 300, From: 3, Urgent: true, Delta: -2, Name: "Zoë", Raw: []byte{0xff}, Load: 1.5,
		Queue: []ID{1, 128}, Pair: [2]int8{-1, 64}, Rows: []row{{7, "x"}},
	}
	sampleBytes = "01" + // version
		"01" + // the second kind
		"ac02" + // TS: seven bits a byte, least first
		"03" + // From
		"01" + // Urgent
		"03" + // Delta: zigzag
		"045a6fc3ab" + // Name: length in bytes, UTF-8
		"01ff" + // Raw
		"000000000000f83f" + // Load: IEEE 754, little-endian
		"02018001" + // Queue: length, elements
		"018001" + // Pair: no length
		"01070178" // Rows: length, then the fields of each
)

func sampleCodec(t testing.TB) (*Codec, []byte) {
	t.Helper()
	c, err := NewCodec(signal{}, sample{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := hex.DecodeString(sampleBytes)
	if err != nil {
		t.Fatal(err)
	}
	return c, b
}

func TestCodec_WireFormatIsFixed(t *testing.T) {
	t.Parallel()
	c, want := sampleCodec(t)
	if CodecVersion != 1 {
		t.Errorf("version %d: write the bytes of the new version down here", CodecVersion)
	}
	got, err := c.Encode(nil, sampleValue)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("encoded %x (%v)\n   want %x", got, err, want)
	}
	back, kind, err := bothWays(t, c, want)
	if err != nil || kind != 1 || !reflect.DeepEqual(back, sampleValue) {
		t.Errorf("decoded %#v, kind %d (%v)\n   want %#v", back, kind, err, sampleValue)
	}
	if got, _ := c.Encode(nil, signal{}); !bytes.Equal(got, []byte{1, 0}) {
		t.Errorf("a message without fields is %x, want 0100", got)
	}
}

func TestDecode_RefusesEveryPrefixAndAnyTail(t *testing.T) {
	t.Parallel()
	c, b := sampleCodec(t)
	for n := range len(b) {
		if m, _, err := bothWays(t, c, b[:n]); err == nil {
			t.Errorf("the first %d of %d bytes decode to %#v", n, len(b), m)
		}
	}
	for _, whole := range [][]byte{b, {1, 0}} {
		if m, _, err := bothWays(t, c, append(bytes.Clone(whole), 0)); err == nil {
			t.Errorf("%x and one byte more decode to %#v", whole, m)
		}
	}
}

func TestDecode_Refuses(t *testing.T) {
	t.Parallel()
	c := newCodec(t)
	const (
		stampKind, numbersKind, textsKind, listsKind = "01", "02", "03", "05"

		overlong = "ffffffffffffffffff02" // more than 64 bits
		huge     = "808080808020"         // 1 << 40
	)
	for name, test := range map[string]struct{ bytes, want string }{
		"nothing":               {"", "ends early"},
		"version alone":         {"01", "ends early"},
		"older version":         {"0000", "version 0, want 1"},
		"newer version":         {"0200", "version 2, want 1"},
		"unknown kind":          {"0106", "unknown kind 6"},
		"last kind of all":      {"01ff", "unknown kind 255"},
		"fields of no field":    {"010000", "bytes behind"},
		"number without end":    {"01" + stampKind + "80", "STAMP: message ends early"},
		"number of 65 bits":     {"01" + stampKind + overlong, "STAMP: number out of range"},
		"signed of 65 bits":     {"01" + stampKind + "000000" + overlong, "out of range"},
		"256 in a uint8":        {"01" + numbersKind + "8002", "NUMBERS: number out of range"},
		"128 in an int8":        {"01" + numbersKind + "0000000000" + "8002", "out of range"},
		"2 in a bool":           {"01" + stampKind + "000002", "out of range"},
		"string of 1<<40 bytes": {"01" + textsKind + huge, "ends early"},
		"bytes of 1<<40 bytes":  {"01" + textsKind + "00" + huge, "ends early"},
		"list of 1<<40 IDs":     {"01" + listsKind + huge, "ends early"},
		"list of 1<<64-1 IDs":   {"01" + listsKind + "ffffffffffffffffff01", "ends early"},
		"length of 65 bits":     {"01" + listsKind + overlong, "out of range"},
		"ID of 1<<40":           {"01" + listsKind + "01" + huge, "LISTS: number out of range"},
		"one ID too few":        {"01" + listsKind + "020a", "ends early"},
		"one float too few":     {"01" + listsKind + "0000" + "02" + strings.Repeat("00", 15), "early"},
		"list in a list":        {"01" + listsKind + "0000000000" + "01" + huge, "ends early"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := hex.DecodeString(test.bytes)
			if err != nil {
				t.Fatal(err)
			}
			m, _, err := bothWays(t, c, b)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %#v, error %v; want an error with %q", m, err, test.want)
			}
			if m != nil {
				t.Errorf("a message comes with the error: %#v", m)
			}
		})
	}
}

// TestDecode_AllocatesInProportion is not parallel: it reads the allocator's
// statistics of the whole program.
func TestDecode_AllocatesInProportion(t *testing.T) {
	c, err := NewCodec(signal{}, stamp{}, numbers{}, texts{}, nested{}, lists{}, pages{})
	if err != nil {
		t.Fatal(err)
	}
	huge := []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x20} // 1 << 40
	inputs := map[string][]byte{
		"string":        append([]byte{1, 3}, huge...),
		"bytes":         append([]byte{1, 3, 0}, huge...),
		"letters":       append([]byte{1, 3, 0, 0, 0}, huge...),
		"deep strings":  append([]byte{1, 4, 0, 0}, huge...),
		"IDs":           append([]byte{1, 5}, huge...),
		"floats":        append([]byte{1, 5, 0, 0}, huge...),
		"rows":          append([]byte{1, 5, 0, 0, 0, 0}, huge...),
		"matrix":        append([]byte{1, 5, 0, 0, 0, 0, 0}, huge...),
		"row of matrix": append([]byte{1, 5, 0, 0, 0, 0, 0, 1}, huge...),
		// An element is at least 256 bytes here and 2 KiB there.
		"pages": append([]byte{1, 6, 0xff, 0x1f}, make([]byte, 4095)...),
		// As many elements as there are bytes: the most that a claim can get.
		"true claim": append([]byte{1, 5, 0, 0, 0, 0, 0, 0xff, 0x1f}, make([]byte, 4095)...),
	}
	for name, b := range inputs {
		if _, _, err := c.Decode(b); err == nil {
			t.Fatalf("%s: decodes", name)
		}
		const rounds = 100
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range rounds {
			_, _, _ = c.Decode(b)
		}
		runtime.ReadMemStats(&after)
		// 24 bytes for each: the header of a slice. 4 KiB for the error, the
		// scratch and whatever the runtime does beside.
		got, most := (after.TotalAlloc-before.TotalAlloc)/rounds, uint64(24*len(b)+4096)
		if got > most {
			t.Errorf("%s: %d bytes allocated for %d, want at most %d", name, got, len(b), most)
		}
	}
}

// TestDecode_SharesNothing: not with the input, and not with the last message.
func TestDecode_SharesNothing(t *testing.T) {
	t.Parallel()
	c, b := sampleCodec(t)
	first, _, err := c.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	other := sampleValue
	other.Name, other.Raw, other.Queue = "no", []byte{1}, []ID{9, 9}
	other.Rows, other.Pair = []row{{8, "y"}}, [2]int8{5, 5}
	encoded, _ := c.Encode(nil, other)
	if _, _, err = c.Decode(encoded); err != nil {
		t.Fatal(err)
	}
	clear(b)
	if !reflect.DeepEqual(first, sampleValue) {
		t.Errorf("became %#v", first)
	}
	// What the last message left must not shine through.
	empty, _ := c.Encode(nil, sample{})
	if got, _, _ := bothWays(t, c, empty); !reflect.DeepEqual(got, sample{}) {
		t.Errorf("a zero message decodes to %#v", got)
	}
}

// Messages that no codec takes.
type (
	withPointer   struct{ P *int }
	withMap       struct{ M map[ID]int }
	withHidden    struct{ hidden int }
	withBlank     struct{ _ int }
	withInterface struct{ Any any }
	withFunc      struct{ F func() }
	withChan      struct{ C chan int }
	withFloat32   struct{ F float32 }
	withComplex   struct{ C complex128 }
	withUintptr   struct{ P uintptr }
	withTime      struct{ At time.Time }
	pointerDeep   struct{ Rows []struct{ P [2]*int } }
	endless       struct{ Kids []endless }
	tooDeep       struct{ L [][][][][][][][]int }
	deepEnough    struct{ L [][][][][][][]int }
	noElements    struct{ L []struct{} }
	noElements2   struct{ L [][0]int }
	anyKind       struct{ K string }
	nameless      struct{}
	again         struct{}
	notStruct     int
)

func (withPointer) Kind() string   { return "M" }
func (withMap) Kind() string       { return "M" }
func (withHidden) Kind() string    { return "M" }
func (withBlank) Kind() string     { return "M" }
func (withInterface) Kind() string { return "M" }
func (withFunc) Kind() string      { return "M" }
func (withChan) Kind() string      { return "M" }
func (withFloat32) Kind() string   { return "M" }
func (withComplex) Kind() string   { return "M" }
func (withUintptr) Kind() string   { return "M" }
func (withTime) Kind() string      { return "M" }
func (pointerDeep) Kind() string   { return "M" }
func (endless) Kind() string       { return "M" }
func (tooDeep) Kind() string       { return "M" }
func (deepEnough) Kind() string    { return "M" }
func (noElements) Kind() string    { return "M" }
func (noElements2) Kind() string   { return "M" }
func (nameless) Kind() string      { return "" }
func (k anyKind) Kind() string     { return k.K }
func (again) Kind() string         { return "SIGNAL" }
func (notStruct) Kind() string     { return "M" }

func TestNewCodec_Refuses(t *testing.T) {
	t.Parallel()
	_ = withHidden{}.hidden
	for name, test := range map[string]struct {
		messages []Message
		want     string
	}{
		"nothing":       {[]Message{nil}, "want a struct value"},
		"pointer":       {[]Message{&stamp{}}, "*algo.stamp: want a struct value"},
		"no struct":     {[]Message{notStruct(1)}, "algo.notStruct: want a struct value"},
		"no kind":       {[]Message{nameless{}}, `kind "": want 1 to 64 letters`},
		"kind twice":    {[]Message{signal{}, again{}}, `kind "SIGNAL" is taken`},
		"message twice": {[]Message{signal{}, signal{}}, `kind "SIGNAL" is taken`},
		"odd name":      {[]Message{Raw{Name: "a,b"}}, `kind "a,b": want 1 to 64 letters`},
		"raw twice":     {[]Message{Raw{Name: "M"}, Raw{Name: "M"}}, `kind "M" is taken`},
		"one type": {[]Message{anyKind{"A"}, anyKind{"B"}},
			`algo.anyKind: it is of kind "A" and of kind "B", but a Go type stands for one kind`},
		"pointer field":   {[]Message{withPointer{}}, "message M: field P: a *int cannot travel"},
		"map":             {[]Message{withMap{}}, "field M: a map[algo.ID]int cannot travel"},
		"unexported":      {[]Message{withHidden{}}, "field hidden is not exported"},
		"blank":           {[]Message{withBlank{}}, "field _ is not exported"},
		"interface":       {[]Message{withInterface{}}, "a interface {} cannot travel"},
		"function":        {[]Message{withFunc{}}, "a func() cannot travel"},
		"channel":         {[]Message{withChan{}}, "a chan int cannot travel"},
		"float32":         {[]Message{withFloat32{}}, "a float32 cannot travel"},
		"complex":         {[]Message{withComplex{}}, "a complex128 cannot travel"},
		"uintptr":         {[]Message{withUintptr{}}, "a uintptr cannot travel"},
		"time":            {[]Message{withTime{}}, "field At: field wall is not exported"},
		"pointer inside":  {[]Message{pointerDeep{}}, "field Rows: field P: a *int cannot travel"},
		"of itself":       {[]Message{endless{}}, "nested too deep"},
		"nine deep":       {[]Message{tooDeep{}}, "nested too deep"},
		"empty elements":  {[]Message{noElements{}}, "a slice of empty values"},
		"empty elements'": {[]Message{noElements2{}}, "a slice of empty values"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := NewCodec(test.messages...)
			if c != nil || err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, error %v; want an error with %q", c, err, test.want)
			}
		})
	}
	if _, err := NewCodec(deepEnough{}); err != nil {
		t.Errorf("eight deep: %v", err)
	}
}

func TestCodec_Kinds(t *testing.T) {
	t.Parallel()
	c := newCodec(t)
	want := []string{"SIGNAL", "STAMP", "NUMBERS", "TEXTS", "NESTED", "LISTS"}
	if got := c.Kinds(); !reflect.DeepEqual(got, want) {
		t.Errorf("kinds %v, want %v", got, want)
	}
	plain := []bool{true, true, true, false, false, false}
	for i, m := range []Message{signal{}, stamp{}, numbers{}, texts{}, nested{}, lists{}} {
		if kind, ok := c.KindOf(m); !ok || int(kind) != i {
			t.Errorf("%s is kind %d, %v, want %d", m.Kind(), kind, ok, i)
		}
		if c.Plain(uint8(i)) != plain[i] {
			t.Errorf("%s: plain is %v", m.Kind(), !plain[i])
		}
	}
	for _, m := range []Message{nil, &stamp{}, again{}} {
		if kind, ok := c.KindOf(m); ok {
			t.Errorf("%#v is kind %d", m, kind)
		}
		if b, err := c.Encode([]byte("kept"), m); err == nil || string(b) != "kept" {
			t.Errorf("%#v encodes to %q, error %v", m, b, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	c := newCodec(f)
	for _, m := range []Message{
		signal{}, stamp{TS: 1 << 40, From: 7, Urgent: true, Delta: -1},
		numbers{U8: 255, I8: -128, F: math.NaN(), D: time.Hour},
		texts{S: "text", Raw: []byte{1}, Name: "timer", Bytes: []letter{200}},
		nested{Fixed: [3]int16{1, -1, 0}, Pairs: [2]row{{1, "a"}, {2, "b"}}},
		lists{
			IDs: []ID{1, 2, 3}, Flags: []bool{true}, Loads: []float64{0.5},
			Waits: []time.Duration{time.Second}, Rows: []row{{9, "z"}},
			Matrix: [][]uint32{{1}, nil, {2, 3}}, Blocks: [][2]int8{{1, 2}},
		},
	} {
		b, err := c.Encode(nil, m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, kind, err := bothWays(t, c, b)
		if err != nil {
			if m != nil {
				t.Errorf("a message comes with the error: %#v", m)
			}
			return
		}
		// Numbers may be written longer than need be; once more through the
		// codec, every message has one form.
		first := c.Append(nil, kind, m)
		if len(first) > len(b) {
			t.Errorf("%d bytes became %d", len(b), len(first))
		}
		again, kind2, err := c.Decode(first)
		if err != nil || kind2 != kind {
			t.Fatalf("%x: kind %d, error %v", first, kind2, err)
		}
		if second := c.Append(nil, kind, again); !bytes.Equal(first, second) {
			t.Errorf("%#v is %x, then %x", m, first, second)
		}
	})
}

var benchMessage Message = stamp{TS: 123456789, From: 42, Urgent: true, Delta: -77}

func BenchmarkEncode(b *testing.B) {
	c := newCodec(b)
	b.Run("codec", func(b *testing.B) {
		b.ReportAllocs()
		var buf []byte
		for b.Loop() {
			buf, _ = c.Encode(buf[:0], benchMessage)
		}
		b.ReportMetric(float64(len(buf)), "B")
	})
	b.Run("json", func(b *testing.B) {
		b.ReportAllocs()
		var buf []byte
		for b.Loop() {
			buf, _ = json.Marshal(benchMessage)
		}
		b.ReportMetric(float64(len(buf)), "B")
	})
}

var sink Message

func BenchmarkDecode(b *testing.B) {
	c := newCodec(b)
	encoded, _ := c.Encode(nil, benchMessage)
	b.Run("codec", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sink, _, _ = c.Decode(encoded)
		}
	})
	text, err := json.Marshal(benchMessage)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var m stamp
			if err := json.Unmarshal(text, &m); err != nil {
				b.Fatal(err)
			}
			sink = m
		}
	})
}

// Raw messages are told by their names, beside others of Go types; their bodies are any
// bytes.
func TestCodec_Raw(t *testing.T) {
	t.Parallel()
	c, err := NewCodec(Raw{Name: "A"}, signal{}, Raw{Name: "B", Body: "of no account"})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Kinds(); !slices.Equal(got, []string{"A", "SIGNAL", "B"}) {
		t.Errorf("kinds %v", got)
	}
	for _, test := range []struct {
		m    Message
		kind uint8
		text string
	}{
		{Raw{Name: "A"}, 0, "\x01\x00"},
		{Raw{Name: "B", Body: "\x00\xff and more"}, 2, "\x01\x02\x00\xff and more"},
		{signal{}, 1, "\x01\x01"},
	} {
		b, err := c.Encode(nil, test.m)
		if err != nil || string(b) != test.text {
			t.Errorf("%v: encoded %q, %v, want %q", test.m, b, err, test.text)
		}
		if m, kind, err := c.Decode(b); m != test.m || kind != test.kind || err != nil {
			t.Errorf("%v: decoded %v of kind %d, %v", test.m, m, kind, err)
		}
		if n := c.Size(test.kind, test.m); n != len(test.text) {
			t.Errorf("%v: size %d", test.m, n)
		}
		if !c.Plain(test.kind) {
			t.Errorf("%v: it shares nothing with a copy, but is not plain", test.m)
		}
	}
	if _, err := c.Encode(nil, Raw{Name: "C"}); err == nil {
		t.Error("a kind that is not declared is encoded")
	}
	if got := (Raw{Name: "A", Body: `{"term":4}`}).String(); got != "{`{\"term\":4}`}" {
		t.Errorf("as text: %s", got)
	}
}
