// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Edit replaces the bytes of a source from Off up to End.
type Edit struct {
	Off, End int
	Text     string
}

// Fix is a change that removes a fault without changing what its author has said otherwise.
type Fix struct {
	Title string // what it does, as advice
	Edits []Edit // in the file of the diagnostic; they do not overlap
}

// Fix adds a change that a program may make.
func (r *Report) Fix(title string, edits ...Edit) *Report {
	if r.i >= 0 {
		d := &r.f.Diags[r.i]
		d.Fixes = append(d.Fixes, Fix{title, edits})
	}
	return r
}

// Apply makes the first fix of each diagnostic that has one, all of one file, and returns how many were made. A fix that overlaps an
// earlier one is left for the next time.
func Apply(src []byte, diags []Diagnostic) (fixed []byte, made int) {
	var all []Edit
	for _, d := range diags {
		if len(d.Fixes) == 0 || slices.ContainsFunc(d.Fixes[0].Edits, func(e Edit) bool { return collides(all, e) }) {
			continue
		}
		all = append(all, d.Fixes[0].Edits...)
		made++
	}
	slices.SortStableFunc(all, func(x, y Edit) int { return cmp.Compare(x.Off, y.Off) })
	var out bytes.Buffer
	at := 0
	for _, e := range all {
		out.Write(src[at:e.Off])
		out.WriteString(e.Text)
		at = e.End
	}
	out.Write(src[at:])
	return out.Bytes(), made
}

// collides tells whether an edit overlaps one of a list, or inserts at the same place.
func collides(list []Edit, e Edit) bool {
	return slices.ContainsFunc(list, func(o Edit) bool {
		return e.Off < o.End && o.Off < e.End || e.Off == o.Off
	})
}

// Insert puts a text in front of a place.
func Insert(at Pos, text string) Edit { return Edit{at.Offset, at.Offset, text} }

// Replace puts a text in the place of what stands between two places.
func Replace(from, to Pos, text string) Edit { return Edit{from.Offset, to.Offset, text} }

// Replace gives a name another spelling.
func (id *Ident) Replace(text string) Edit {
	return Edit{id.Pos.Offset, id.Pos.Offset + len(id.Text), text}
}

// Remove takes out what stands between two places, with the blanks in front of it.
func (f *File) Remove(from, to Pos) Edit {
	return Edit{len(strings.TrimRight(f.Source[:from.Offset], " \t")), to.Offset, ""}
}

// RemoveLine takes out what stands between two places, with its line when nothing else stands on it.
func (f *File) RemoveLine(from, to Pos) Edit {
	e := f.Remove(from, to)
	if e.Off > 0 && f.Source[e.Off-1] == '\n' && strings.HasPrefix(f.Source[e.End:], "\n") {
		e.End++
	}
	return e
}

// InsertBehind puts a statement behind another one: on a line of its own when the other one begins its line.
func (f *File) InsertBehind(from, to Pos, text string) Edit {
	line := f.Source[strings.LastIndexByte(f.Source[:from.Offset], '\n')+1 : from.Offset]
	if strings.TrimLeft(line, " \t") == "" && from.Line > 1 {
		return Insert(to, "\n"+line+text)
	}
	return Insert(to, " "+text)
}

// Verbatim returns the source between two places as it is written.
func (f *File) Verbatim(from, to Pos) string { return f.Source[from.Offset:to.Offset] }

// respell offers another spelling when the diagnostic points at a name and at nothing else.
func (r *Report) respell(name, better string) *Report {
	d := r.f.Diags[r.i]
	off := r.f.offset(d.Line, d.Col)
	capital := func(s string) bool { return strings.ToUpper(s[:1]) == s[:1] } // the wrong case is a fault of its own
	if !strings.HasPrefix(r.f.Source[off:], name) || d.EndCol-d.Col != len(name) || capital(name) != capital(better) {
		return r
	}
	return r.Fix("write `"+better+"`", Edit{off, off + len(name), better})
}

// offset is where a line and a column lie in the source.
func (f *File) offset(line, col int) int { return ByteOffset([]byte(f.Source), line, col) }

// ByteOffset is where a line and a column, both from 1 and the column in characters, lie in a text.
func ByteOffset(src []byte, line, col int) int {
	at := 0
	for ; line > 1 && at < len(src); at++ {
		if src[at] == '\n' {
			line--
		}
	}
	for ; col > 1 && at < len(src) && src[at] != '\n'; col-- {
		_, n := utf8.DecodeRune(src[at:])
		at += n
	}
	return at
}
