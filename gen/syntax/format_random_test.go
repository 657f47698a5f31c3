// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// gaps may stand between any two words; a word in the first column could begin a declaration.
var gaps = []string{" ", " ", " ", " ", "\n ", "\n ", "\n\n ", "\n\n\n ", "\t", " // c\n ", "\n// own\n ", " /* b */ ", "\n/* b\n b */\n ", "/// d\n ", "\n///d\n ", "\r\n "}

// TestFormatSettlesAtOnceHoweverSourcesAreSpaced lays real schemas out at random.
func TestFormatSettlesAtOnceHoweverSourcesAreSpaced(t *testing.T) {
	names, err := filepath.Glob("../*/testdata/*.mrs")
	if err != nil || len(names) == 0 {
		t.Fatal("no schemas", err)
	}
	for i, name := range append(names, "../../schema/metaroce.mrs") {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		for round := range 8 {
			text := respace(t, rng, string(src), 1+round*8)
			once, diags := Format(name, []byte(text))
			if diags != nil {
				t.Fatalf("%s: %v", name, diags[0])
			}
			twice, _ := Format(name, once)
			if string(once) != string(twice) {
				at := 0
				for once[at] == twice[at] {
					at++
				}
				t.Fatalf("%s, round %d: formatting twice differs at\n%s\n--- against\n%s", name, round,
					once[max(0, at-200):min(len(once), at+100)], twice[max(0, at-200):min(len(twice), at+100)])
			}
		}
	}
}

// respace replaces about one space in many by a random gap.
func respace(t *testing.T, rng *rand.Rand, src string, many int) string {
	t.Helper()
	f := &File{Source: src}
	tokens, ok := f.tokenize()
	if !ok {
		t.Fatal("cannot be read")
	}
	var b strings.Builder
	for _, p := range pieces(tokens) {
		switch {
		case rng.IntN(many) == 0:
			b.WriteString(gaps[rng.IntN(len(gaps))])
		case p.newline:
			b.WriteString("\n ")
		default:
			b.WriteString(" ")
		}
		b.WriteString(p.text)
	}
	return b.String()
}
