// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"bytes"
	"fmt"
	"strings"
)

// lineWidth is where the printer breaks conditions and calls.
const lineWidth = 100

// printer collects C text. The indentation follows the braces that lines end and begin with.
type printer struct {
	buf   bytes.Buffer
	depth int
}

// line prints one line at the current depth; without text, an empty one.
func (p *printer) line(format string, args ...any) {
	s := format
	if len(args) > 0 {
		s = fmt.Sprintf(format, args...)
	}
	if s == "" {
		p.buf.WriteByte('\n')
		return
	}
	if strings.HasPrefix(s, "}") {
		p.depth--
	}
	depth := p.depth
	if strings.HasPrefix(s, "case ") || s == "default:" || s == "default: {" {
		depth--
	}
	for i, l := range wrap(s, lineWidth-4*depth) {
		if strings.HasPrefix(s, "#") {
			p.buf.WriteString(l + "\n")
			continue
		}
		p.buf.WriteString(strings.Repeat("    ", depth))
		if i > 0 {
			p.buf.WriteString("    ")
		}
		p.buf.WriteString(l + "\n")
	}
	if strings.HasSuffix(s, "{") {
		p.depth++
	}
}

// text prints a block of ready C, every line at the current depth.
func (p *printer) text(block string) {
	for l := range strings.Lines(strings.Trim(block, "\n") + "\n") {
		if l == "\n" {
			p.buf.WriteByte('\n')
			continue
		}
		p.buf.WriteString(strings.Repeat("    ", p.depth) + l)
	}
}

// doc prints a Doxygen comment; nothing without lines.
func (p *printer) doc(lines ...string) {
	if len(lines) == 0 {
		return
	}
	indent := strings.Repeat("    ", p.depth)
	if len(lines) == 1 {
		fmt.Fprintf(&p.buf, "%s/** %s */\n", indent, escape(lines[0]))
		return
	}
	fmt.Fprintf(&p.buf, "%s/**\n", indent)
	for _, l := range lines {
		p.buf.WriteString(strings.TrimRight(indent+" * "+escape(l), " ") + "\n")
	}
	fmt.Fprintf(&p.buf, "%s */\n", indent)
}

func escape(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "*/", "*\\/"), "/*", "/ *")
}

// wrap breaks s behind commas and before && and || so that no part is wider than width, where that is possible.
// Preprocessor lines and comments stay whole.
func wrap(s string, width int) []string {
	var out []string
	if strings.HasPrefix(s, "#") || strings.HasPrefix(s, "/") {
		return []string{s}
	}
	for len(s) > width {
		at := breakPoint(s, width)
		if at <= 0 {
			break
		}
		out = append(out, strings.TrimRight(s[:at], " "))
		s = strings.TrimLeft(s[at:], " ")
		if len(out) == 1 {
			width -= 4
		}
	}
	return append(out, s)
}

// breakPoint is the place below width with the fewest open brackets, the last one of these; 0 = none.
func breakPoint(s string, width int) int {
	best, bestDepth, depth, quoted := 0, 1<<30, 0, false
	for i := 0; i < len(s) && i <= width; i++ {
		switch c := s[i]; {
		case c == '"' && (i == 0 || s[i-1] != '\\'):
			quoted = !quoted
		case quoted:
		case c == '(' || c == '{':
			depth++
		case c == ')' || c == '}':
			depth--
		case c == ' ' && i > 0 && breakable(s, i) && depth <= bestDepth:
			best, bestDepth = i+1, depth
		}
	}
	return best
}

// breakable tells whether the blank at i may become a line break.
func breakable(s string, i int) bool {
	rest := s[i+1:]
	return s[i-1] == ',' || strings.HasPrefix(rest, "&& ") || strings.HasPrefix(rest, "|| ") || strings.HasPrefix(rest, "? ")
}
