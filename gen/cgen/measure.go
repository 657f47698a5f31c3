// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"

	"github.com/openmetaroce/metaroce/gen"
)

// measure is the C text of size(x) or count(x), of type size_t or a constant.
func (s scope) measure(e *gen.Expr) (string, bool) {
	it := e.Ref.Last()
	path := s.path(e.Ref)
	if e.Op == gen.OpCount {
		return path + ".n", it != nil && it.Kind == gen.KindArray
	}
	switch it.Kind {
	case gen.KindSpan:
		switch {
		case it.Span.Fixed >= 0:
			return fmt.Sprintf("%du", it.Span.Fixed), it.When == nil
		case it.Span.Kind == gen.SpanPad:
			return path, true
		}
		return path + ".len", true
	case gen.KindStruct:
		return fmt.Sprintf("%du", max(it.Struct.Min, 0)), it.Struct.FixedSize && it.When == nil
	case gen.KindScalar, gen.KindBits:
		return "", false
	case gen.KindArray:
		return s.arraySize(it, path)
	}
	return path + ".len", it.Kind == gen.KindList && !s.packing
}

func (s scope) arraySize(it *gen.Item, path string) (string, bool) {
	switch {
	case it.Array.Scalar != nil:
		return fmt.Sprintf("(%s.n * %du)", path, it.Array.Scalar.Bits/8), true
	case it.Array.Struct.FixedSize:
		return fmt.Sprintf("(%s.n * %du)", path, it.Array.Struct.Min), true
	}
	return path + ".len", !s.packing
}
