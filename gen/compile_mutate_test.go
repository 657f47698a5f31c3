// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// rich is a schema that uses most of the language, so that mutations of its words reach all parts of the compiler.
const rich = head + `
error E_X = 64 "x";
const Two = 2;
enum Op : u4 open { A = 1; B = 2; Many = 3..5; reserved 9, "Old"; }
enum Cl : u8 closed { X = 1; Y = 2; Z = 7..9; }
crc Crc16 : u16 { width 16; poly 0x8005; init 0; reflect in out; xorout 0; check 0xbb3d; order little; }
header Small {
  op : Op; n : u4 in 1..9; cl : Cl; v : bits<64> bit i means n + i; fix : bytes[3]; txt : string[2]; z : pad[2] zero;
  m : rsvd 8 ones; k : rsvd 8 ignore; where op == Op.A || n < Two;
}
header Elem { len : u8; data : bytes[len]; tail : u8; where size(data) < 200 else E_X; }
header Cond {
  f, g : bit; _ : rsvd 6 zero; a : u16 if f;
  if g { b : u24; c : u8 = b % 7; } else if !f { d : u32 in {1, 3..5}; } else { e : Cl; }
  cnt : u8 = count(list); where !f || a > Two; list : u16[cnt]; has : u8 = any(w) ? 1 : 0; w : bits<64> if has == 1;
}
tlv T max 300 {
  head { type : u8; len : u8; }
  key type; length len; element align 2; bare 0 => end; order ascending; unknown skip if type < 9 else reject;
  1 => one : nothing required;
  2 => two : Small;
  3 => three : { list : Elem[..]; } unique;
  4 => four, 5 => five : { s : string[..] in 1..9; };
}
packet P(small : Small) max 2000 {
  w : u8;
  k : switch small.op { A => { e : Elem; t : T; where small.n > 2 && w == 1; } B => Cond; Many => { p : payload; } 0 => nothing; _ => reject E_SWITCH; }
}
packet Root max 3000 { s : Small; p : P(s); sum : Crc16 over before; }
packet Tiny { a : u3 = 5; b : u13 default 7; c : u64 @fmt(hex); d : u1; e : u7 @unit("ms"); }
assert minsize(Tiny) == 11 && offset(Tiny.c) == 2;
example "tiny" Tiny { hex "a0 01 00 00 00 00 00 00 00 05 03"; b = 1; c = 5; e = 3; }
reject "short" Tiny { hex "a0"; error E_SHORT at a; }
`

var words = regexp.MustCompile(`[A-Za-z_0-9]+|"[^"]*"|=>|\.\.|&&|\|\||[=!<>]=|\s+|.`)

func TestCompileSurvivesMutationsOfWords(t *testing.T) {
	compiled(t, strings.TrimPrefix(rich, head))
	own, err := os.ReadFile("../schema/metaroce.mrs")
	if err != nil {
		t.Fatal(err)
	}
	sources := [][]string{words.FindAllString(rich, -1), words.FindAllString(string(own), -1)}
	rapid.Check(t, func(t *rapid.T) {
		tokens := append([]string(nil), rapid.SampledFrom(sources).Draw(t, "source")...)
		for range rapid.IntRange(1, 4).Draw(t, "mutations") {
			i := rapid.IntRange(0, len(tokens)-1).Draw(t, "at")
			j := rapid.IntRange(0, len(tokens)-1).Draw(t, "other")
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				tokens[i] = tokens[j]
			case 1:
				tokens[i] = ""
			case 2:
				tokens[i] += " " + tokens[j]
			}
		}
		p, diags := Compile("mutant.mrs", []byte(strings.Join(tokens, "")))
		if (p == nil) != (len(diags) > 0) {
			t.Fatalf("protocol %v and %d diagnostics", p != nil, len(diags))
		}
		for _, d := range diags {
			if d.Help == "" || d.EndCol <= d.Col || leaks.MatchString(d.Message) {
				t.Fatalf("%s", d)
			}
		}
		if p == nil {
			return
		}
		for _, s := range p.Structs {
			if len(s.Params) == 0 && s.Min < 1<<12 {
				_, _, _ = Decode(p, s.Name.Schema, make([]byte, s.Min+8))
			}
		}
	})
}
