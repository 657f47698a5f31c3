// SPDX-License-Identifier: Apache-2.0

package gen

import "math/big"

// A protocol built by hand, so that the interpreter is tested without the front end:
//
//	packet Toy max 200 {
//	  version : u4 = 2;  wide : bit;  _ : rsvd 3 zero;
//	  kind : u8;
//	  count : u8;                           // solved by words
//	  map : bits<16> if wide;
//	  words : i16 little[count];
//	  body : switch kind { 1 => { text : string[..] in 1..4; }  2 => { list : Params; }  3 => nothing;  4 => reject E_TOY; }
//	  sum : Crc8 over before;
//	}
type toy struct {
	p                                     *Protocol
	version, wide, rsvd, kind, count, sum *Item
	bitmap, words, body, text, list       *Item
	textArm, listArm                      *Arm
	toy                                   *Struct
	small, named                          *Case
}

func nameOf(s string) Name { return Name{Schema: s, Go: s, C: s, Filter: s} }

func scalarItem(name string, bits int) *Item {
	return &Item{Name: nameOf(name), Kind: KindScalar, Scalar: &Scalar{Bits: bits}}
}

func constant(n int64) *Expr { return &Expr{Op: OpConst, Value: big.NewInt(n)} }

func refTo(items ...*Item) *Expr { return &Expr{Op: OpRef, Ref: Ref{Path: items}} }

func equals(item *Item, n int64) *Expr {
	return &Expr{Op: OpEq, Args: []*Expr{refTo(item), constant(n)}, Bool: true}
}

func newToy() *toy {
	t := &toy{}
	two := uint64(2)
	t.version, t.wide, t.kind, t.count = scalarItem("version", 4), scalarItem("wide", 1), scalarItem("kind", 8), scalarItem("count", 8)
	t.version.Scalar.Fixed, t.wide.Scalar.Flag = &two, true
	t.rsvd = &Item{Name: nameOf("_"), Kind: KindReserved, Scalar: &Scalar{Bits: 3, Reserved: ReservedZero}}
	t.bitmap = &Item{Name: nameOf("map"), Kind: KindBits, Vector: &Vector{Bits: 16}, When: refTo(t.wide)}
	t.words = &Item{Name: nameOf("words"), Kind: KindArray, Array: &Array{
		Scalar: &Scalar{Bits: 16, Signed: true, Little: true}, Count: refTo(t.count), MaxCount: 255}}
	t.count.Scalar.Solve = &Solve{Of: Ref{Path: []*Item{t.words}}, A: 1}
	t.sum = scalarItem("sum", 8)
	t.sum.Scalar.Sum = &Cover{Sum: &Sum{Name: nameOf("Crc8"), Width: 8, Poly: 7, Check: 0xf4}, Before: true}
	t.body = t.newBody()
	head := &Run{Size: 3, Parts: []Part{{t.version, 0}, {t.wide, 4}, {t.rsvd, 5}, {t.kind, 8}, {t.count, 16}}, Checks: []*Check{
		{Kind: CheckFixed, Item: Ref{Path: []*Item{t.version}}, Hold: equals(t.version, 2)},
		{Kind: CheckReserved, Item: Ref{Path: []*Item{t.rsvd}}, Hold: equals(t.rsvd, 0)},
	}}
	t.toy = &Struct{Name: nameOf("Toy"), Packet: true, Greedy: true, Min: 4, Max: 200,
		Items: []*Item{t.version, t.wide, t.rsvd, t.kind, t.count, t.bitmap, t.words, t.body, t.sum},
		Steps: []Step{head,
			&Branch{Cond: refTo(t.wide), Then: []Step{&Run{Size: 2, Parts: []Part{{t.bitmap, 0}}}}},
			&Repeat{Item: t.words},
			&Choose{Item: t.body, Reserve: 1},
			&Run{Size: 1, Parts: []Part{{t.sum, 0}}},
		}}
	t.p = &Protocol{Edition: 1, Package: "toy", Codes: BuiltinCodes(), Structs: []*Struct{t.textArm.Struct, t.listArm.Struct, t.toy}}
	return t
}

func (t *toy) newBody() *Item {
	t.text = &Item{Name: nameOf("text"), Kind: KindSpan, Span: &Span{Kind: SpanString, Fixed: -1, Min: 1, Max: 4}}
	texts := &Struct{Name: nameOf("ToyBodyText"), Items: []*Item{t.text}, Steps: []Step{&Take{Item: t.text}}, Min: 1, Max: 4, Greedy: true}
	t.list = &Item{Name: nameOf("list"), Kind: KindList, List: t.newList()}
	lists := &Struct{Name: nameOf("ToyBodyList"), Items: []*Item{t.list}, Steps: []Step{&Elements{Item: t.list}}, Max: 64, Greedy: true}
	t.textArm = &Arm{Name: nameOf("Text"), Labels: []Range{{1, 1}}, Struct: texts}
	t.listArm = &Arm{Name: nameOf("List"), Labels: []Range{{2, 2}}, Struct: lists}
	return &Item{Name: nameOf("body"), Kind: KindSwitch, Switch: &Switch{Selector: Ref{Path: []*Item{t.kind}}, Arms: []*Arm{
		t.textArm, t.listArm,
		{Name: nameOf("None"), Labels: []Range{{3, 3}}},
		{Name: nameOf("Bad"), Labels: []Range{{4, 4}}, Reject: &Code{64, "E_TOY", "toy"}},
	}}}
}

// newList is: head { type : u8; len : u8; } element align 4; bare 0 => end; ascending; skip below 0x80;
// 1 => small : { value : u16 in 1..9; } required;  2 => named : nothing.
func (t *toy) newList() *List {
	key, length, value := scalarItem("type", 8), scalarItem("len", 8), scalarItem("value", 16)
	value.Scalar.In = []Range{{1, 9}}
	head := &Struct{Name: nameOf("Head"), Items: []*Item{key, length}, Min: 2, Max: 2, FixedSize: true,
		Steps: []Step{&Run{Size: 2, Parts: []Part{{key, 0}, {length, 8}}}}}
	small := &Struct{Name: nameOf("ParamsSmall"), Items: []*Item{value}, Min: 2, Max: 2, FixedSize: true,
		Steps: []Step{&Run{Size: 2, Parts: []Part{{value, 0}}, Checks: []*Check{{Kind: CheckRange, Item: Ref{Path: []*Item{value}},
			Hold: &Expr{Op: OpIn, Args: []*Expr{refTo(value)}, Set: value.Scalar.In, Bool: true}}}}}}
	end := uint64(0)
	t.small = &Case{Name: nameOf("small"), Key: 1, Struct: small, Unique: true, Required: true}
	t.named = &Case{Name: nameOf("named"), Key: 2}
	return &List{Name: nameOf("Params"), Max: 64, Head: head, Key: key, Length: refTo(length), LengthOf: length, ElementAlign: 4,
		End: &end, Ascending: true, SkipIf: &Expr{Op: OpLt, Args: []*Expr{refTo(key), constant(0x80)}, Bool: true},
		Cases: []*Case{t.small, t.named}}
}
