// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"math/big"
	"slices"

	"github.com/openmetaroce/metaroce/gen"
)

// decided tells what the types of two operands, the bits that one masks, or their being the same make of `a op b`. Compilers
// see that much as well, and warn.
func decided(op gen.Op, a, b *gen.Expr) (known, truth bool) {
	if sameItem(a, b) {
		return true, op == gen.OpEq || op == gen.OpLe || op == gen.OpGe
	}
	if op == gen.OpEq || op == gen.OpNe {
		if clash(a, b) || clash(b, a) {
			return true, op == gen.OpNe
		}
	}
	if a.Op != gen.OpConst && b.Op != gen.OpConst {
		return false, false
	}
	aLow, aTop := typeBounds(a)
	bLow, bTop := typeBounds(b)
	switch below, above := aTop.Cmp(bLow), aLow.Cmp(bTop); {
	case below < 0:
		return true, op == gen.OpNe || op == gen.OpLt || op == gen.OpLe
	case above > 0:
		return true, op == gen.OpNe || op == gen.OpGt || op == gen.OpGe
	case below == 0 && (op == gen.OpLe || op == gen.OpGt):
		return true, op == gen.OpLe
	case above == 0 && (op == gen.OpGe || op == gen.OpLt):
		return true, op == gen.OpGe
	}
	return false, false
}

func sameItem(a, b *gen.Expr) bool {
	return a.Op == gen.OpRef && b.Op == gen.OpRef && a.Ref.Param == b.Ref.Param && slices.Equal(a.Ref.Path, b.Ref.Path)
}

// typeBounds are the least and the largest number of the C type that an operand has before it is cast.
func typeBounds(e *gen.Expr) (low, top *big.Int) {
	bits := 64
	switch it := e.Ref.Last(); {
	case e.Op == gen.OpConst:
		return e.Value, e.Value
	case e.Op == gen.OpRef && it == nil:
		bits = width(e.Ref.Param.Bits)
	case e.Op == gen.OpRef && it.Scalar != nil && it.Scalar.Flag:
		bits = 1
	case e.Op == gen.OpRef && it.Scalar != nil && !unnamed(it):
		bits = width(it.Scalar.Bits)
	}
	one := big.NewInt(1)
	if signed(e) {
		half := one.Lsh(one, uint(bits-1))
		return new(big.Int).Neg(half), new(big.Int).Sub(half, big.NewInt(1))
	}
	return new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(one, uint(bits)), one)
}

// clash tells whether e, `x & mask` or `x | mask`, cannot be c because of a bit.
func clash(e, c *gen.Expr) bool {
	if c.Op != gen.OpConst || e.Op != gen.OpAnd && e.Op != gen.OpOr {
		return false
	}
	for _, mask := range e.Args {
		if mask.Op != gen.OpConst {
			continue
		}
		few, many := c.Value, mask.Value
		if e.Op == gen.OpOr {
			few, many = many, few
		}
		if new(big.Int).AndNot(few, many).Sign() != 0 {
			return true
		}
	}
	return false
}
