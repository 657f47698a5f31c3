// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"strings"
)

// diagramBits is the width of a diagram's row in bits.
const diagramBits = 32

// Cell is one drawn field: a run of bits with a label. A cell without bits is drawn as a row of its own with open sides.
type Cell struct {
	Label string
	Bits  int
}

// Diagram draws the layout of s as RFCs do: 32 bits a row, most significant bit first. Items whose presence or size varies
// follow the fixed part as rows with open sides. A struct without items gives nil.
func Diagram(s *Struct) []string {
	cells := Cells(s)
	if len(cells) == 0 {
		return nil
	}
	d := diagram{rows: []string{
		" 0                   1                   2                   3",
		" 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1",
	}}
	for _, c := range cells {
		if c.Bits == 0 {
			d.flush()
			d.open(c.Label)
			continue
		}
		d.add(c)
	}
	d.flush()
	return d.rows
}

// Cells lists the cells of s; the first item that varies makes all after it open.
func Cells(s *Struct) []Cell {
	var cells []Cell
	open := false
	for _, it := range s.Items {
		n := itemBits(it)
		if it.When != nil || n == 0 {
			open = true
		}
		label := it.Name.Schema
		switch {
		case label == "_":
			label = "0"
		case it.When != nil:
			label += " (optional)"
		case n == 0:
			label += " (variable)"
		}
		if open {
			n = 0
		}
		cells = append(cells, Cell{label, n})
	}
	return cells
}

// itemBits is the constant size of it in bits, or 0.
func itemBits(it *Item) int {
	switch it.Kind {
	case KindScalar, KindReserved:
		return it.Scalar.Bits
	case KindBits:
		return it.Vector.Bits
	case KindSpan:
		if it.Span.Fixed > 0 {
			return it.Span.Fixed * 8
		}
	case KindStruct:
		if it.Struct.FixedSize {
			return it.Struct.Max * 8
		}
	}
	return 0
}

// diagram is a drawing under way: finished rows and the segments of the row being filled.
type diagram struct {
	rows []string
	line []segment
	used int
	drew bool // a row stands above: the next one needs no top border of its own
}

// segment is the part of a cell that lies in one row.
type segment struct {
	label       string
	bits        int
	first, last bool // whether the cell begins, and ends, in this row
}

func (d *diagram) add(c Cell) {
	labelRow := d.labelRow(c.Bits)
	for row, left := 0, c.Bits; left > 0; row++ {
		n := min(left, diagramBits-d.used)
		s := segment{bits: n, first: row == 0, last: n == left}
		if row == labelRow {
			s.label = c.Label
		}
		d.line = append(d.line, s)
		d.used += n
		left -= n
		if d.used == diagramBits {
			d.flush()
		}
	}
}

// labelRow chooses the row of a cell of n bits that carries its label: the middle one, but never a short end of it.
func (d *diagram) labelRow(n int) int {
	head := min(n, diagramBits-d.used)
	rows := 1 + (n-head+diagramBits-1)/diagramBits
	if rows == 2 && n-head > head {
		return 1
	}
	return (rows - 1) / 2
}

// flush draws the row being filled, under a border that is open where a cell continues from the row above.
func (d *diagram) flush() {
	if len(d.line) == 0 {
		return
	}
	border, text := "+", "|"
	for _, s := range d.line {
		width := 2*s.bits - 1
		text += center(shorten(s.label, width), width) + "|"
		if s.first {
			border += strings.Repeat("-+", s.bits)
		} else {
			border += strings.Repeat(" ", width) + "+"
		}
	}
	bottom := "+" + strings.Repeat("-+", d.used)
	if d.drew {
		d.rows[len(d.rows)-1] = widest(border, d.rows[len(d.rows)-1])
	} else {
		d.rows = append(d.rows, border)
	}
	d.rows = append(d.rows, text, bottom)
	d.drew, d.line, d.used = true, nil, 0
}

// open draws a row with open sides, for what has no constant size.
func (d *diagram) open(label string) {
	width := 2*diagramBits - 1
	border := "+" + strings.Repeat("-+", diagramBits)
	if !d.drew {
		d.rows = append(d.rows, border)
	}
	d.rows[len(d.rows)-1] = widest(d.rows[len(d.rows)-1], border)
	d.rows = append(d.rows, ":"+center(shorten(label, width), width)+":", border)
	d.drew = true
}

// widest is the longer of two borders; the first one when they are equally long.
func widest(a, b string) string {
	if len(b) > len(a) {
		return b
	}
	return a
}

// shorten fits a label into width columns: whole, or the initials of its words, or its first letter.
func shorten(label string, width int) string {
	if len(label) <= width {
		return label
	}
	var initials strings.Builder
	for _, w := range strings.FieldsFunc(label, func(r rune) bool { return r == '_' || r == ' ' }) {
		initials.WriteString(strings.ToUpper(w[:1]))
	}
	if s := initials.String(); len(s) <= width {
		return s
	}
	return strings.ToUpper(label[:1])
}

func center(s string, width int) string {
	left := (width - len(s)) / 2
	return fmt.Sprintf("%*s%-*s", left, "", width-left, s)
}
