// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseReadsMetaRoCE(t *testing.T) {
	src, err := os.ReadFile("../../schema/metaroce.mrs")
	if err != nil {
		t.Fatal(err)
	}
	f := Parse("metaroce.mrs", string(src))
	for _, d := range f.Diags {
		t.Error(d.String())
	}
	if len(f.Decls) < 40 {
		t.Errorf("%d declarations", len(f.Decls))
	}
}

func TestParseKeepsWholeDeclarationsAroundBrokenOnes(t *testing.T) {
	f := Parse("x.mrs", `edition 1;
header A { a : u8; }
header B { a : ; }
header C { a : u8;
header D { a : u8; }
const E = ;
const F = 3
const G = 4;
enum H : u8 open { One = 1 }
error E_Z = 70 "text";
`)
	var names, codes []string
	for _, d := range f.Decls {
		switch {
		case d.Struct != nil:
			names = append(names, d.Struct.Name.Text)
		case d.Const != nil:
			names = append(names, d.Const.Name.Text)
		case d.Error != nil:
			names = append(names, d.Error.Name.Text)
		}
	}
	for _, d := range f.Sorted() {
		codes = append(codes, fmt.Sprintf("%d:%s", d.Line, d.Code))
	}
	if diff := cmp.Diff([]string{"A", "D", "G", "E_Z"}, names); diff != "" {
		t.Errorf("declarations: %s", diff)
	}
	if diff := cmp.Diff([]string{"3:E0007", "4:E0005", "6:E0007", "8:E0007", "9:E0007"}, codes); diff != "" {
		t.Errorf("diagnostics: %s", diff)
	}
	if diff := cmp.Diff([]string{"B", "C", "E", "F", "H"}, f.BrokenNames()); diff != "" {
		t.Errorf("broken: %s", diff)
	}
}

func TestParseAttachesDocComments(t *testing.T) {
	f := Parse("x.mrs", `
/// First line.
/// Second line.
header A {
  /// Of a.
  // not a doc comment
  a : u8;
  /// Of nothing.
}
/// At the end.`)
	if len(f.Diags) > 0 {
		t.Fatal(f.Diags)
	}
	s := f.Decls[0].Struct
	if diff := cmp.Diff([]string{"First line.", "Second line."}, f.Doc(f.Decls[0].Pos)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Of a."}, f.Doc(s.Body.Items[0].Pos)); diff != "" {
		t.Error(diff)
	}
}

// show prints an expression with all its parentheses.
func show(e *Expr) string {
	var args []string
	for _, a := range e.Args {
		args = append(args, show(a))
	}
	switch e.Kind {
	case ExprNumber:
		return e.Num.String()
	case ExprPath:
		var names []string
		for _, n := range e.Names {
			names = append(names, n.Text)
		}
		return strings.Join(names, ".")
	case ExprCall:
		return e.Text + "(" + strings.Join(args, ", ") + ")"
	case ExprUnary:
		return e.Text + args[0]
	case ExprBinary:
		return "(" + args[0] + " " + e.Text + " " + args[1] + ")"
	case ExprTernary:
		return "(" + args[0] + " ? " + args[1] + " : " + args[2] + ")"
	case ExprIn:
		var set []string
		for _, r := range e.Ranges {
			s := show(&r.First.Expr)
			if r.Last != nil {
				s += ".." + show(&r.Last.Expr)
			}
			set = append(set, s)
		}
		return "(" + args[0] + " in {" + strings.Join(set, ", ") + "})"
	}
	return e.Text
}

