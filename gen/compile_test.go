// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const head = "edition 1;\npackage test.unit;\nbyteorder big;\nbitorder msb;\n"

// compiled compiles the body of a test's schema.
func compiled(t *testing.T, body string) *Protocol {
	t.Helper()
	p, diags := Compile("test.mrs", []byte(head+body))
	for _, d := range diags {
		t.Error(d.String())
	}
	if p == nil {
		t.FailNow()
	}
	return p
}

// program prints a struct's decode program.
func program(s *Struct) string {
	var b strings.Builder
	printSteps(&b, s.Steps, "")
	return b.String()
}

func printSteps(b *strings.Builder, steps []Step, indent string) {
	line := func(format string, args ...any) { fmt.Fprintf(b, indent+format+"\n", args...) }
	for _, s := range steps {
		switch s := s.(type) {
		case *Run:
			var parts []string
			for _, p := range s.Parts {
				parts = append(parts, fmt.Sprintf("%s@%d", p.Item.Name.Schema, p.Bit))
			}
			line("run %d: %s", s.Size, strings.Join(parts, " "))
			printChecks(b, s.Checks, indent)
		case *Verify:
			line("verify")
			printChecks(b, s.Checks, indent)
		case *Branch:
			line("if %s", key(s.Cond))
			printSteps(b, s.Then, indent+"  ")
			if len(s.Else) > 0 {
				line("else")
				printSteps(b, s.Else, indent+"  ")
			}
		case *Call:
			line("call %s windowed=%t reserve=%d%s", s.Item.Name.Schema, s.Windowed, s.Reserve, tailText(s.Tail))
		case *Take:
			line("take %s reserve=%d%s", s.Item.Name.Schema, s.Reserve, tailText(s.Tail))
		case *Repeat:
			line("repeat %s reserve=%d%s", s.Item.Name.Schema, s.Reserve, tailText(s.Tail))
		case *Elements:
			line("elements %s reserve=%d%s", s.Item.Name.Schema, s.Reserve, tailText(s.Tail))
		case *Choose:
			line("choose %s by %s reserve=%d%s", s.Item.Name.Schema, s.Item.Switch.Selector, s.Reserve, tailText(s.Tail))
		case *Limit:
			line("limit %s rest=%d at %s", key(s.Size), s.Rest, s.Item)
		case *Window:
			line("window %s least=%d limited=%t", key(s.Size), s.Least, s.Limited)
			printSteps(b, s.Body, indent+"  ")
		}
	}
}

func tailText(x *Expr) string {
	if x == nil {
		return ""
	}
	return " + " + key(x)
}

func printChecks(b *strings.Builder, checks []*Check, indent string) {
	for _, k := range checks {
		fmt.Fprintf(b, "%s  %s %s@%d: %s\n", indent, k.Code.Name, k.Item, k.Bit, key(k.Hold))
	}
}

