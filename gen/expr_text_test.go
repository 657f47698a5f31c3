// SPDX-License-Identifier: Apache-2.0

package gen

import "testing"

func TestExprTextIsWhatTheSchemaSays(t *testing.T) {
	rules := []string{
		"a < b || a == 0 && b == 0", "(a + b) * 2 - (a - b) == 7", "a - (b - 1) >= -1", "!f && (g || a in 1..3)", "a in {1, 4..9}",
		"(f ? a : b) == 3", "k == Kind.One", "a & 7 == b << 2", "any(v) && test(v, a & 15)", "size(d) % 4 == 0", "count(l) <= 9",
	}
	src := `edition 1; package x.y; byteorder big; bitorder msb;
enum Kind : u8 open { One = 1; Few = 2..5; }
packet P max 900 { a, b : u8; k : Kind; f, g : bit; _ : rsvd 6 zero; v : bits<64>; l : u16[b]; d : payload;
`
	for _, r := range rules {
		src += "where " + r + ";\n"
	}
	p, faults := Compile("a.mrs", []byte(src+"}"))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	var got []string
	visit := func(steps []Step) {
		for _, s := range steps {
			switch s := s.(type) {
			case *Run:
				for _, c := range s.Checks {
					if c.Kind == CheckWhere {
						got = append(got, c.Hold.Text())
					}
				}
			case *Verify:
				for _, c := range s.Checks {
					got = append(got, c.Hold.Text())
				}
			}
		}
	}
	visit(p.StructNamed("P").Steps)
	want := map[string]bool{}
	for _, r := range rules {
		want[r] = true
	}
	if len(got) != len(rules) {
		t.Errorf("%d rules, want %d", len(got), len(rules))
	}
	for _, g := range got {
		if !want[g] {
			t.Errorf("no rule is written %s", g)
		}
	}
}
