// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"fmt"

	"github.com/openmetaroce/metaroce/gen"
)

// maxNumbers is how many items may name a payload's protocol.
const maxNumbers = 2

// tables are Wireshark's registers, and dissectors its protocols.
var (
	tables     = map[string]string{"ethertype": "ethertype", "ip_protocol": "ip.proto", "udp_port": "udp.port", "tcp_port": "tcp.port"}
	dissectors = map[string]string{"ethernet": "eth_withoutfcs", "ipv4": "ip", "ipv6": "ipv6"}
)

// numbers are the items by which a payload is handed on; those that are no plain numbers do not count.
func numbers(it *gen.Item) (list []gen.Ref) {
	for _, r := range it.Span.By {
		last := r.Last()
		if last == nil || last.Scalar.Flag || last.Scalar.Signed || last.Scalar.Bits > 32 || len(list) == maxNumbers {
			continue
		}
		list = append(list, r)
	}
	return list
}

// handsOn tells whether an item is a payload for another dissector.
func handsOn(it *gen.Item) bool {
	if it.Kind != gen.KindSpan || it.Span.Kind != gen.SpanPayload {
		return false
	}
	return len(numbers(it)) > 0 || it.Span.Next != nil && !it.Span.Next.Register
}

// nextItems lists the payloads for other dissectors, struct by struct.
func (g *generator) nextItems() (items []*gen.Item) {
	for _, s := range g.structs {
		for _, it := range s.Items {
			if handsOn(it) {
				items = append(items, it)
			}
		}
	}
	return items
}

// nexts prints where each payload goes: NEXT.x is a register, or the name of a dissector.
func (g *generator) nexts() {
	items := g.nextItems()
	if len(items) == 0 {
		return
	}
	g.line("local next_of, next_at, next_end, next_1, next_2 -- the payload met: where it goes, its bytes, the numbers that say so")
	g.open("local NEXT = {")
	for _, it := range items {
		by := numbers(it)
		if len(by) == 0 {
			g.line("%s = { always = %s },", nextKey(it), quote(dissectors[it.Span.Next.Name]))
			continue
		}
		name := g.filter(it.Owner, it)
		if by[0].Param == nil && len(by[0].Path) == 1 {
			name = g.filter(it.Owner, by[0].Last())
		}
		register := "nil"
		if n := it.Span.Next; n != nil {
			register = fmt.Sprintf("DissectorTable.get(%s)", quote(tables[n.Name]))
		}
		g.line("%s = { own = DissectorTable.new(%s, TITLE .. %s, ftypes.UINT32, base.DEC, proto), register = %s },", nextKey(it), quote(name),
			quote(" "+by[0].String()), register)
	}
	g.shut("}")
	g.embed(runtimeNext)
}

// nextKey is a payload's key in NEXT.
func nextKey(it *gen.Item) string { return it.Owner.Name.Filter + "_" + it.Name.Filter }

// handOn notes a payload for another dissector, which lies from o up to e.
func (f *function) handOn(it *gen.Item) {
	if !handsOn(it) {
		return
	}
	args := []string{"nil", "nil"}
	for i, r := range numbers(it) {
		args[i] = f.local(value{valNumber, r})
	}
	f.g.line("next_of, next_at, next_end, next_1, next_2 = NEXT.%s, o, e, %s, %s", nextKey(it), args[0], args[1])
}
