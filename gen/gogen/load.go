// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// loader prints the statements that fill a struct's fields from a run.
type loader struct {
	g     *generator
	b     *body
	buf   buffer // a pointer to the array that is the run
	first int    // number of the run's first byte in the names of words, which must differ within a function
	words []word
}

// word is a local variable that holds a group of the run.
type word struct {
	group
	v val
}

// runPlace is where the parts of a struct lie in a run.
type runPlace struct {
	target string // a printed struct
	bit    int
}

// parts fills the fields of a struct, those of nested ones included.
func (l *loader) parts(in runPlace, parts []gen.Part) {
	scalars, others := groups(parts)
	next := 0
	flush := func(bit int) {
		for ; next < len(others) && others[next].Bit < bit; next++ {
			l.other(in, others[next])
		}
	}
	for _, gr := range scalars {
		flush(gr.bit)
		l.group(in, gr)
	}
	flush(1 << 30)
}

// group loads the bytes of a group once, if more than one field or rule reads them.
func (l *loader) group(in runPlace, gr group) {
	named, read := 0, 0
	for _, p := range gr.parts {
		if hasField(p.Item) {
			named++
		}
		if hasField(p.Item) || p.Item.Scalar.Reserved != gen.ReservedIgnore {
			read++
		}
	}
	at := in.bit + gr.bit
	if named == 0 || read < 2 || gr.bits > 64 {
		for _, p := range gr.parts {
			if hasField(p.Item) {
				l.b.line("%s.%s = %s", in.target, p.Item.Name.Go, l.g.loadScalar(l.buf, in.bit+p.Bit, p.Item.Scalar).code)
			}
		}
		return
	}
	byteAt, size, _ := l.buf.widen(at/8, gr.bits/8)
	v := loadWord(l.buf.code, byteAt, size)
	w := word{group{bit: 8 * byteAt, bits: 8 * size}, operand(fmt.Sprintf("word%d", l.first+at/8), v.typ)}
	l.words = append(l.words, w)
	l.b.line("%s := %s", w.v.code, v.code)
	for _, p := range gr.parts {
		if hasField(p.Item) {
			l.b.line("%s.%s = %s", in.target, p.Item.Name.Go, w.extract(in.bit+p.Bit, p.Item.Scalar).code)
		}
	}
}

// extract prints the scalar at a bit of the run.
func (w word) extract(bit int, s *gen.Scalar) val {
	return fromWord(w.v, w.bits/8, w.bit+w.bits-bit-s.Bits, s)
}

// scalar prints the value of a scalar at a bit of the run: from a word that is loaded already, if there is one.
func (l *loader) scalar(bit int, s *gen.Scalar) val {
	for _, w := range l.words {
		if bit >= w.bit && bit+s.Bits <= w.bit+w.bits {
			return w.extract(bit, s)
		}
	}
	return l.g.loadScalar(l.buf, bit, s)
}

func (l *loader) other(in runPlace, p gen.Part) {
	it, at := p.Item, (in.bit+p.Bit)/8
	if !hasField(it) {
		return
	}
	dst := in.target + "." + it.Name.Go
	switch it.Kind {
	case gen.KindStruct:
		l.parts(runPlace{dst, in.bit + p.Bit}, fixedParts(it.Struct))
	case gen.KindBits:
		n := it.Vector.Bits / 8
		l.b.line("%s = load%s((*[%d]byte)(%s[%d:%d]))", dst, vectorType(it.Vector), n, l.buf.code, at, at+n)
	case gen.KindSpan:
		bytes := fmt.Sprintf("%s[%d:%d]", l.buf.code, at, at+it.Span.Fixed)
		if it.Span.Kind == gen.SpanString {
			l.b.line("%s = %s", dst, textOf(it.Span, bytes))
			break
		}
		l.b.line("%s = %s(%s)", dst, spanType(it.Span), bytes)
	default:
		l.g.fail(it, "`%s` cannot lie among fields of fixed size", it.Name.Schema)
	}
}

// decodeFixed prints Decode of a struct that is one run.
func (g *generator) decodeFixed(s *gen.Struct) function {
	recv, run := receiver(s.Name.Go), fixedRun(s)
	var b body
	b.line("if len(src) < %s {\nreturn 0, short(%q, 0, %s)\n}", g.sizeConst(s), firstLeaf(run), g.sizeConst(s))
	b.line("view := (*%s)(src)", viewName(s))
	l := &loader{g: g, b: &b, buf: buffer{"view", run.Size}}
	l.parts(runPlace{target: recv}, run.Parts)
	d := &decoder{g: g, s: s, b: &b, sc: g.fieldScope(s)}
	if broken := d.someBroken(place{run: run, buf: "view", start: "0", load: l}); broken != "" {
		b.line("if %s {\nreturn 0, view.broken()\n}", broken)
	}
	b.line("return %s, nil", g.sizeConst(s))
	return function{
		doc:  []string{fmt.Sprintf("Decode reads %s from the beginning of src and returns its size.", article(s.Name.Go))},
		recv: method(s), name: "Decode", params: commas("src []byte", params(s)), results: "(int, error)", body: b.String(),
	}
}

// someBroken prints the condition that some rule of a run does not hold; "" when it has none.
func (d *decoder) someBroken(pl place) string {
	var terms []string
	for _, t := range d.spanTerms(pl, pl.run.Parts, 0) {
		terms = append(terms, "!"+t)
	}
	d.sc.raw = func(r gen.Ref) (val, bool) { return d.unnamed(r, pl) }
	for _, c := range pl.run.Checks {
		if v := d.sc.negate(c.Hold); v.code != "false" {
			terms = append(terms, v.at(1))
		}
	}
	d.sc.raw = nil
	if len(terms) > 2 {
		return strings.Join(terms, " ||\n")
	}
	return strings.Join(terms, " || ")
}