func ourProtocol(t testing.TB) *Protocol {
	t.Helper()
	p, err := Load("../schema/metaroce.mrs")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCompileTurnsMetaRoCEIntoItsDecodePrograms(t *testing.T) {
	p := ourProtocol(t)
	want := map[string]string{
		"PathAck": `run 24: path@0 epoch@12 has_sack@16 has_counters@17 _@18 base@32 largest@64 received_at@96 packets@128 ce@160
  E_RESERVED _@18: (_ == 0)
if has_sack
  run 32: sack@0
verify
  E_DERIVED has_sack@-1: (has_sack == any(sack))
  E_WHERE sack@-1: (!has_sack || !test(sack, 0))
if has_counters
  run 20: counters@0
`,
		"BodyWrite": `run 32: message@0 write_target@128
  E_RESERVED message._@18: (message._ == 0)
  E_GEOMETRY message.length@96: ((message.offset < message.length) || ((message.offset == 0) && (message.length == 0)))
if message.immediate
  run 8: immediate@0
take data reserve=0
verify
  E_GEOMETRY data@-1: ((message.offset + size(data)) <= message.length)
`,
		"BodyRetry": `elements parameters reserve=0
verify
  E_UNSEQUENCED base.tsn@-1: (((base.path == 0) && (base.psn == 0)) && (base.tsn == 0))
`,
		"Packet": `run 20: base@0
  E_FIXED base.version@0: (base.version == 1)
if !base.secure
  call plain windowed=true reserve=4
  run 4: crc@0
else
  take sealed reserve=16
  run 16: auth@0
`,
	}
	for name, w := range want {
		if diff := cmp.Diff(w, program(p.StructNamed(name))); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

func TestCompileSizesMetaRoCE(t *testing.T) {
	p := ourProtocol(t)
	for name, want := range map[string][2]int{
		"Base": {20, 20}, "PathAck": {24, 76}, "BodyAck": {36, 19392}, "BodyProbe": {12, -1}, "Body": {0, 65483}, "Packet": {24, 65507},
	} {
		s := p.StructNamed(name)
		if s.Min != want[0] || s.Max != want[1] {
			t.Errorf("%s has %d..%d bytes, want %v", name, s.Min, s.Max, want)
		}
	}
}

func TestCompileMakesOuterNamesParametersOfArms(t *testing.T) {
	p := ourProtocol(t)
	open, body := p.StructNamed("BodyOpen"), p.StructNamed("Body")
	if len(open.Params) != 1 || open.Params[0].Struct != p.StructNamed("Base") || open.Owner != body {
		t.Fatalf("BodyOpen takes %v of %v", open.Params, open.Owner)
	}
	for _, a := range body.Items[0].Switch.Arms {
		if a.Struct == open && (len(a.Args) != 1 || a.Args[0].Ref.Param != body.Params[0]) {
			t.Errorf("the arm passes %v", a.Args)
		}
	}
	if q := p.StructNamed("BodyWrite"); len(q.Params) != 0 {
		t.Errorf("BodyWrite takes %v although it names nothing of Packet", q.Params)
	}
}

func TestCompileSolvesCounts(t *testing.T) {
	p := ourProtocol(t)
	blocks := p.StructNamed("BodyAck").item("blocks")
	count := p.StructNamed("Ack").item("blocks")
	if blocks.Array.Solve == nil || blocks.Array.Solve.Last() != count || blocks.Array.MaxCount != 255 {
		t.Errorf("array: %+v", blocks.Array)
	}
	if s := count.Scalar.Solve; s == nil || s.A != 1 || s.B != 0 || s.Of.Last() != blocks {
		t.Errorf("count: %+v", s)
	}
	q := compiled(t, "header H { n : u8 in 2..255; data : bytes[n * 4 - 8]; }")
	if s := q.StructNamed("H").item("n").Scalar.Solve; s == nil || s.A != 4 || s.B != -8 {
		t.Errorf("size: %+v", s)
	}
}

func TestCompileOrdersChecksOfARun(t *testing.T) {
	p := compiled(t, `
enum E : u8 closed { A = 1; B = 3..5; }
header In { x : u8 = 7; where x < 9; y : u8 in 1..2; }
header H {
  a : u8 in {1, 3..4};
  where a != 3;
  in_ : In;
  e : E;
  _ : rsvd 8 ones;
  where a + in_.y == 4 else E_RANGE;
  s : u8 = a + 1;
  t : bytes[2];
}`)
	want := `run 8: a@0 in_@8 e@24 _@32 s@40 t@48
  E_RANGE a@0: (a in {1..1, 3..4})
  E_FIXED in_.x@8: (in_.x == 7)
  E_RANGE in_.y@16: (in_.y in {1..2})
  E_ENUM e@24: (e in {1..1, 3..5})
  E_RESERVED _@32: (_ == 255)
  E_WHERE in_.x@8: (in_.x < 9)
  E_WHERE a@0: (a != 3)
  E_RANGE in_.y@16: ((a + in_.y) == 4)
  E_DERIVED s@40: (s == (a + 1))
`
	if diff := cmp.Diff(want, program(p.StructNamed("H"))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestCompileReservesTrailersForGreedyItems(t *testing.T) {
	p := compiled(t, `
header Inner { rest : bytes[..]; tail : u16; }
packet P max 100 { a : u8; if a == 1 { x : u8[..]; y : u32; } else { inner : Inner; } z : u8; }`)
	want := `run 1: a@0
if (a == 1)
  repeat x reserve=5
  run 4: y@0
else
  call inner windowed=true reserve=1
run 1: z@0
`
	if diff := cmp.Diff(want, program(p.StructNamed("P"))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if s := p.StructNamed("P"); s.Min != 4 || s.Max != 100 || !s.Greedy {
		t.Errorf("P has %d..%d bytes, greedy %t", s.Min, s.Max, s.Greedy)
	}
}

func TestCompileKeepsDeclarationOrder(t *testing.T) {
	p := compiled(t, "header A { b : B; k : K; }\nheader B { x : u8; }\nenum K : u8 open { One = 1; }\n"+
		"packet P max 9 { a : A; s : switch a.b.x { 1 => { y : u8; } _ => nothing; } }\nenum L : u8 open { Two = 2; }")
	var got []string
	for _, s := range p.Structs {
		got = append(got, s.Name.Schema)
	}
	if diff := cmp.Diff([]string{"A", "B", "PCase1", "P"}, got); diff != "" {
		t.Error(diff)
	}
	if p.Enums[0].Name.Schema != "K" || p.Enums[1].Name.Schema != "L" {
		t.Error("enums out of order")
	}
}

func TestCompileIsDeterministic(t *testing.T) {
	a, b := ourProtocol(t), ourProtocol(t)
	if a.WireHash != b.WireHash || a.TextHash != b.TextHash {
		t.Error("two hashes of one schema")
	}
}

func TestWireHashFollowsBytesAndNamesOnly(t *testing.T) {
	src, err := os.ReadFile("../schema/metaroce.mrs")
	if err != nil {
		t.Fatal(err)
	}
	base := ourProtocol(t)
	edit := func(from, to string) *Protocol {
		if !strings.Contains(string(src), from) {
			t.Fatalf("the schema lacks %q", from)
		}
		p, diags := Compile("metaroce.mrs", []byte(strings.Replace(string(src), from, to, 1)))
		for _, d := range diags {
			t.Fatal(d)
		}
		return p
	}
	if p := edit("/// Wire version.", "/// The version\n  /// of the wire."); p.WireHash != base.WireHash || p.TextHash == base.TextHash {
		t.Error("a comment must change the text hash only")
	}
	if p := edit(`@unit("kbit/s")`, `@unit("Mbit/s")`); p.WireHash != base.WireHash {
		t.Error("a unit changed the wire hash")
	}
	if p := edit("in 8..8872", "in 8..9000"); p.WireHash == base.WireHash {
		t.Error("a range did not change the wire hash")
	}
}

func TestCompileReadsOptions(t *testing.T) {
	p := ourProtocol(t)
	want := Targets{GoPackage: "wire", CPrefix: "mr", LuaProto: "metaroce", LuaName: "MetaRoCE", UDPPort: 4797}
	if diff := cmp.Diff(want, p.Targets); diff != "" {
		t.Error(diff)
	}
	if p.Package != "metaroce.wire" || p.License != "Apache-2.0" || p.Source != "metaroce.mrs" || len(p.Doc) != 2 {
		t.Errorf("%q %q %q %q", p.Package, p.License, p.Source, p.Doc)
	}
}

func TestLoadNamesAMissingFile(t *testing.T) {
	if _, err := Load("no-such.mrs"); !os.IsNotExist(unwrapAll(err)) {
		t.Errorf("got %v", err)
	}
}

func unwrapAll(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok {
			return err
		}
		if _, path := err.(*os.PathError); path {
			return err
		}
		err = u.Unwrap()
	}
}

func TestConditionalDerivedFieldIsCheckedOnlyWhenPresent(t *testing.T) {
	p := compiled(t, "header H { a : u8; b : u8 = a + 1 if a == 1; c : u8; }")
	want := `run 1: a@0
if (a == 1)
  run 1: b@0
    E_DERIVED b@0: (b == (a + 1))
run 1: c@0
`
	if diff := cmp.Diff(want, program(p.StructNamed("H"))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestManualExampleCompiles(t *testing.T) {
	manual, err := os.ReadFile("../schema/LANGUAGE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(manual), "```\n")
	src, _, _ := strings.Cut(rest, "```")
	if !found || !strings.HasPrefix(src, "edition 1;") {
		t.Fatal("LANGUAGE.md does not begin with an example")
	}
	_, diags := Compile("manual.mrs", []byte(src))
	for _, d := range diags {
		t.Error(d.String())
	}
}

func TestFaultsInOneHeaderDoNotUpsetDerivedFieldsOfAnother(t *testing.T) {
	p, diags := Compile("x.mrs", []byte(head+`
header A sized a { a : u8; x : u8; b : u8 if size(c) > 1; c : payload; }
packet P { f : A; t : u8; s : switch t { 1 => { c : u16 = f.x % 3; } _ => nothing; } }`))
	if p != nil || len(diags) == 0 {
		t.Errorf("%v %v", p, diags)
	}
	for _, d := range diags {
		if d.Code != "E0405" {
			t.Errorf("%s", d)
		}
	}
}
