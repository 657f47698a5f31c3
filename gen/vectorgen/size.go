// SPDX-License-Identifier: Apache-2.0

package vectorgen

import (
	"slices"

	"github.com/openmetaroce/metaroce/gen"
)

// sizeOf is the number of bytes that the encoder writes for v, which stands in sc, or is sc itself.
func sizeOf(sc gen.Scope, v *gen.Value) int {
	if v == sc.Self {
		return (itemsBits(sc) + 7) / 8
	}
	return (bitsOf(sc, v, 0) + 7) / 8
}

// bitsOf does the same in bits, for an item that stands at a bit of its struct.
func bitsOf(sc gen.Scope, v *gen.Value, at int) int {
	switch {
	case v.Item == nil || v.Struct != nil:
		return itemsBits(gen.Scope{Self: v, Args: argsOf(sc, v)})
	}
	switch v.Item.Kind {
	case gen.KindScalar, gen.KindReserved:
		return v.Item.Scalar.Bits
	case gen.KindBits:
		return v.Item.Vector.Bits
	case gen.KindSpan:
		return spanBits(sc, v, at)
	case gen.KindArray:
		n := 0
		for _, e := range v.Kids {
			n += elementBits(sc, v.Item.Array, e)
		}
		return n
	case gen.KindList:
		return 8 * listBytes(v)
	}
	return 0 // an arm without layout
}

// itemsBits adds up the items of a struct, or of an element of a list without its head.
func itemsBits(sc gen.Scope) int {
	n, c := 0, sc.Self.Case
	for _, k := range sc.Self.Kids {
		if k.Item.When != nil && !sc.Truth(k.Item.When) || c != nil && slices.Contains(c.Head, k.Item) {
			continue
		}
		n += bitsOf(sc, k, n)
	}
	return n
}

func elementBits(sc gen.Scope, a *gen.Array, e *gen.Value) int {
	if a.Struct == nil {
		return a.Scalar.Bits
	}
	return itemsBits(gen.Scope{Self: e, Args: sc.Bind(a.Struct, a.Args)})
}

func spanBits(sc gen.Scope, v *gen.Value, at int) int {
	s := v.Item.Span
	switch {
	case s.Align > 0:
		return 8 * ((s.Align - at/8%s.Align) % s.Align)
	case v.Item.Name.Schema == "_" && s.Size != nil:
		return 8 * sc.Size(s.Size)
	case s.Kind == gen.SpanPad:
		return 8 * int(v.Num)
	}
	return 8 * len(v.Bytes)
}

func listBytes(v *gen.Value) int {
	l, n := v.Item.List, 0
	for _, e := range v.Kids {
		if e.Case == nil {
			continue
		}
		size := l.Head.Min + itemsBits(gen.Scope{Self: e})/8
		if a := l.ElementAlign; a > 1 {
			size += (a - size%a) % a
		}
		n += size
	}
	n += v.Pad
	if f := l.Fill; f != nil && f.Align > 1 {
		n += (f.Align - n%f.Align) % f.Align
	}
	return n
}

// argsOf binds the parameters of an item that stands in sc.
func argsOf(sc gen.Scope, v *gen.Value) map[*gen.Param]*gen.Value {
	switch {
	case v.Item == nil:
		return nil
	case v.Arm != nil && v.Arm.Struct != nil:
		return sc.Bind(v.Arm.Struct, v.Arm.Args)
	case v.Struct != nil:
		return sc.Bind(v.Struct, v.Item.Args)
	}
	return nil
}
