// SPDX-License-Identifier: Apache-2.0

package gen

import "math/big"

// interval is an inclusive range of exact integers.
type interval struct{ lo, hi *big.Int }

var (
	zero      = big.NewInt(0)
	one       = big.NewInt(1)
	minSigned = new(big.Int).Neg(pow2(63))
	maxSigned = new(big.Int).Sub(pow2(63), one)
	maxWord   = new(big.Int).Sub(pow2(64), one)
)

func pow2(n uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), n) }

func point(n *big.Int) interval { return interval{n, n} }

func unsigned(bits int) interval {
	return interval{zero, new(big.Int).Sub(pow2(uint(bits)), one)}
}

func upTo(n int64) interval { return interval{zero, big.NewInt(n)} }

// fits tells whether every value is an int64, or every value is a uint64.
func (v interval) fits() bool {
	return v.lo.Cmp(minSigned) >= 0 && v.hi.Cmp(maxSigned) <= 0 || v.lo.Sign() >= 0 && v.hi.Cmp(maxWord) <= 0
}

func (v interval) within(w interval) bool { return v.lo.Cmp(w.lo) >= 0 && v.hi.Cmp(w.hi) <= 0 }

func (v interval) has(n *big.Int) bool { return v.lo.Cmp(n) <= 0 && n.Cmp(v.hi) <= 0 }

func (v interval) join(w interval) interval {
	return interval{smaller(v.lo, w.lo), larger(v.hi, w.hi)}
}

func smaller(a, b *big.Int) *big.Int {
	if a.Cmp(b) <= 0 {
		return a
	}
	return b
}

func larger(a, b *big.Int) *big.Int {
	if a.Cmp(b) >= 0 {
		return a
	}
	return b
}

// corners applies a function that is monotonic in both arguments to the ends of two intervals.
func corners(a, b interval, f func(x, y *big.Int) *big.Int) interval {
	out := point(f(a.lo, b.lo))
	for _, v := range []*big.Int{f(a.lo, b.hi), f(a.hi, b.lo), f(a.hi, b.hi)} {
		out = out.join(point(v))
	}
	return out
}

// arithInterval bounds the result of an integer operator. The divisor does not contain zero, shift counts lie in 0 to 63
// and the operands of bit operators are not negative.
func arithInterval(op Op, a, b interval) interval {
	switch op {
	case OpAdd:
		return interval{new(big.Int).Add(a.lo, b.lo), new(big.Int).Add(a.hi, b.hi)}
	case OpSub:
		return interval{new(big.Int).Sub(a.lo, b.hi), new(big.Int).Sub(a.hi, b.lo)}
	case OpMul:
		return corners(a, b, func(x, y *big.Int) *big.Int { return new(big.Int).Mul(x, y) })
	case OpDiv:
		return corners(a, b, func(x, y *big.Int) *big.Int { return new(big.Int).Quo(x, y) })
	case OpMod:
		return modInterval(a, b)
	case OpShl:
		return corners(a, b, func(x, y *big.Int) *big.Int { return new(big.Int).Lsh(x, uint(y.Int64())) })
	case OpShr:
		return corners(a, b, func(x, y *big.Int) *big.Int { return new(big.Int).Rsh(x, uint(y.Int64())) })
	case OpAnd:
		return interval{zero, smaller(a.hi, b.hi)}
	default: // OpOr, OpXor
		return unsigned(larger(a.hi, b.hi).BitLen())
	}
}

// modInterval bounds a remainder, which has the sign of the dividend.
func modInterval(a, b interval) interval {
	most := larger(new(big.Int).Abs(b.lo), new(big.Int).Abs(b.hi))
	most = new(big.Int).Sub(most, one)
	out := interval{zero, zero}
	if a.hi.Sign() > 0 {
		out.hi = smaller(a.hi, most)
	}
	if a.lo.Sign() < 0 {
		out.lo = larger(a.lo, new(big.Int).Neg(most))
	}
	return out
}

// fold computes an operator on constants; truth values are 0 and 1.
func fold(op Op, a, b *big.Int) *big.Int {
	out := new(big.Int)
	switch op {
	case OpAdd:
		return out.Add(a, b)
	case OpSub:
		return out.Sub(a, b)
	case OpMul:
		return out.Mul(a, b)
	case OpDiv:
		return out.Quo(a, b)
	case OpMod:
		return out.Rem(a, b)
	case OpAnd:
		return out.And(a, b)
	case OpOr:
		return out.Or(a, b)
	case OpXor:
		return out.Xor(a, b)
	case OpShl:
		return out.Lsh(a, uint(b.Int64()))
	case OpShr:
		return out.Rsh(a, uint(b.Int64()))
	}
	return foldCompare(op, a.Cmp(b))
}

func foldCompare(op Op, c int) *big.Int {
	yes := map[Op]bool{OpEq: c == 0, OpNe: c != 0, OpLt: c < 0, OpLe: c <= 0, OpGt: c > 0, OpGe: c >= 0}
	if yes[op] {
		return one
	}
	return zero
}
