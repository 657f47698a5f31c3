// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// checkCodes are the codes of checks that name none.
var checkCodes = map[gen.CheckKind]int{
	gen.CheckFixed: gen.FixedNumber, gen.CheckReserved: gen.ReservedNumber, gen.CheckRange: gen.RangeNumber,
	gen.CheckEnum: gen.EnumNumber, gen.CheckDerived: gen.DerivedNumber, gen.CheckWhere: gen.WhereNumber,
}

func (g *generator) checkCode(c *gen.Check) string {
	if c.Code != nil {
		return g.upper + c.Code.Name
	}
	return g.upper + gen.BuiltinCodes()[checkCodes[c.Kind]-1].Name
}

// check prints one check; r is the run that owns it, nil when none does.
func (d *decoder) check(c *gen.Check, r *gen.Run) {
	sc := d.scope()
	if r != nil {
		sc.reserved = func(it *gen.Item, ref gen.Ref) string {
			return d.g.raw(it.Scalar, "p", bitOf(r.Parts, ref.Path))
		}
	}
	hold := sc.not(c.Hold)
	if hold == "false" {
		return
	}
	at, id := d.spot(c, r)
	if c.Kind == gen.CheckWhere && c.Text != "" {
		d.p.line("/* %s */", escape(c.Text))
	}
	d.p.line("if (%s) {", hold)
	d.p.line("return fail(in, %s, %s, %s);", d.g.checkCode(c), at, id)
	d.p.line("}")
}

// bitOf is where the item at the end of path lies in a run with these parts; -1 when it does not.
func bitOf(parts []gen.Part, path []*gen.Item) int {
	for _, p := range parts {
		if p.Item != path[0] {
			continue
		}
		if len(path) == 1 {
			return p.Bit
		}
		if len(p.Item.Struct.Steps) == 0 {
			return -1
		}
		run, ok := p.Item.Struct.Steps[0].(*gen.Run)
		if !ok {
			return -1
		}
		if inner := bitOf(run.Parts, path[1:]); inner >= 0 {
			return p.Bit + inner
		}
	}
	return -1
}

// spot is the C text of the offset, and the field, at which a check's error stands.
func (d *decoder) spot(c *gen.Check, r *gen.Run) (at, id string) {
	it := c.Item.Last()
	if c.Item.Param != nil || it == nil {
		return "start", d.g.upper + "FIELD_NONE"
	}
	id = d.field(it)
	if r != nil {
		if bit := bitOf(r.Parts, c.Item.Path); bit >= 0 {
			return plus("in->off", bit/8), id
		}
	}
	first := c.Item.Path[0]
	if !d.places[first] {
		return "start", id
	}
	if len(c.Item.Path) == 1 {
		return d.place(first), id
	}
	return d.nestedSpot(c.Item), id
}

// nestedSpot is the C text of where an item inside a nested struct starts; the struct that has the rule, when it is absent.
func (d *decoder) nestedSpot(r gen.Ref) string {
	first, it := r.Path[0], r.Last()
	inner := scope{g: d.g, self: "out->" + first.Name.C + "."}
	text, ok := inner.offset(first.Struct, r.Path[1:])
	switch {
	case viewed(it):
		text = fmt.Sprintf("(size_t)(%s.p - in->buf)", d.scope().path(r))
	case !ok:
		d.g.unsupported(first, "`%s` has a rule about `%s` in `%s`, whose place depends on a switch or a parameter",
			d.s.Name.Schema, it.Name.Schema, first.Name.Schema).Help("state the rule in the header that holds the field")
	case text == "0u":
		text = d.place(first)
	default:
		text = d.place(first) + " + " + strings.TrimSuffix(text, "u")
	}
	if it.When == nil {
		return text
	}
	if readsParam(it.When) {
		d.g.unsupported(first, "`%s` has a rule about `%s`, whose presence depends on a parameter", d.s.Name.Schema, it.Name.Schema)
	}
	return fmt.Sprintf("(%s ? %s : start)", d.scope().inner(r).cond(it.When), text)
}

// viewed tells whether the member of it points to where it was found.
func viewed(it *gen.Item) bool {
	switch it.Kind {
	case gen.KindArray, gen.KindList:
		return true
	case gen.KindSpan:
		return it.Span.Kind != gen.SpanPad && it.Span.Fixed < 0
	}
	return false
}

// place is the local that holds where an item starts.
func (d *decoder) place(it *gen.Item) string { return atLocal(d.s, it) }

// findPlaces collects the items whose start a later check needs.
func (d *decoder) findPlaces(steps []gen.Step) {
	for _, s := range steps {
		switch s := s.(type) {
		case *gen.Run:
			for _, c := range s.Checks {
				if c.Item.Param == nil && len(c.Item.Path) > 0 && bitOf(s.Parts, c.Item.Path) < 0 {
					d.places[c.Item.Path[0]] = true
				}
			}
		case *gen.Branch:
			d.findPlaces(s.Then)
			d.findPlaces(s.Else)
		case *gen.Window:
			d.findPlaces(s.Body)
		case *gen.Limit:
			if s.Item.Param == nil && len(s.Item.Path) > 0 {
				d.places[s.Item.Path[0]] = true
			}
		case *gen.Verify:
			for _, c := range s.Checks {
				if c.Item.Param == nil && len(c.Item.Path) > 0 {
					d.places[c.Item.Path[0]] = true
				}
			}
		}
	}
}

// mark prints that an item which is no part of a run starts here.
func (d *decoder) mark(it *gen.Item) {
	if d.places[it] {
		d.p.line("%s = in->off;", d.place(it))
	}
}
