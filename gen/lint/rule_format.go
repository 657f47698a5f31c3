// SPDX-License-Identifier: Apache-2.0

package lint

import "github.com/openmetaroce/metaroce/gen/syntax"

// format compares the source with its canonical form.
func (l *linter) format(src string) {
	want, diags := syntax.Format(l.f.Name, []byte(src))
	if len(diags) > 0 || string(want) == src {
		return
	}
	line := 1
	for i := 0; i < len(src) && i < len(want) && src[i] == want[i]; i++ {
		if src[i] == '\n' {
			line++
		}
	}
	l.warn("W1009", syntax.Pos{Offset: -1, Line: line, Column: 1}, "from here on the file is not in its canonical form")
}
