// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// askable tells whether the test program can decode s by itself: a line of text can give its parameters.
func (g *generator) askable(s *gen.Struct) bool {
	return !g.synthetic(s) && !slices.ContainsFunc(s.Params, func(q *gen.Param) bool { return !q.Cover && q.Struct != nil })
}

// parametric tells whether lines of the test program may give parameters.
func (g *generator) parametric() bool {
	return slices.ContainsFunc(g.structs, func(s *gen.Struct) bool { return g.askable(s) && len(s.Params) > 0 })
}

// dumpLocals are the declarations of the parameters of s, as the line gives them.
func (g *generator) dumpLocals(s *gen.Struct) string {
	var b strings.Builder
	for _, q := range s.Params {
		name := argument(q)
		if !q.Cover {
			def := uint64(0)
			if q.Default != nil {
				def = *q.Default
			}
			fmt.Fprintf(&b, "    const uint%d_t %s = (uint%d_t)given_number(\"%s\", %s);\n", width(q.Bits), name, width(q.Bits), q.Name.Schema, constFor(def))
			continue
		}
		var kinds []string
		for _, o := range alternatives(q) {
			kinds = append(kinds, fmt.Sprintf("%q", o.Name.Schema))
		}
		fmt.Fprintf(&b, "    static const char *const %s_kinds[] = {%s, NULL};\n", name, strings.Join(kinds, ", "))
		fmt.Fprintf(&b, "    const struct %sheader *%s = given_header(\"%s\", %s_kinds);\n", g.pfx, name, q.Name.Schema, name)
	}
	return b.String()
}

// dumpParams are the functions that find parameters in a line.
var dumpParams = []struct{ name, text string }{
	{"given_value", `
static const char *given = ""; /* what a line says behind the packet */

/* The text behind " NAME=", or NULL. */
static const char *given_value(const char *name)
{
    const char *at = given;
    const size_t n = strlen(name);

    while ((at = strchr(at, ' ')) != NULL) {
        at++;
        if (strncmp(at, name, n) == 0 && at[n] == '=') {
            return at + n + 1;
        }
    }
    return NULL;
}
`},
	{"given_number", `
static uint64_t given_number(const char *name, uint64_t otherwise)
{
    const char *text = given_value(name);

    return text != NULL ? (uint64_t)strtoull(text, NULL, 10) : otherwise;
}
`},
	{"given_header", `
/* The header KIND:HEX, or NULL. */
static const struct mr_header *given_header(const char *name, const char *const *kinds)
{
    const char *text = given_value(name);
    const char *digits = text != NULL ? strchr(text, ':') : NULL;
    struct mr_header *h;
    uint8_t *p;

    if (digits == NULL) {
        return NULL;
    }
    h = (struct mr_header *)keep(sizeof *h);
    while (kinds[h->kind] != NULL && (strncmp(text, kinds[h->kind], (size_t)(digits - text)) != 0
        || kinds[h->kind][digits - text] != 0)) {
        h->kind++;
    }
    p = (uint8_t *)keep(strspn(++digits, "0123456789abcdef") / 2);
    h->p = p;
    for (; nibble(digits[0]) >= 0 && nibble(digits[1]) >= 0; digits += 2) {
        p[h->len++] = (uint8_t)(nibble(digits[0]) * 16 + nibble(digits[1]));
    }
    return h;
}
`},
}
