// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// maxCompile bounds the time for an input of the fuzzer, with room for a busy machine.
const maxCompile = 10 * time.Second

// FuzzCompile: any text compiles or is answered with diagnostics, and soon.
func FuzzCompile(f *testing.F) {
	seeds, err := filepath.Glob(filepath.Join(diagDir, "*", "bad.mrs"))
	if err != nil || len(seeds) == 0 {
		f.Fatal("no seeds", err)
	}
	examples, err := filepath.Glob("../schema/examples/*.mrs")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range append(append(seeds, examples...), "../schema/metaroce.mrs", "testdata/whole.mrs", "testdata/sums.mrs") {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		start := time.Now()
		p, diags := Compile("fuzz.mrs", src)
		if (p == nil) != (len(diags) > 0) {
			t.Fatalf("protocol %v and %d diagnostics", p != nil, len(diags))
		}
		if took := time.Since(start); took > maxCompile {
			t.Fatalf("took %v", took)
		}
		checkDiagnostics(t, diags)
		for _, d := range diags {
			_ = d.String()
		}
		if p != nil {
			decodeAll(t, p)
		}
	})
}

// decodeAll runs every program that needs no parameter on zeros: a compiled protocol must not make the interpreter panic.
func decodeAll(t *testing.T, p *Protocol) {
	for _, s := range p.Structs {
		if len(s.Params) == 0 && s.Min < 1<<12 {
			_, _, _ = Decode(p, s.Name.Schema, make([]byte, s.Min+8))
		}
	}
}

func TestCompileIsBoundedOnHostileSources(t *testing.T) {
	head := "edition 1;\npackage a.b;\nbyteorder big;\nbitorder msb;\n"
	many := func(n int, line string) string { return strings.Repeat(line, n) }
	sources := map[string]string{
		"braces":       many(1<<16, "{"),
		"parentheses":  head + "const A = " + many(1<<15, "(") + ";",
		"unary":        head + "const A = " + many(1<<16, "!") + "1;",
		"ternary":      head + "const A = " + many(1<<14, "1 ? 2 : ") + "3;",
		"sum":          head + "const A = 1" + many(1<<15, "+1") + ";",
		"else if":      head + "header A { a : u8; if a == 1 { b : u8; }" + many(1<<14, " else if a == 2 { }") + " }",
		"unknown":      head + "header A { a : u8;" + many(1<<13, "where bad == 1;") + "}",
		"unclosed":     many(1<<14, "header A {\n"),
		"quotes":       many(1<<16, "\""),
		"comments":     many(1<<15, "/*"),
		"long line":    head + "header A { " + many(1<<13, "a : u8; ") + "}",
		"doubling":     head + doubling(40),
		"chain":        head + chain(2000),
		"const chain":  head + constChain(20000),
		"big enum":     head + "enum A : u64 open { A = 1; " + many(1<<13, "B = 2; ") + "}",
		"huge array":   head + "header A { a : u32; b : u64[a]; } header B { n : u32; a : A[n]; } header C { n : u32; a : B[n]; }",
		"long example": head + "header A { a : u8; }\nexample \"x\" A { hex \"" + many(1<<15, "00") + "\"; }",
	}
	for name, src := range sources {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, diags := Compile("bad.mrs", []byte(src))
			if took := time.Since(start); took > maxCompile {
				t.Errorf("took %v", took)
			}
			checkDiagnostics(t, diags)
			if len(diags) == 0 && name != "huge array" {
				t.Error("was accepted")
			}
		})
	}
}

// doubling nests headers so that each has twice the checks of the one before it.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString("header A0 { a : u1; _ : rsvd 7 zero; }\n")
	for i := 1; i <= n; i++ {
		b.WriteString(strings.NewReplacer("$i", strconv.Itoa(i), "$j", strconv.Itoa(i-1)).Replace("header A$i { a : A$j; b : A$j; }\n"))
	}
	return b.String()
}

// chain nests headers deeply.
func chain(n int) string {
	var b strings.Builder
	b.WriteString("header A0 { a : u8; where a == 1; }\n")
	for i := 1; i <= n; i++ {
		b.WriteString(strings.NewReplacer("$i", strconv.Itoa(i), "$j", strconv.Itoa(i-1)).Replace("header A$i { a : A$j; where a.a.a == 1; }\n"))
	}
	return b.String()
}

// constChain declares constants each of which needs the next one.
func constChain(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.NewReplacer("$i", strconv.Itoa(i), "$j", strconv.Itoa(i+1)).Replace("const A$i = A$j;\n"))
	}
	return b.String()
}
