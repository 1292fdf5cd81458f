package experiment

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

// A typ is the type of a key's value: how it is called, how it is read, and how
// it is described. Read returns nil if the value is wrong, which it has then
// reported.
type typ struct {
	name    string
	choices []string
	read    func(p *parser, key string, n *node) any
	// json is what of it JSON Schema can say; def names that, if it stands in
	// several places.
	json func(d defs) object
	def  string
	// expand makes a block of a scalar where both forms exist, so that an
	// override can reach a part of it. Nil: the value has no parts.
	expand func(n *node) *node
}

// A parser reads values and reports what is wrong with them.
type parser struct {
	*report
	file string // the experiment file; "" if there is none
}

// wrong reports a value of the wrong kind.
func (p *parser) wrong(key string, n *node, want string) {
	what, remedy := n.plain(), ""
	_, rest, isLeaf := find(key)
	switch {
	case n.kind == null && isLeaf && len(rest) == 0:
		remedy = "; leave the key out for its default"
	case n.kind == text:
		what = strconv.Quote(what)
		if isNumber(n.text) {
			remedy = "; write it without the quotes"
		}
	case n.kind == list && isLeaf && len(rest) == 0 && sweepable(key):
		remedy = "; to try several, write sweep: [{vary: " + key + ", over: " + clip(n.bare()) + "}]"
	}
	p.add(n.at, key, "%s, want %s%s", what, want, remedy)
}

var decimal = lazy(`^[+-]?(0|[1-9][0-9]*)$`)

// whole is a whole number within bounds.
func whole(lo, hi int64) typ {
	name := "a whole number"
	if lo > -maxInt {
		name += " from " + strconv.FormatInt(lo, 10) + " to " + strconv.FormatInt(hi, 10)
	}
	out := object{"type": "integer", "minimum": lo, "maximum": hi}
	return typ{name: name, json: out.itself, read: func(p *parser, key string, n *node) any {
		if n.kind != integer {
			p.wrong(key, n, name)
			return nil
		}
		if !p.decimal(key, n) {
			return nil
		}
		v, err := strconv.ParseInt(n.text, 10, 64)
		if err != nil || v < lo || v > hi {
			p.add(n.at, key, "%s, want %s", n.plain(), name)
			return nil
		}
		return v
	}}
}

// decimal refuses the other ways to write a whole number: 010 is 8 in YAML,
// which few who write it mean.
func (p *parser) decimal(key string, n *node) bool {
	if n.kind != integer || decimal().MatchString(n.text) {
		return true
	}
	p.add(n.at, key, "%s, want a whole number in plain decimal digits (0 in front makes it octal)",
		n.plain())
	return false
}

