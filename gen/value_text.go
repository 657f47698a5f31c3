// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"encoding/hex"
	"strconv"
)

// text is the value of a leaf as vectors write it; empty for containers.
func (v *Value) text() string {
	switch {
	case v.Case != nil && v.Struct == nil:
		return "1"
	case v.Case != nil || !v.Leaf():
		return ""
	case v.Item == nil && v.Scalar == nil: // unknown TLV element
		return ""
	case v.Item != nil && v.Item.Kind == KindSpan:
		return spanText(v)
	case v.Item != nil && v.Item.Kind == KindBits:
		return "hex:" + hex.EncodeToString(v.Bytes)
	}
	return scalarText(v)
}

func spanText(v *Value) string {
	switch v.Item.Span.Kind {
	case SpanPad:
		return strconv.FormatUint(v.Num, 10)
	case SpanString:
		return "text:" + string(v.Bytes)
	}
	return "hex:" + hex.EncodeToString(v.Bytes)
}

func scalarText(v *Value) string {
	if v.Scalar != nil && v.Scalar.Signed {
		return strconv.FormatInt(signExtend(v.Num, v.Scalar.Bits), 10)
	}
	return strconv.FormatUint(v.Num, 10)
}

func signExtend(n uint64, bits int) int64 {
	shift := 64 - uint(bits)
	return int64(n<<shift) >> shift
}

func bitMask(bits int) uint64 {
	if bits >= 64 {
		return ^uint64(0)
	}
	return 1<<uint(bits) - 1
}
