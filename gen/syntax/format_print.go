// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"strings"
	"unicode/utf8"
)

// Measures of the canonical form.
const (
	maxWidth     = 140 // columns that a statement on one line may have
	indentWidth  = 2
	continuation = 2 // levels that a continued line is set in
)

// printer writes lines.
type printer struct {
	b     strings.Builder
	line  strings.Builder // the line under way, without its indent
	in    int             // level of the line under way
	fresh bool            // nothing stands in the group yet
}

func (p *printer) text() string { return p.b.String() }

// open begins a line at a level.
func (p *printer) open(level int) {
	p.end()
	p.in = level
}

// end finishes the line under way.
func (p *printer) end() {
	if p.line.Len() > 0 {
		p.b.WriteString(strings.Repeat(" ", indentWidth*p.in) + p.line.String() + "\n")
		p.line.Reset()
	}
}

// empty writes an empty line.
func (p *printer) empty() {
	p.end()
	p.b.WriteString("\n")
}

// column is the width of the line under way, its indent included.
func (p *printer) column() int {
	return indentWidth*p.in + utf8.RuneCountInString(p.line.String())
}

// word adds to the line under way, behind a space unless it is the first.
func (p *printer) word(s string) {
	if p.line.Len() > 0 {
		p.line.WriteByte(' ')
	}
	p.line.WriteString(s)
}

// block prints what stands in a group, one statement a line.
func (p *printer) block(g *group, level int) {
	p.fresh = true
	for i := range g.inner {
		s := &g.inner[i]
		p.comments(s.lead, level)
		if s.blank && !p.fresh {
			p.empty()
		}
		p.statement(s, level)
		p.fresh = false
	}
	p.comments(g.last, level)
	p.end()
}

// comments prints comments on lines of their own.
func (p *printer) comments(list []comment, level int) {
	for _, c := range list {
		if c.blank && !p.fresh {
			p.empty()
		}
		p.open(level)
		p.word(c.text)
		p.end()
		p.fresh = false
	}
}

func (p *printer) statement(s *statement, level int) {
	p.open(level)
	if flat, ok := s.flat(); ok && indentWidth*level+utf8.RuneCountInString(flat) <= maxWidth {
		p.word(flat)
	} else {
		p.parts(s, level)
	}
	for _, c := range s.trail {
		p.word(c.text)
	}
	p.end()
}

// flat is the statement on one line; ok is false when it has comments or a group that stood on several lines.
func (s *statement) flat() (text string, ok bool) {
	var b strings.Builder
	for i, r := range s.runs() {
		if r.group != nil {
			inner, ok := r.group.flat()
			if !ok {
				return "", false
			}
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(inner)
			continue
		}
		if r.run.breaks() {
			return "", false
		}
		if i > 0 && !r.run.joins() {
			b.WriteByte(' ')
		}
		b.WriteString(r.run.flat())
	}
	return b.String(), true
}

func (g *group) flat() (string, bool) {
	if !g.oneLine {
		return "", false
	}
	var b strings.Builder
	b.WriteString("{ ")
	for i := range g.inner {
		inner, ok := g.inner[i].flat()
		if !ok {
			return "", false
		}
		b.WriteString(inner + " ")
	}
	b.WriteString("}")
	return b.String(), true
}

// stretch is a run or a group.
type stretch struct {
	run   run
	group *group
}

// runs joins the tokens between groups.
func (s *statement) runs() []stretch {
	var out []stretch
	for _, x := range s.parts {
		switch n := len(out); {
		case x.group != nil:
			out = append(out, stretch{group: x.group})
		case n > 0 && out[n-1].group == nil:
			out[n-1].run = append(out[n-1].run, x.piece)
		default:
			out = append(out, stretch{run: run{x.piece}})
		}
	}
	return out
}

// joins tells whether a run stands directly at the brace before it.
func (r run) joins() bool { return r[0].is("[", ";", ",", ".", ")", "]") }

// parts prints a statement whose groups take several lines each.
func (p *printer) parts(s *statement, level int) {
	for _, x := range s.runs() {
		if x.group == nil {
			p.run(x.run, level)
			continue
		}
		p.group(x.group, level)
	}
}

func (p *printer) group(g *group, level int) {
	if p.inline(g.open.comments, level) {
		p.open(level + continuation)
	}
	p.word("{")
	if len(g.inner) == 0 && g.oneLine {
		p.word("}")
		return
	}
	for _, c := range g.trail {
		p.word(c.text)
	}
	p.end()
	p.block(g, level+1)
	p.open(level)
	p.word("}")
}

// run prints tokens: on one line when they fit and have no comments, else with the line breaks of the source.
func (p *printer) run(r run, level int) {
	behind := p.line.Len() > 0 // a closing brace
	flat := r.flat()
	fits := p.column()+utf8.RuneCountInString(flat)+2 <= maxWidth
	for i, t := range r {
		if p.inline(t.comments, level) || t.newline && (r.breaks() || !fits) && p.line.Len() > 0 && !(i == 0 && behind) {
			p.open(level + continuation)
		}
		spaced := r.spaced(i)
		if i == 0 {
			spaced = behind && !r.joins()
		}
		if spaced {
			p.word(t.text)
		} else {
			p.line.WriteString(t.text)
		}
	}
}

// inline prints comments within a statement; true = a new line must follow.
func (p *printer) inline(list []comment, level int) bool {
	must := false
	for _, c := range list {
		if c.newline || must {
			p.open(level + continuation)
		}
		p.word(c.text)
		must = c.line
	}
	return must
}