func TestExpressionsBindAsTheManualSays(t *testing.T) {
	for src, want := range map[string]string{
		"a || b && c == d":         "(a || (b && (c == d)))",
		"a | b ^ c & d << e + f*g": "(a | (b ^ (c & (d << (e + (f * g))))))",
		"a - b - c":                "((a - b) - c)",
		"!a == b":                  "(!a == b)",
		"-a * b":                   "(-a * b)",
		"a ? b : c ? d : e":        "(a ? b : (c ? d : e))",
		"a in 1..2 && b":           "((a in {1..2}) && b)",
		"a in {1, B.C, 3..4 + 1}":  "(a in {1, B.C, 3..(4 + 1)})",
		"size(a.b) + 1":            "(size(a.b) + 1)",
		"(a == b) == (c < d)":      "((a == b) == (c < d))",
		"a & 1 == 0":               "((a & 1) == 0)",
		"0x1f + 0b10_1 + 1_000":    "((31 + 5) + 1000)",
		"type < 0x80":              "(type < 128)",
	} {
		f := Parse("x.mrs", "assert "+src+";")
		if len(f.Diags) > 0 {
			t.Errorf("%s: %v", src, f.Diags)
			continue
		}
		if got := show(f.Decls[0].Assert.Cond); got != want {
			t.Errorf("%s reads as %s, want %s", src, got, want)
		}
	}
}

func TestContextualWordsMayNameFields(t *testing.T) {
	f := Parse("x.mrs", "header A { type, len, payload, switch, sized, end, order, bytes, reject, header, max, bit, u8, unique : u8; where type < len; }")
	if len(f.Diags) > 0 {
		t.Error(f.Diags)
	}
}

func TestSemicolonIsOptionalBehindABrace(t *testing.T) {
	f := Parse("x.mrs", `packet A { k : switch a { 1 => { b : u8; } 2 => { b : u8; }; } if a { c : u8; } d : { e : u8; } f : u8; };
header B { a : u8 in {1, 2}; }`)
	if len(f.Diags) > 0 {
		t.Error(f.Diags)
	}
	if f = Parse("x.mrs", "header B { a : u8 }"); len(f.Diags) != 1 {
		t.Errorf("a missing semicolon gives %v", f.Diags)
	}
}

func TestNumbersRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64().Draw(t, "n")
		for _, format := range []string{"%d", "0x%x", "0b%b"} {
			v, ok := ParseNumber(fmt.Sprintf(format, n))
			if !ok || v.Uint64() != n {
				t.Fatalf(format+" reads as %v %t", n, v, ok)
			}
		}
	})
	for _, bad := range []string{"", "007", "0x", "0b2", "_1", "0x_1", "12a", "1.5", strings.Repeat("1", 71)} {
		if v, ok := ParseNumber(bad); ok {
			t.Errorf("%q reads as %v", bad, v)
		}
	}
}

func TestDiagnosticPrintsBothPlacesOfALine(t *testing.T) {
	f := Parse("x.mrs", "const A = 1;\n\tconst A = 2;")
	f.Report("E0102", Span{2, 8, 9}, "`%s` is declared twice", "A").Label(Span{1, 7, 8}, "first here").Mark("again")
	want := "x.mrs:2:8: error[E0102]: `A` is declared twice\n" +
		"    1 | const A = 1;\n      |       - first here\n" +
		"    2 |  const A = 2;\n      |        ^ again\n help: rename one of the two\n"
	if diff := cmp.Diff(want, f.Diags[0].String()); diff != "" {
		t.Error(diff)
	}
}

func TestReportKeepsAFaultOnce(t *testing.T) {
	f := Parse("x.mrs", "")
	for range 3 {
		f.Report("E0102", Span{1, 1, 2}, "twice")
	}
	for i := range 3 * maxDiagnostics {
		f.Report("E0101", Span{1, i + 1, i + 2}, "many")
	}
	if len(f.Diags) != maxDiagnostics {
		t.Errorf("%d diagnostics", len(f.Diags))
	}
}

func TestCodesAreUniqueAndComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, part := range [][]CodeInfo{lexicalCodes, nameCodes, layoutCodes, typeCodes, exprCodes, choiceCodes, sumCodes, backendCodes} {
		for _, k := range part {
			if seen[k.Code] || k.Text == "" || k.Help == "" {
				t.Errorf("%+v", k)
			}
			seen[k.Code] = true
		}
	}
	if len(Codes()) != len(seen) {
		t.Errorf("%d codes listed, %d declared", len(Codes()), len(seen))
	}
}
