// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// out collects lines of Lua.
type out struct {
	bytes.Buffer
	depth int
}

// line prints one line at the current indentation.
func (o *out) line(format string, args ...any) {
	if format != "" {
		o.WriteString(strings.Repeat("  ", o.depth))
		fmt.Fprintf(o, format, args...)
	}
	o.WriteByte('\n')
}

// open prints a line that begins a block.
func (o *out) open(format string, args ...any) {
	o.line(format, args...)
	o.depth++
}

// shut ends a block with a line, "end" as a rule.
func (o *out) shut(format string, args ...any) {
	o.depth--
	o.line(format, args...)
}

// middle prints a line such as "else" between two blocks.
func (o *out) middle(format string, args ...any) {
	o.depth--
	o.line(format, args...)
	o.depth++
}

// doc prints a schema comment.
func (o *out) doc(lines []string) {
	for _, l := range lines {
		o.line("%s", strings.TrimRight("-- "+strings.TrimSpace(l), " "))
	}
}

// quote writes a Lua string that all versions read alike.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c == 0x7f:
			fmt.Fprintf(&b, "\\%03d", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}

var luaWords = map[string]bool{"and": true, "break": true, "do": true, "else": true, "elseif": true, "end": true, "false": true,
	"for": true, "function": true, "goto": true, "if": true, "in": true, "local": true, "nil": true, "not": true, "or": true,
	"repeat": true, "return": true, "then": true, "true": true, "until": true, "while": true}

// index prints t.name, or t["name"] when the name is a word of Lua.
func index(table, name string) string {
	if luaWords[name] {
		return table + "[" + quote(name) + "]"
	}
	return table + "." + name
}

// key prints the name as a key of a table constructor.
func key(name string) string {
	if luaWords[name] {
		return "[" + quote(name) + "]"
	}
	return name
}

// label is the text of a tree item: "ack_request" becomes "Ack request".
func label(n gen.Name) string {
	words := strings.ReplaceAll(n.Filter, "_", " ")
	if words == "" {
		return n.Schema
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

// firstDoc is the first line of a comment, for descriptions.
func firstDoc(doc []string) string {
	if len(doc) == 0 {
		return ""
	}
	return strings.TrimSpace(doc[0])
}
