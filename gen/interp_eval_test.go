// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"errors"
	"math"
	"math/big"
	"testing"
)

func binary(op Op, a, b int64) *Expr { return &Expr{Op: op, Args: []*Expr{constant(a), constant(b)}} }

func TestEvalComputesEveryOperatorExactly(t *testing.T) {
	for _, c := range []struct {
		e    *Expr
		want int64
	}{
		{binary(OpAdd, 2, 3), 5}, {binary(OpSub, 2, 3), -1}, {binary(OpMul, -2, 3), -6},
		{binary(OpDiv, 7, 2), 3}, {binary(OpDiv, -7, 2), -3}, {binary(OpMod, 7, 4), 3}, {binary(OpMod, -7, 4), -3},
		{binary(OpAnd, 6, 3), 2}, {binary(OpOr, 6, 3), 7}, {binary(OpXor, 6, 3), 5},
		{binary(OpShl, 1, 40), 1 << 40}, {binary(OpShr, 1<<40, 39), 2},
		{binary(OpEq, 2, 2), 1}, {binary(OpEq, 2, 3), 0}, {binary(OpNe, 2, 3), 1}, {binary(OpNe, 2, 2), 0},
		{binary(OpLt, 2, 3), 1}, {binary(OpLt, 3, 3), 0}, {binary(OpLe, 3, 3), 1}, {binary(OpLe, 4, 3), 0},
		{binary(OpGt, 4, 3), 1}, {binary(OpGt, 3, 3), 0}, {binary(OpGe, 3, 3), 1}, {binary(OpGe, 2, 3), 0},
		{binary(OpAndAnd, 1, 0), 0}, {binary(OpAndAnd, 1, 1), 1}, {binary(OpOrOr, 0, 0), 0}, {binary(OpOrOr, 0, 1), 1},
		{&Expr{Op: OpNot, Args: []*Expr{constant(0)}}, 1}, {&Expr{Op: OpNeg, Args: []*Expr{constant(5)}}, -5},
		{&Expr{Op: OpCond, Args: []*Expr{constant(1), constant(4), constant(5)}}, 4},
		{&Expr{Op: OpCond, Args: []*Expr{constant(0), constant(4), constant(5)}}, 5},
		{&Expr{Op: OpIn, Args: []*Expr{constant(9)}, Set: []Range{{1, 2}, {8, 9}}}, 1},
		{&Expr{Op: OpIn, Args: []*Expr{constant(7)}, Set: []Range{{1, 2}, {8, 9}}}, 0},
	} {
		if got := (Scope{}).Eval(c.e); got.Cmp(big.NewInt(c.want)) != 0 {
			t.Errorf("operator %d: got %s, want %d", c.e.Op, got, c.want)
		}
	}
	huge := (Scope{}).Eval(binary(OpMul, math.MaxInt64, 4))
	if huge.BitLen() != 65 {
		t.Errorf("a product of 65 bits has %d", huge.BitLen())
	}
}

func TestEvalReadsItemsAndTakesAbsentOnesAsZero(t *testing.T) {
	ty := newToy()
	v, _, err := Decode(ty.p, "Toy", unhex("28 03 02 4001 feff 0100 00"))
	if err != nil {
		t.Fatal(err)
	}
	of := func(op Op, items ...*Item) *Expr {
		return &Expr{Op: op, Ref: Ref{Path: items}, Args: []*Expr{constant(15)}}
	}
	for _, c := range []struct {
		name string
		e    *Expr
		want int64
	}{
		{"ref", of(OpRef, ty.kind), 3},
		{"count", of(OpCount, ty.words), 2},
		{"size of array", of(OpSize, ty.words), 4},
		{"any", of(OpAny, ty.bitmap), 1},
		{"test", of(OpTest, ty.bitmap), 1},
		{"present", of(OpPresent, ty.bitmap), 1},
		{"absent ref", of(OpRef, ty.text), 0},
		{"absent size", of(OpSize, ty.body, ty.text), 0},
		{"absent any", of(OpAny, ty.text), 0},
		{"absent test", of(OpTest, ty.text), 0},
		{"absent", of(OpPresent, ty.text), 0},
		{"parameter", &Expr{Op: OpRef, Ref: Ref{Param: &Param{}}}, 0},
	} {
		if got := (Scope{Self: v}).Eval(c.e); got.Cmp(big.NewInt(c.want)) != 0 {
			t.Errorf("%s: got %s, want %d", c.name, got, c.want)
		}
	}
	p := &Param{}
	if got := (Scope{Self: v, Args: map[*Param]*Value{p: Number(7)}}).Eval(&Expr{Op: OpRef, Ref: Ref{Param: p}}); got.Int64() != 7 {
		t.Errorf("scalar parameter: got %s, want 7", got)
	}
}

func TestInterpreterChecksElementsOfScalarArrays(t *testing.T) {
	ty := newToy()
	ty.words.Array.Scalar = &Scalar{Bits: 16, Little: true, In: []Range{{1, 5}}}
	_, _, err := Decode(ty.p, "Toy", unhex("20 03 02 0100 0600 00"))
	var e *DecodeError
	if !errors.As(err, &e) || e.Code.Number != RangeNumber || e.Field != "words[1]" || e.Off != 5 || e.Got != 6 {
		t.Errorf("got %v, want E_RANGE at words[1]", err)
	}
	ty.words.Array.Scalar = &Scalar{Bits: 16, Enum: &Enum{Closed: true, Members: []*Member{{First: 3, Last: 4}}}}
	_, _, err = Decode(ty.p, "Toy", unhex("20 03 02 0003 0005 00"))
	if !errors.As(err, &e) || e.Code.Number != EnumNumber || e.Field != "words[1]" {
		t.Errorf("got %v, want E_ENUM at words[1]", err)
	}
}

func TestInterpreterKeepsByteOrderOfNumbersAndSums(t *testing.T) {
	ty := newToy()
	ty.sum.Scalar.Bits = 16
	ty.sum.Scalar.Sum.Sum = &Sum{Width: 16, Poly: 0x1021, Init: 0xffff, Little: true}
	ty.toy.Steps[len(ty.toy.Steps)-1].(*Run).Size = 2
	v, _, err := Decode(ty.p, "Toy", unhex("20 03 01 0180 0000"))
	if err != nil {
		t.Fatal(err)
	}
	if got := Flatten(v)["words[0]"]; got != "-32767" {
		t.Errorf("words[0] = %s, want -32767", got)
	}
	b, err := Encode(ty.p, v)
	if err != nil {
		t.Fatal(err)
	}
	want := ty.sum.Scalar.Sum.Sum.Of(b[:5])
	if b[5] != byte(want) || b[6] != byte(want>>8) {
		t.Errorf("sum on the wire is %x, want %04x low byte first", b[5:], want)
	}
	if err := VerifyPacket(ty.p, "Toy", b); err != nil {
		t.Error(err)
	}
}
