package chart

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/plot/font"
)

// A subset is what a document uses of a TrueType font. Its glyphs keep their numbers; those
// that are not used are empty.
type subset struct {
	face  font.Face
	runes map[uint16]rune // of the glyphs that are used
}

func newSubset(f font.Face) *subset { return &subset{face: f, runes: map[uint16]rune{}} }

// encode is text as numbers of glyphs, two bytes each in hexadecimal. What the font does not
// have is a question mark.
func (s *subset) encode(text string) string {
	var b strings.Builder
	for _, r := range text {
		i, err := s.face.Face.GlyphIndex(nil, r)
		if err != nil || i == 0 {
			r = '?'
			i, _ = s.face.Face.GlyphIndex(nil, r) // every font has it
		}
		s.runes[uint16(i)] = r
		fmt.Fprintf(&b, "%04X", uint16(i))
	}
	return b.String()
}

// partsOfFont is how many objects a font takes.
const partsOfFont = 5

// objects are those of the font, of which the first has the number that is given: the font
// itself, its glyphs' numbers and widths, its measures, its program, and what its glyphs mean.
func (s *subset) objects(first int) []string {
	var source bytes.Buffer
	if _, err := s.face.Face.WriteSourceTo(nil, &source); err != nil {
		panic(err)
	}
	t := tablesOf(source.Bytes())
	used := slices.Sorted(maps.Keys(s.runes))
	em := int(binary.BigEndian.Uint16(t["head"][18:]))
	thousandths := func(v int16) int { return int(v) * 1000 / em }
	word := func(table string, at int) int16 { return int16(binary.BigEndian.Uint16(t[table][at:])) }

	var widths, unicode strings.Builder
	for i, g := range used {
		fmt.Fprintf(&widths, "%d[%d]", g, thousandths(word("hmtx", 4*min(int(g), t.metrics()-1))))
		if i%100 == 0 { // no more than so many in a block
			if i > 0 {
				unicode.WriteString("endbfchar\n")
			}
			fmt.Fprintf(&unicode, "%d beginbfchar\n", min(100, len(used)-i))
		}
		fmt.Fprintf(&unicode, "<%04X> <%04X>\n", g, s.runes[g])
	}
	meaning := "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n" +
		"/CIDSystemInfo <</Registry (Adobe) /Ordering (UCS) /Supplement 0>> def\n" +
		"/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n" +
		"1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n" + unicode.String() +
		"endbfchar\nendcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n"
	program := t.cut(used)
	name := tag(used) + "+" + strings.NewReplacer("-Regular", "", " ", "").Replace(s.face.Name())
	box := fmt.Sprintf("[%d %d %d %d]", thousandths(word("head", 36)), thousandths(word("head", 38)),
		thousandths(word("head", 40)), thousandths(word("head", 42)))
	return []string{
		fmt.Sprintf("<</Type/Font/Subtype/Type0/BaseFont/%s/Encoding/Identity-H"+
			"/DescendantFonts[%d 0 R]/ToUnicode %d 0 R>>",
			name, first+1, first+4),
		fmt.Sprintf("<</Type/Font/Subtype/CIDFontType2/BaseFont/%s"+
			"/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>"+
			"/FontDescriptor %d 0 R/DW 0/W[%s]/CIDToGIDMap/Identity>>", name, first+2, widths.String()),
		fmt.Sprintf("<</Type/FontDescriptor/FontName/%s/Flags 32/FontBBox%s/ItalicAngle 0/Ascent %d"+
			"/Descent %d/CapHeight %d/StemV 80/FontFile2 %d 0 R>>", name, box, thousandths(word("hhea", 4)),
			thousandths(word("hhea", 6)), thousandths(word("hhea", 4)), first+3),
		stream(fmt.Sprintf("/Length1 %d", len(program)), program),
		stream("", []byte(meaning)),
	}
}

// tag is six letters by which readers tell subsets of a font from each other.
func tag(used []uint16) string {
	sum := sha256.Sum256(fmt.Append(nil, used))
	letters := sum[:6]
	for i := range letters {
		letters[i] = 'A' + letters[i]%26
	}
	return string(letters)
}

// tables are those of a TrueType font.
type tables map[string][]byte