// number is a finite number within bounds.
func number(lo, hi float64) typ {
	name := "a number"
	out := object{"type": "number"}
	if !math.IsInf(hi, 0) {
		name += " from " + formatFloat(lo) + " to " + formatFloat(hi)
		out["minimum"], out["maximum"] = lo, hi
	}
	return typ{name: name, json: out.itself, read: func(p *parser, key string, n *node) any {
		if n.kind != integer && n.kind != float {
			p.wrong(key, n, name)
			return nil
		}
		if !p.decimal(key, n) {
			return nil
		}
		v, err := strconv.ParseFloat(strings.Replace(n.text, ".inf", "inf", 1), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < lo || v > hi {
			p.add(n.at, key, "%s, want %s", n.plain(), name)
			return nil
		}
		return v + 0 // no negative zero
	}}
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// longest bounds every duration, so that sums cannot overflow.
const longest = 24 * time.Hour

const durationPattern = `^([0-9]+(\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+$`

var durationRule = lazy(durationPattern)

// span is a duration within bounds.
func span(lo, hi time.Duration) typ {
	name := "a duration from " + lo.String() + " to " + hi.String()
	t := typ{name: name, def: "duration"}
	t.json = object{"type": "string", "pattern": durationPattern, "examples": []string{"5ms"}}.itself
	t.read = func(p *parser, key string, n *node) any {
		word := strings.TrimSpace(n.text)
		switch {
		case n.kind == integer || n.kind == float, n.kind == text && isNumber(word):
			p.add(n.at, key, "%s has no unit; write %sms (units: ns, us, ms, s, m, h)", n.plain(), word)
			return nil
		case n.kind != text:
			p.wrong(key, n, name)
			return nil
		}
		d, err := time.ParseDuration(n.text)
		negative := err == nil && d < 0
		if !durationRule().MatchString(n.text) && !negative {
			p.add(n.at, key, "%q, want a duration with its unit%s", clip(n.text), tidied(n.text))
			return nil
		}
		if err != nil || d < lo || d > hi { // an error here: too large
			p.add(n.at, key, "%s, want %s", n.plain(), name)
			return nil
		}
		return d
	}
	return t
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// tidied is the remedy for a duration that is almost one.
func tidied(s string) string {
	t := strings.ToLower(strings.Join(strings.Fields(s), ""))
	if durationRule().MatchString(t) {
		return "; write " + t
	}
	return ", as 5ms (units: ns, us, ms, s, m, h)"
}

// choice is one of some words.
func choice(words ...string) typ {
	name := "one of " + strings.Join(words, ", ")
	t := typ{name: name, choices: words, json: enumOf(words).itself}
	t.read = func(p *parser, key string, n *node) any {
		if n.kind != text {
			p.wrong(key, n, name)
			return nil
		}
		if !slices.Contains(words, n.text) {
			p.add(n.at, key, "%q, want %s%s", clip(n.text), name, meant(n.text, words))
			return nil
		}
		return n.text
	}
	return t
}

// only allows a single value of what will be a larger range.
func only(t typ, value any, text string) typ {
	read := t.read
	t.json = object{"const": value}.itself
	t.read = func(p *parser, key string, n *node) any {
		v := read(p, key, n)
		if v != nil && v != value {
			p.add(n.at, key, "%s is not supported yet, want %s", n.plain(), text)
			return nil
		}
		return v
	}
	return t
}

func meant(word string, words []string) string {
	if len(word) > 64 {
		return "" // nothing that we know is so long
	}
	if near := algo.Nearest(strings.ToLower(word), words); near != "" {
		return "; did you mean " + strconv.Quote(near) + "?"
	}
	return ""
}

func truth() typ {
	const name = "true or false"
	out := object{"type": "boolean"}
	return typ{name: name, json: out.itself, read: func(p *parser, key string, n *node) any {
		switch {
		case n.kind == boolean:
			return strings.EqualFold(n.text, "true")
		default:
			p.wrong(key, n, name)
			return nil
		}
	}}
}

// like adds the pattern that a text has, for JSON Schema; read knows it anyway.
func (t typ) like(pattern string) typ {
	t.json = object{"type": "string", "pattern": pattern}.itself
	return t
}

// words is text that ok accepts; ok says what it wants instead.
func words(name string, ok func(string) string) typ {
	t := typ{name: name, json: object{"type": "string"}.itself}
	t.read = func(p *parser, key string, n *node) any {
		switch n.kind {
		case text:
			if want := ok(n.text); want != "" {
				p.add(n.at, key, "%q, want %s", clip(n.text), want)
				return nil
			}
			return n.text
		case integer, float, boolean:
			p.add(n.at, key, "%s, want text; write %q, with the quotes", n.plain(), n.text)
		default:
			p.wrong(key, n, name)
		}
		return nil
	}
	return t
}

// label is the name of an algorithm in the results.
func label() typ { return words("a label", badName).like(namePattern) }

const namePattern = `^[a-z0-9][a-z0-9._-]{0,63}$`

var (
	nameRule = lazy(namePattern)
	// reserved names cannot be folders on every machine.
	reserved = lazy(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$`)
)

const nameWords = "1 to 64 of a-z, 0-9, '.', '_' and '-', beginning with a letter or a digit"

// badName says what is wrong with the name of an experiment or a label.
func badName(s string) string {
	switch {
	case !nameRule().MatchString(s):
		return nameWords
	case reserved().MatchString(s) || strings.HasSuffix(s, "."):
		return "a name that a folder can have on every system"
	}
	return ""
}
