// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// A struct's parameters reach C in two ways. Plain ones are arguments of every function. Those that only checksums read
// are arguments of pack and verify: pointers to a struct header, NULL when the caller has none.

// plainParams are the parameters that decoding reads.
func plainParams(params []*gen.Param) []*gen.Param {
	return slices.DeleteFunc(slices.Clone(params), func(q *gen.Param) bool { return q.Cover })
}

// declare lists parameters as C declarations, each with a comma in front.
func (g *generator) declareParams(params []*gen.Param) string {
	var b strings.Builder
	for _, q := range params {
		switch {
		case q.Cover:
			fmt.Fprintf(&b, ", const struct %sheader *%s", g.pfx, argument(q))
		case q.Struct != nil:
			fmt.Fprintf(&b, ", const struct %s *%s", g.tag(q.Struct.Name), argument(q))
		default:
			fmt.Fprintf(&b, ", %s %s", g.scalarType(&gen.Scalar{Bits: q.Bits, Signed: q.Signed}), argument(q))
		}
	}
	return b.String()
}

// params lists what functions that only decode take.
func (g *generator) params(s *gen.Struct) string { return g.declareParams(plainParams(s.Params)) }

// allParams lists what functions that also look at checksums take.
func (g *generator) allParams(s *gen.Struct) string { return g.declareParams(s.Params) }

// passed lists the plain parameters of s by name, each with a comma in front.
func passed(s *gen.Struct) string { return pass(plainParams(s.Params)) }

func pass(params []*gen.Param) string {
	var b strings.Builder
	for _, q := range params {
		b.WriteString(", " + argument(q))
	}
	return b.String()
}

// unsummed lists all parameters by name, those of checksums as NULL.
func unsummed(s *gen.Struct) string {
	var b strings.Builder
	for _, q := range s.Params {
		if q.Cover {
			b.WriteString(", NULL")
		} else {
			b.WriteString(", " + argument(q))
		}
	}
	return b.String()
}

func paramNames(s *gen.Struct) []string { return namesOf(s.Params) }

func plainNames(s *gen.Struct) []string { return namesOf(plainParams(s.Params)) }

func namesOf(params []*gen.Param) []string {
	names := make([]string, len(params))
	for i, q := range params {
		names[i] = argument(q)
	}
	return names
}

// plainArgs are the arguments of those parameters that decoding reads.
func plainArgs(params []*gen.Param, args []*gen.Expr) []*gen.Expr {
	var out []*gen.Expr
	for i, a := range args {
		if !params[i].Cover {
			out = append(out, a)
		}
	}
	return out
}

// covering tells whether a struct takes a parameter that only checksums read.
func (g *generator) covering() bool {
	return slices.ContainsFunc(g.structs, func(s *gen.Struct) bool {
		return slices.ContainsFunc(s.Params, func(q *gen.Param) bool { return q.Cover })
	})
}

// alternatives are the types that a parameter may have.
func alternatives(q *gen.Param) []*gen.Struct {
	if q.Any != nil {
		return q.Any
	}
	return []*gen.Struct{q.Struct}
}

// headerType prints the type of headers that checksums cover.
func (g *generator) headerType(p *printer) {
	if g.covering() {
		p.text(g.fill(headerText))
		p.line("")
	}
}

const headerText = `
/** A header that a checksum covers besides the packet, without what it carries. */
struct mr_header {
    int kind;         /**< which type it has, where a parameter may have several; else 0 */
    const uint8_t *p;
    size_t len;
};
`

// paramKinds prints the enums that name the types of the parameters of s.
func (g *generator) paramKinds(p *printer, s *gen.Struct) {
	for _, q := range s.Params {
		if q.Any == nil {
			continue
		}
		p.doc(fmt.Sprintf("Kinds of the header %s of %s.", q.Name.Schema, s.Name.Schema))
		p.line("enum %s_%s {", g.tag(s.Name), q.Name.C)
		for i, o := range q.Any {
			p.line("%s = %d,", g.define(q, "parameter "+q.Name.Schema, s.Name.C, q.Name.C, o.Name.C), i)
		}
		p.trimComma()
		p.line("};")
		p.line("")
	}
}

// checkArgs reports parameters of checksums that are no plain passing on.
func (g *generator) checkArgs(s *gen.Struct, params []*gen.Param, args []*gen.Expr) {
	for i, q := range params {
		if i >= len(args) || !q.Cover && q.Any == nil {
			continue
		}
		from := args[i].Ref.Param
		if !q.Cover || from == nil || !from.Cover || len(args[i].Ref.Path) > 0 || from.Struct != q.Struct || !slices.Equal(from.Any, q.Any) {
			g.unsupported(s, "`%s` gives the checksum parameter `%s` something else than such a parameter of its own", s.Name.Schema, q.Name.Schema)
		}
	}
}

// checkParams reports what C cannot pass.
func (g *generator) checkParams(s *gen.Struct) {
	for _, q := range s.Params {
		if q.Any != nil && !q.Cover {
			g.unsupported(q, "the parameter `%s` of several types is read by more than checksums", q.Name.Schema)
		}
	}
	for _, it := range s.Items {
		switch {
		case it.Struct != nil:
			g.checkArgs(s, it.Struct.Params, it.Args)
		case it.Array != nil && it.Array.Struct != nil:
			g.checkArgs(s, it.Array.Struct.Params, it.Array.Args)
		case it.Switch != nil:
			for _, a := range it.Switch.Arms {
				if a.Struct != nil {
					g.checkArgs(s, a.Struct.Params, a.Args)
				}
			}
		}
	}
}

// locals are the names that generated functions use for themselves.
var locals = strings.Fields("in out o buf len cap err p n i rc end stop start v at it list off reg kind field pad sum all e element" +
	" broken fill part verify again q head value is_zero path given keep seen")

// argument is the C name of a parameter.
func argument(q *gen.Param) string {
	if slices.Contains(locals, q.Name.C) {
		return q.Name.C + "_"
	}
	return q.Name.C
}
