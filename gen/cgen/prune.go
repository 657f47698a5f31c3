// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"regexp"
	"strings"
)

// Marks around a static function, so that prune can leave out those that nothing calls.
const (
	staticBegin = "\x01"
	staticEnd   = "\x02\n"
)

// static prints a static function of the given name; print writes its text.
func (p *printer) static(name string, print func()) {
	p.buf.WriteString(staticBegin + name + "\n")
	print()
	p.buf.WriteString(staticEnd)
}

// identifier finds names; comments, texts and members are other alternatives, which have no name.
var identifier = regexp.MustCompile(`(?s:/\*.*?\*/)|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])+'|(?:->|\.)[A-Za-z_][A-Za-z_0-9]*|([A-Za-z_][A-Za-z_0-9]*)`)

// chunk is a piece of text: a static function, or what stands between two of them.
type chunk struct {
	name  string // empty = always kept
	text  string
	calls map[string]bool
}

// prune removes the marks, and every marked function that no kept text names. C compilers warn about those.
func prune(text string) string {
	chunks := cutChunks(text)
	uses := map[string]int{}
	for _, c := range chunks {
		for id := range c.calls {
			uses[id]++
		}
	}
	for again := true; again; {
		again = false
		for i, c := range chunks {
			if c.name == "" || c.text == "" || uses[c.name] > 1 { // the definition names itself
				continue
			}
			for id := range c.calls {
				uses[id]--
			}
			chunks[i].text, again = "", true
		}
	}
	var b strings.Builder
	for _, c := range chunks {
		b.WriteString(c.text)
	}
	return b.String()
}

func cutChunks(text string) []chunk {
	var out []chunk
	add := func(name, text string) {
		calls := map[string]bool{}
		for _, found := range identifier.FindAllStringSubmatch(text, -1) {
			calls[found[1]] = true
		}
		out = append(out, chunk{name, text, calls})
	}
	for {
		before, rest, found := strings.Cut(text, staticBegin)
		add("", before)
		if !found {
			return out
		}
		name, body, _ := strings.Cut(rest, "\n")
		body, text, _ = strings.Cut(body, staticEnd)
		add(name, body)
	}
}
