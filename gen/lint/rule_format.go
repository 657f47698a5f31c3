// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"strings"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// format compares the source with its canonical form.
func (l *linter) format(src string) {
	canonical, diags := syntax.Format(l.f.Name, []byte(src))
	want := string(canonical)
	if len(diags) > 0 || want == src {
		return
	}
	same := 0
	for same < min(len(src), len(want)) && src[same] == want[same] {
		same++
	}
	tail := 0
	for tail < min(len(src), len(want))-same && src[len(src)-1-tail] == want[len(want)-1-tail] {
		tail++
	}
	same = strings.LastIndexByte(src[:same], '\n') + 1
	if end := strings.IndexByte(src[len(src)-tail:], '\n'); end >= 0 {
		tail -= end + 1
	}
	at := syntax.Pos{Offset: -1, Line: 1 + strings.Count(src[:same], "\n"), Column: 1}
	if r := l.warn("W1009", at, "from here on the file is not in its canonical form"); r != nil {
		r.Fix("lay it out", syntax.Edit{Off: same, End: len(src) - tail, Text: want[same : len(want)-tail]})
	}
}
