// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"bytes"
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

// richer is a schema of what packets of other protocols need.
const richer = head + `
versions 1..3 by Base.version;
error E_CRIT = 70 "critical";
sum Inet : u16 { algorithm ones_complement; width 16; check 0xf62a; }
crc Icrc : u32 { width 32; poly 0x04c11db7; init 0xffffffff; reflect in out; xorout 0xffffffff; check 0xcbf43926; order little; }
enum Sort : u8 open @name(go = "Kind") { One = 1 @name(c = "uno"); More = 2..9; }
header Base sized 4 { version : u4 in 1..3; n : u4 in 2..15; sort : Sort; temp : i8 in -9..9 default -1; back : i8 = -3; }
header Pseudo4 { a, b : u32; }
header Pseudo6 { a, c : u64; }
tlv Opts(strict : bit) max 99 {
  head { class : u16; crit : bit; type : u7; _ : rsvd 3 ignore; len : u5; }
  key class, crit, type; length len * 4; order strict; unknown skip if !crit || !strict else reject E_CRIT;
  (1, 0, 2) => one : { x : u32; words : u32[..]; };
  (0xff00..0xffff, 0..1, 0..127), (7, 1, 1) => raw : bytes[..] unique;
}
tlv Plain max 40 {
  head { type : u8; len : u8 in 2..40; }
  key type; length len - 2; bare 0 => end; bare 1..2 => nop; align 4 fill ignore; unknown reject E_CRIT;
  7, 0x83, 0x90..0x9f => route : { p : u8; hops : Pseudo4[..]; };
  4 => ok : nothing required @name(go = "Fine");
}
packet Over(p : Pseudo4 | Pseudo6, strict : bit = 1) sized total {
  base : Base;
  total : u16 little in 14..900;
  early : u16 until 2;
  late : u24 if base.sort == Sort.One since 2;
  sum : Inet over ones[2], p except (a) as ones, self except (back) as zeros zero_means none;
  plain : Plain sized base.n * 4 - 8;
  back : u8;
  opts : Opts(strict) sized back * 4;
  grp : { k : u8; v : u16 if k == 1; }[2];
  al : pad align 4 zero;
  where total != 77 else lint;
}
packet Tail max 2000 {
  n : u4; tagged : bit; _ : rsvd 3 zero; kind : u16 big;
  data : payload by kind, n @next(udp_port);
  pad : bytes[n];
  if tagged { c : u8; t : bytes[n * 2]; }
  icrc : Icrc over n..pad;
}
packet Arms sized len { len : u8 in 3..255; k : u8; body : switch k { 1 => bytes[..] in 1..16; 2..5 => u16[2]; 6 => { x : i32; y : string[..]; } _ => nothing; } flags : bits<24>; }
`

var words = regexp.MustCompile(`[A-Za-z_0-9]+|"[^"]*"|=>|\.\.|&&|\|\||[=!<>]=|\s+|.`)

func TestCompileSurvivesMutationsOfWords(t *testing.T) {
	compiled(t, strings.TrimPrefix(rich, head))
	compiled(t, strings.TrimPrefix(richer, head))
	sources := [][]string{words.FindAllString(rich, -1), words.FindAllString(richer, -1)}
	for _, name := range []string{"metaroce", "examples/ip", "examples/geneve", "examples/ptp", "examples/bfd", "../gen/testdata/whole"} {
		src, err := os.ReadFile("../schema/" + name + ".mrs")
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, words.FindAllString(string(src), -1))
	}
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
			if s.Min < 1<<12 {
				tryOut(p, s)
			}
		}
	})
}

// tryOut decodes and encodes zeros and ones: the interpreter must not panic on any compiled protocol.
func tryOut(p *Protocol, s *Struct) {
	for _, fill := range []byte{0, 1, 0xff} {
		b := bytes.Repeat([]byte{fill}, s.Min+8)
		v, _, err := Decode(p, s.Name.Schema, b)
		if err != nil {
			continue
		}
		_, _ = Encode(p, v)
		_, _ = VerifySums(p, s.Name.Schema, b)
		_, _ = Lint(p, s.Name.Schema, b)
		_ = Resum(p, s.Name.Schema, b)
	}
}
