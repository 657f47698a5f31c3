// SPDX-License-Identifier: Apache-2.0

package gen

import "math/big"

// Op is an operator or a leaf of an Expr.
type Op int

// The operators. Arithmetic is exact; the compiler has proved that no intermediate leaves 64 bits.
const (
	OpConst   Op = iota // Value
	OpRef               // Ref
	OpNot               // !a
	OpNeg               // -a
	OpAdd               // a + b
	OpSub               // a - b
	OpMul               // a * b
	OpDiv               // a / b
	OpMod               // a % b
	OpAnd               // a & b
	OpOr                // a | b
	OpXor               // a ^ b
	OpShl               // a << b
	OpShr               // a >> b
	OpEq                // a == b
	OpNe                // a != b
	OpLt                // a < b
	OpLe                // a <= b
	OpGt                // a > b
	OpGe                // a >= b
	OpAndAnd            // a && b
	OpOrOr              // a || b
	OpCond              // a ? b : c
	OpIn                // a in Set
	OpSize              // size(ref): bytes of a span
	OpCount             // count(ref): elements of an array
	OpPresent           // present(ref)
	OpAny               // any(ref): a bit of the vector is set
	OpTest              // test(ref, a): bit a of the vector; Args[0] is a
)

// Expr is a resolved expression. An absent optional item reads as zero or empty.
type Expr struct {
	Op       Op
	Value    *big.Int // OpConst
	Ref      Ref      // OpRef, OpSize, OpCount, OpPresent, OpAny, OpTest
	Args     []*Expr
	Set      []Range  // OpIn
	Bool     bool     // the result is a truth value
	Min, Max *big.Int // interval of an integer result
	Enum     *Enum    // OpConst that was written as Enum.Member
}

// Ref reaches an item from the struct in which the expression stands: through a parameter, or from the struct's own items
// into nested structs.
type Ref struct {
	Param *Param // nil = the struct itself
	Path  []*Item
}

// Last is the item that the reference names; nil for a scalar parameter.
func (r Ref) Last() *Item {
	if len(r.Path) == 0 {
		return nil
	}
	return r.Path[len(r.Path)-1]
}
