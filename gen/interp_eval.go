// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"math/big"
)

// Scope is where an expression finds its items: a struct's value and the struct's parameters.
type Scope struct {
	Self *Value
	Args map[*Param]*Value
}

// Resolve returns the node that r reaches, or nil when one on the way is absent.
func (s Scope) Resolve(r Ref) *Value {
	v := s.Self
	if r.Param != nil {
		v = s.Args[r.Param]
	}
	for _, item := range r.Path {
		if v == nil {
			return nil
		}
		v = v.Find(item)
	}
	return v
}

// Bind evaluates the arguments of a nested struct.
func (s Scope) Bind(st *Struct, args []*Expr) map[*Param]*Value { return s.bind(st.Params, args) }

func (s Scope) bind(params []*Param, args []*Expr) map[*Param]*Value {
	bound := make(map[*Param]*Value, len(params))
	for i, p := range params {
		if i >= len(args) {
			break
		}
		v := s.argument(args[i])
		if v == nil {
			v = &Value{}
		}
		bound[p] = v
	}
	return bound
}

// argument is what a reference names, or the number that an expression has.
func (s Scope) argument(e *Expr) *Value {
	if e.Op == OpRef {
		return s.Resolve(e.Ref)
	}
	n := s.Eval(e)
	if n.IsInt64() {
		return &Value{Num: uint64(n.Int64())}
	}
	return &Value{Num: n.Uint64()}
}

// Truth evaluates a condition.
func (s Scope) Truth(e *Expr) bool { return s.Eval(e).Sign() != 0 }

// maxSize stands for all larger sizes: no buffer has so many bytes.
const maxSize = 1<<61 - 1

// Size evaluates a size or a count. The compiler has proved that it is not negative where all items are in their ranges; Encode
// does not check those, and then nothing has the size.
func (s Scope) Size(e *Expr) int {
	n := s.Eval(e)
	if n.Sign() < 0 || n.BitLen() > 61 {
		return maxSize
	}
	return int(n.Int64())
}

// Eval computes e exactly; truth values are 0 and 1.
func (s Scope) Eval(e *Expr) *big.Int {
	switch e.Op {
	case OpConst:
		return e.Value
	case OpRef, OpSize, OpCount, OpPresent, OpAny, OpTest:
		return s.evalRef(e)
	case OpAndAnd:
		return verdict(s.Truth(e.Args[0]) && s.Truth(e.Args[1])).number()
	case OpOrOr:
		return verdict(s.Truth(e.Args[0]) || s.Truth(e.Args[1])).number()
	case OpCond:
		if s.Truth(e.Args[0]) {
			return s.Eval(e.Args[1])
		}
		return s.Eval(e.Args[2])
	case OpNot:
		return verdict(!s.Truth(e.Args[0])).number()
	case OpNeg:
		return new(big.Int).Neg(s.Eval(e.Args[0]))
	case OpIn:
		return verdict(inRanges(s.Eval(e.Args[0]), e.Set)).number()
	}
	a, b := s.Eval(e.Args[0]), s.Eval(e.Args[1])
	if e.Op >= OpEq && e.Op <= OpGe {
		return verdict(compare(e.Op, a.Cmp(b))).number()
	}
	return arith(e.Op, a, b)
}

func (s Scope) evalRef(e *Expr) *big.Int {
	v := s.Resolve(e.Ref)
	switch e.Op {
	case OpPresent:
		return verdict(v != nil).number()
	case OpTest:
		i := s.Size(e.Args[0])
		return verdict(v != nil && i/8 < len(v.Bytes) && v.Bytes[i/8]&(0x80>>uint(i%8)) != 0).number()
	}
	if v == nil {
		return new(big.Int)
	}
	switch e.Op {
	case OpSize:
		return big.NewInt(int64(v.sizeBytes()))
	case OpCount:
		return big.NewInt(int64(len(v.Kids)))
	case OpAny:
		for _, b := range v.Bytes {
			if b != 0 {
				return big.NewInt(1)
			}
		}
		return new(big.Int)
	}
	if v.Scalar != nil && v.Scalar.Signed {
		return big.NewInt(signExtend(v.Num, v.Scalar.Bits))
	}
	return new(big.Int).SetUint64(v.Num)
}

// sizeBytes is the length of a span, or the bytes of any other node as it was decoded.
func (v *Value) sizeBytes() int {
	switch {
	case v.Item == nil || v.Item.Kind != KindSpan:
		return v.Width / 8
	case v.Item.Span.Kind == SpanPad:
		return int(v.Num)
	case v.Item.Span.Padded && len(v.Bytes) < v.Item.Span.Fixed:
		return v.Item.Span.Fixed
	}
	return len(v.Bytes)
}

func compare(op Op, c int) bool {
	switch op {
	case OpEq:
		return c == 0
	case OpNe:
		return c != 0
	case OpLt:
		return c < 0
	case OpLe:
		return c <= 0
	case OpGt:
		return c > 0
	}
	return c >= 0
}

// arith computes a binary operator. Division truncates toward zero, as in Go and C.
func arith(op Op, a, b *big.Int) *big.Int {
	z := new(big.Int)
	switch op {
	case OpAdd:
		return z.Add(a, b)
	case OpSub:
		return z.Sub(a, b)
	case OpMul:
		return z.Mul(a, b)
	case OpDiv:
		return z.Quo(a, b)
	case OpMod:
		return z.Rem(a, b)
	case OpAnd:
		return z.And(a, b)
	case OpOr:
		return z.Or(a, b)
	case OpXor:
		return z.Xor(a, b)
	case OpShl:
		return z.Lsh(a, uint(b.Uint64()))
	case OpShr:
		return z.Rsh(a, uint(b.Uint64()))
	}
	panic(fmt.Sprintf("gen: operator %d has no meaning here", op))
}

func inRanges(n *big.Int, set []Range) bool {
	for _, r := range set {
		if n.Cmp(new(big.Int).SetUint64(r.First)) >= 0 && n.Cmp(new(big.Int).SetUint64(r.Last)) <= 0 {
			return true
		}
	}
	return false
}

// verdict is a truth value on its way to being a number.
type verdict bool

func (b verdict) number() *big.Int {
	if b {
		return big.NewInt(1)
	}
	return new(big.Int)
}
