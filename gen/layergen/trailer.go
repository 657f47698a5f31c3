// SPDX-License-Identifier: Apache-2.0

package layergen

import (
	"strconv"

	"github.com/openmetaroce/metaroce/gen"
)

// trailer is the size in bytes of what stands behind an item: a number, and printed sizes that vary.
type trailer struct {
	fixed int
	sizes []string
}

// String is the size as Go text.
func (t trailer) String() string {
	out := strconv.Itoa(t.fixed)
	for _, s := range t.sizes {
		out += " + " + s
	}
	return out
}

// behind adds what stands behind an item to what stands behind its struct. Spans say themselves how long they are: they are
// what the encoder writes, and after decoding what it has read.
func (f *finder) behind(at place, r rest, outer trailer) trailer {
	out := trailer{outer.fixed + r.reserve, outer.sizes[:len(outer.sizes):len(outer.sizes)]}
	if r.tail == nil {
		return out
	}
	for _, st := range r.after {
		switch st := st.(type) {
		case *gen.Run, *gen.Verify:
		case *gen.Take:
			size := at.expr + "." + st.Item.Name.Go
			if st.Item.Span.Kind != gen.SpanPad {
				size = "len(" + size + ")"
			}
			out.sizes = append(out.sizes, size)
		default:
			f.fail(r.item, "behind `%s` stands more of variable size than spans", r.item.Name.Schema)
		}
	}
	return out
}