func tablesOf(font []byte) tables {
	t := tables{}
	for i := range int(binary.BigEndian.Uint16(font[4:])) {
		entry := font[12+16*i:]
		from, size := binary.BigEndian.Uint32(entry[8:]), binary.BigEndian.Uint32(entry[12:])
		t[string(entry[:4])] = font[from : from+size]
	}
	return t
}

// metrics is how many glyphs have a width of their own.
func (t tables) metrics() int { return int(binary.BigEndian.Uint16(t["hhea"][34:])) }

// glyph is the outline of a glyph.
func (t tables) glyph(g int) []byte {
	at := func(i int) uint32 {
		if binary.BigEndian.Uint16(t["head"][50:]) == 0 {
			return 2 * uint32(binary.BigEndian.Uint16(t["loca"][2*i:]))
		}
		return binary.BigEndian.Uint32(t["loca"][4*i:])
	}
	return t["glyf"][at(g):at(g+1)]
}

// parts are the glyphs that a glyph is composed of.
func (t tables) parts(g int) (out []int) {
	const words, scaled, more, bothScaled, twoByTwo = 1, 8, 0x20, 0x40, 0x80
	outline := t.glyph(g)
	if len(outline) == 0 || int16(binary.BigEndian.Uint16(outline)) >= 0 {
		return nil
	}
	for at, flags := 10, uint16(more); flags&more != 0; {
		flags = binary.BigEndian.Uint16(outline[at:])
		out = append(out, int(binary.BigEndian.Uint16(outline[at+2:])))
		at += 6
		if flags&words != 0 {
			at += 2
		}
		switch {
		case flags&scaled != 0:
			at += 2
		case flags&bothScaled != 0:
			at += 4
		case flags&twoByTwo != 0:
			at += 8
		}
	}
	return out
}

// cut is the font with only the glyphs that are used, those that they are composed of, and the
// one for what is missing.
func (t tables) cut(used []uint16) []byte {
	n := int(binary.BigEndian.Uint16(t["maxp"][4:]))
	keep := make([]bool, n)
	var mark func(g int)
	mark = func(g int) {
		if !keep[g] {
			keep[g] = true
			for _, part := range t.parts(g) {
				mark(part)
			}
		}
	}
	mark(0)
	for _, g := range used {
		mark(int(g))
	}
	var glyf, loca []byte
	widths := slices.Clone(t["hmtx"])
	for g := range n {
		loca = binary.BigEndian.AppendUint32(loca, uint32(len(glyf)))
		if keep[g] {
			glyf = append(glyf, t.glyph(g)...)
			glyf = append(glyf, make([]byte, -len(glyf)&3)...)
		} else if g < t.metrics()-1 {
			clear(widths[4*g : 4*g+4])
		}
	}
	loca = binary.BigEndian.AppendUint32(loca, uint32(len(glyf)))
	head := slices.Clone(t["head"])
	binary.BigEndian.PutUint16(head[50:], 1) // loca has four bytes each
	out := tables{"glyf": glyf, "loca": loca, "hmtx": widths, "head": head}
	for _, name := range []string{"cvt ", "fpgm", "hhea", "maxp", "prep"} {
		if data, is := t[name]; is {
			out[name] = data
		}
	}
	return out.join()
}

// join is a font of the tables.
func (t tables) join() []byte {
	names := slices.Sorted(maps.Keys(t))
	power, log := 1, 0
	for 2*power <= len(names) {
		power, log = 2*power, log+1
	}
	file := binary.BigEndian.AppendUint32(nil, 0x00010000)
	for _, v := range []int{len(names), 16 * power, log, 16 * (len(names) - power)} {
		file = binary.BigEndian.AppendUint16(file, uint16(v))
	}
	var data []byte
	for _, name := range names {
		table := append(slices.Clone(t[name]), make([]byte, -len(t[name])&3)...)
		sum := uint32(0)
		for i := 0; i < len(table); i += 4 {
			sum += binary.BigEndian.Uint32(table[i:])
		}
		file = append(file, name...)
		for _, v := range []uint32{sum, uint32(12 + 16*len(names) + len(data)), uint32(len(t[name]))} {
			file = binary.BigEndian.AppendUint32(file, v)
		}
		data = append(data, table...)
	}
	return append(file, data...)
}
