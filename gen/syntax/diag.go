// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Span is a part of one line of the source. Lines and columns count from 1, columns in characters.
type Span struct{ Line, Col, EndCol int }

// Label points at a further place that a Diagnostic speaks of.
type Label struct {
	Span
	Text   string
	Source string // the line
}

// Diagnostic is one fault of a schema.
type Diagnostic struct {
	Code    string // "E0207": stable
	File    string
	Line    int
	Col     int
	EndCol  int // exclusive
	Message string
	Mark    string // what stands under the offending text; may be empty
	Source  string // the offending line
	Labels  []Label
	Help    string // what to do about it
	Fixes   []Fix  // what a program may do about it; the first one is the best
}

// String prints the diagnostic as mrgen does, with a final newline.
func (d Diagnostic) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: %s[%s]: %s\n", d.File, d.Line, d.Col, d.Severity(), d.Code, d.Message)
	marks := append([]Label{{Span{d.Line, d.Col, d.EndCol}, d.Mark, d.Source}}, d.Labels...)
	slices.SortStableFunc(marks, func(x, y Label) int { return cmp.Compare(x.Line, y.Line) })
	last := 0
	for _, m := range marks {
		if m.Line != last {
			fmt.Fprintf(&b, "%5d | %s\n", m.Line, detab(m.Source))
			last = m.Line
		}
		sign := "-"
		if m.Line == d.Line && m.Col == d.Col && m.EndCol == d.EndCol && m.Text == d.Mark {
			sign = "^"
		}
		col := min(m.Col, widest)
		line := strings.Repeat(" ", col-1) + strings.Repeat(sign, min(max(1, m.EndCol-m.Col), widest)) + " " + m.Text
		fmt.Fprintf(&b, "      | %s\n", strings.TrimRight(line, " "))
	}
	fmt.Fprintf(&b, " help: %s\n", d.Help)
	return b.String()
}

func detab(s string) string { return strings.ReplaceAll(s, "\t", " ") }

// Error makes a Diagnostic usable as an error.
func (d Diagnostic) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s: %s", d.File, d.Line, d.Col, d.Code, d.Message)
}

// maxDiagnostics bounds what one run reports.
const maxDiagnostics = 100

// Report completes one diagnostic. Its methods return itself.
type Report struct {
	f *File
	i int // index in f.Diags; -1 when the report is not kept
}

// Report adds a diagnostic to the file. The same fault at the same place is kept once.
func (f *File) Report(code string, at Span, format string, args ...any) *Report {
	if at.Line < 1 || at.Col < 1 {
		at = Span{1, 1, 2}
	}
	for _, d := range f.Diags {
		if d.Code == code && d.Line == at.Line && d.Col == at.Col {
			return &Report{f, -1}
		}
	}
	if len(f.Diags) >= maxDiagnostics {
		return &Report{f, -1}
	}
	f.Diags = append(f.Diags, Diagnostic{
		Code: code, File: f.Name, Line: at.Line, Col: at.Col, EndCol: max(at.EndCol, at.Col+1),
		Message: fmt.Sprintf(format, args...), Source: f.line(at.Line), Help: Help(code),
	})
	return &Report{f, len(f.Diags) - 1}
}

// Mark sets what stands under the offending text.
func (r *Report) Mark(format string, args ...any) *Report {
	if r.i >= 0 {
		r.f.Diags[r.i].Mark = fmt.Sprintf(format, args...)
	}
	return r
}

// Label points at another place.
func (r *Report) Label(at Span, format string, args ...any) *Report {
	if r.i >= 0 && at.Line > 0 {
		d := &r.f.Diags[r.i]
		d.Labels = append(d.Labels, Label{at, fmt.Sprintf(format, args...), r.f.line(at.Line)})
	}
	return r
}

// Help replaces the code's general advice.
func (r *Report) Help(format string, args ...any) *Report {
	if r.i >= 0 {
		r.f.Diags[r.i].Help = fmt.Sprintf(format, args...)
	}
	return r
}

// Sorted returns the file's diagnostics in the order of the source.
func (f *File) Sorted() []Diagnostic {
	out := slices.Clone(f.Diags)
	slices.SortStableFunc(out, func(x, y Diagnostic) int {
		return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Col, y.Col), cmp.Compare(x.Code, y.Code))
	})
	return out
}

func (f *File) line(n int) string {
	if n < 1 || n > len(f.lines) {
		return ""
	}
	return shown(f.lines[n-1])
}

// Line is a line of a source as a Diagnostic shows it; lines count from 1.
func Line(source string, n int) string {
	at := 0
	for line := range strings.Lines(source) {
		if at++; at == n {
			return shown(strings.ToValidUTF8(strings.TrimSuffix(line, "\n"), "\uFFFD"))
		}
	}
	return ""
}

// shown cuts a line that no screen shows.
func shown(line string) string {
	if r := []rune(line); len(r) > widest {
		return string(r[:widest]) + "…"
	}
	return strings.TrimRight(line, "\r")
}

// widest bounds the columns that are printed of a line.
const widest = 200
