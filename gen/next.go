// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"maps"
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// Next is where a payload's protocol is looked up: a register of numbers that tools have, or one protocol.
type Next struct {
	Name     string // as in the schema
	Register bool   // the number in Span.By chooses; else the payload always is this protocol
	Bits     int    // of a register's numbers
}

// nexts are what `@next` takes.
var nexts = map[string]*Next{
	"ethertype":   {"ethertype", true, 16},
	"ip_protocol": {"ip_protocol", true, 8},
	"udp_port":    {"udp_port", true, 16},
	"tcp_port":    {"tcp_port", true, 16},
	"ethernet":    {Name: "ethernet"},
	"ipv4":        {Name: "ipv4"},
	"ipv6":        {Name: "ipv6"},
}

// nextAttr reads `@next(ethertype)`.
func (c *compiler) nextAttr(cs *clauseSet, a *syntax.Attr) bool {
	if len(a.Args) == 1 && a.Args[0].Kind == syntax.ExprPath && len(a.Args[0].Names) == 1 && cs.next == nil {
		if cs.next = nexts[a.Args[0].Names[0].Text]; cs.next != nil {
			cs.nextAt = a.Pos
			return true
		}
	}
	c.report("E0012", a.Name.Pos, "`@next` takes %s, once", strings.Join(slices.Sorted(maps.Keys(nexts)), ", "))
	return false
}

// next applies `@next` to a payload: registers need numbers to look up, a protocol needs none.
func (b *body) next(it *Item, cs *clauseSet) bool {
	switch n := cs.next; {
	case n == nil:
		return true
	case it.Kind != KindSpan || it.Span.Kind != SpanPayload:
		b.c.fixNext(b.c.report("E0312", cs.nextAt, "`@next` does not fit this type"), cs)
		return false
	case n.Register && it.Span.By == nil:
		b.c.report("E0312", cs.nextAt, "`@next(%s)` needs a number: `payload by item`", n.Name)
		return false
	case !n.Register && it.Span.By != nil:
		b.c.report("E0312", cs.nextAt, "`@next(%s)` is one protocol, and `by` chooses between several", n.Name)
		return false
	}
	for _, r := range it.Span.By {
		if s := r.Last(); cs.next.Register && s != nil && s.Scalar.Bits > cs.next.Bits {
			b.c.report("E0312", cs.nextAt, "`%s` has more than %d bits", r, cs.next.Bits)
			return false
		}
	}
	it.Span.Next = cs.next
	return true
}

// fixNext offers to remove the attribute.
func (c *compiler) fixNext(r *syntax.Report, cs *clauseSet) {
	for _, k := range cs.list {
		if k.Pos == cs.nextAt {
			r.Fix("remove it", c.f.Remove(k.Pos, k.EndPos))
		}
	}
}
