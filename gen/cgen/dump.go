// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// dump prints the test program: it decodes packets that it reads as text and prints every member by its path, so that a
// driver can compare them with vectors; and it tries accessors, vectors and checksums by itself.
func (g *generator) dump() []byte {
	p := &printer{}
	g.opening(p)
	p.line("/*")
	usage := dumpUsage
	if g.parametric() {
		usage = strings.Replace(usage, " * Strings", " * Parameters follow a packet as NAME=NUMBER, or NAME=HEADER:HEX for a header that checksums cover.\n * Strings", 1)
	}
	p.buf.WriteString(usage)
	p.line("")
	p.line("#include \"%s\"", g.include)
	p.line("")
	p.text(g.fill(dumpRuntime))
	p.line("")
	for _, r := range dumpParts {
		p.static(r.name, func() {
			p.text(r.text)
			p.line("")
		})
	}
	if g.parametric() {
		p.text(dumpNibble)
		p.line("")
		for _, r := range dumpParams {
			p.static(r.name, func() {
				p.text(g.fill(r.text))
				p.line("")
			})
		}
	}
	for _, o := range g.order {
		switch o := o.(type) {
		case *gen.Struct:
			p.static("dump_"+o.Name.C, func() { g.dumpStruct(p, o) })
			p.static("own_"+o.Name.C, func() { g.ownStruct(p, o) })
		case *gen.List:
			p.static("dump_"+o.Name.C, func() { g.dumpList(p, o) })
			p.static("own_"+o.Name.C, func() { g.ownList(p, o) })
		}
	}
	g.dumpRoots(p)
	g.selfTest(p)
	g.dumpMain(p)
	return []byte(prune(p.buf.String()))
}

func (g *generator) dumpMain(p *printer) {
	given := ""
	if g.parametric() {
		given = "        given = text;\n"
	} else {
		p.text(dumpNibble)
		p.line("")
	}
	p.text(strings.Replace(g.fill(dumpMain), "GIVEN", given, 1))
}

const dumpUsage = ` * Test program. Without arguments it reads lines "decode|verify PACKET HEX" and answers each with
 *     ok BYTES, the members as PATH=VALUE, pack HEX, rebuild HEX, .
 * or  error CODE OFFSET FIELD, .
 * Strings are written as utf8:HEX. With the argument "selftest" it tries accessors, bit vectors and checksums.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
`

const dumpRuntime = `
static char path[4096];
static unsigned long checks;

static void hex(const char *name, const uint8_t *p, int32_t n)
{
    int32_t i;

    if (n < 0) {
        printf("%s %s\n", name, mr_error_name(n));
        return;
    }
    printf("%s ", name);
    for (i = 0; i < n; i++) {
        printf("%02x", p[i]);
    }
    printf("\n");
}

static void *kept[65536];
static size_t keeps;

static void forget(void)
{
    while (keeps > 0) {
        free(kept[--keeps]);
    }
}

static void claim(bool holds, const char *what)
{
    checks++;
    if (!holds) {
        fprintf(stderr, "selftest: %s\n", what);
        exit(1);
    }
}

`

// dumpParts print members; the program contains those that its structs need.
var dumpParts = []struct{ name, text string }{
	{"enter", `
/* Puts name behind the first at bytes of path; the new length. */
static size_t enter(size_t at, const char *name)
{
    return at + (size_t)snprintf(path + at, sizeof path - at, at > 0 ? ".%s" : "%s", name);
}
`},
	{"enter_index", `
static size_t enter_index(size_t at, const char *name, size_t i)
{
    at = enter(at, name);
    return at + (size_t)snprintf(path + at, sizeof path - at, "[%lu]", (unsigned long)i);
}
`},
	{"number", `
static void number(size_t at, uint64_t n)
{
    printf("%.*s=%" PRIu64 "\n", (int)at, path, n);
}
`},
	{"integer", `
static void integer(size_t at, int64_t n)
{
    printf("%.*s=%" PRId64 "\n", (int)at, path, n);
}
`},
	{"bytes", `
static void bytes(size_t at, const char *kind, const uint8_t *p, size_t n)
{
    size_t i;

    printf("%.*s=%s:", (int)at, path, kind);
    for (i = 0; i < n; i++) {
        printf("%02x", p[i]);
    }
    printf("\n");
}
`},
	{"keep", `
/* Memory that lives until the next packet. */
static void *keep(size_t n)
{
    void *p = calloc(1, n > 0 ? n : 1);

    if (p == NULL || keeps == sizeof kept / sizeof kept[0]) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    kept[keeps++] = p;
    return p;
}
`},
	{"random_byte", `
static uint64_t seed = 1;

/* Reproducible bytes. */
static uint8_t random_byte(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint8_t)(seed >> 56);
}
`},
}

const dumpNibble = `
static int nibble(int c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
`

const dumpMain = `
int main(int argc, char **argv)
{
    enum { longest = 1 << 20 };
    char *line = (char *)malloc(longest);

    if (line == NULL) {
        return 1;
    }
    if (argc > 1 && strcmp(argv[1], "selftest") == 0) {
        free(line);
        return selftest();
    }
    while (fgets(line, longest, stdin) != NULL) {
        char *name = strchr(line, ' ');
        char *text = name != NULL ? strchr(name + 1, ' ') : NULL;
        uint8_t *buf;
        size_t n = 0;

        if (text == NULL) {
            fprintf(stderr, "bad line: %s", line);
            return 1;
        }
        *name++ = 0;
        *text++ = 0;
        buf = (uint8_t *)malloc(strlen(text) / 2 + 1);
        for (; buf != NULL && nibble(text[0]) >= 0 && nibble(text[1]) >= 0; text += 2) {
            buf[n++] = (uint8_t)(nibble(text[0]) * 16 + nibble(text[1]));
        }
GIVEN        if (buf == NULL || !root(strcmp(line, "verify") == 0, name, buf, n)) {
            fprintf(stderr, "unknown packet: %s\n", name);
            return 1;
        }
        printf(".\n");
        free(buf);
        forget();
    }
    free(line);
    return 0;
}
`

// dumpStruct prints dump_STRUCT.
func (g *generator) dumpStruct(p *printer, s *gen.Struct) {
	body := &printer{depth: 1}
	for _, it := range s.Items {
		if unnamed(it) {
			continue
		}
		if it.When != nil {
			if stored(it) {
				body.line("if (%s_%s_present(v%s)) {", g.tag(s.Name), it.Name.C, passed(s))
			} else {
				body.line("if (%s) {", scope{g: g, self: "v->"}.cond(it.When))
			}
		}
		g.dumpItem(body, it)
		if it.When != nil {
			body.line("}")
		}
	}
	g.frame(p, fmt.Sprintf("static void dump_%s(const struct %s *v, size_t at%s)", s.Name.C, g.tag(s.Name), g.params(s)),
		body.buf.String(), append(plainNames(s), "v", "at"))
}

// frame prints a function around body and silences what it does not use.
func (g *generator) frame(p *printer, head, body string, names []string) {
	p.line("%s", head)
	p.line("{")
	for _, n := range names {
		if !uses(body, n) {
			p.line("(void)%s;", n)
		}
	}
	p.buf.WriteString(body)
	p.line("}")
	p.line("")
}

func (g *generator) dumpItem(p *printer, it *gen.Item) {
	from, at := "v->"+it.Name.C, fmt.Sprintf("enter(at, \"%s\")", it.Name.Schema)
	sc := scope{g: g, self: "v->"}
	switch it.Kind {
	case gen.KindScalar, gen.KindReserved:
		g.dumpScalar(p, it.Scalar, at, from)
	case gen.KindBits:
		p.line("{")
		p.line("uint8_t wire[%d];", it.Vector.Bits/8)
		p.line("%sbits%d_store(wire, &%s);", g.pfx, it.Vector.Bits, from)
		p.line("bytes(%s, \"hex\", wire, sizeof wire);", at)
		p.line("}")
	case gen.KindStruct:
		p.line("dump_%s(&%s, %s%s);", it.Struct.Name.C, from, at, sc.args(plainArgs(it.Struct.Params, it.Args)))
	case gen.KindArray:
		g.dumpArray(p, it, sc)
	case gen.KindSpan:
		g.dumpSpan(p, it, at, from)
	case gen.KindList:
		p.line("dump_%s(&%s, %s%s);", it.List.Name.C, from, at, sc.args(it.Args))
	case gen.KindSwitch:
		for _, a := range it.Switch.Arms {
			if a.Struct != nil {
				p.line("if (%s == %s) {", from, g.kindConst(it, a.Name.C))
				p.line("dump_%s(&v->%s.%s, enter(at, \"%s\")%s);", a.Struct.Name.C, unionName(it), a.Name.C,
					snake(a.Name.Schema), sc.args(plainArgs(a.Struct.Params, a.Args)))
				p.line("}")
			}
		}
	}
}

func (g *generator) dumpScalar(p *printer, s *gen.Scalar, at, from string) {
	if s.Signed {
		p.line("integer(%s, %s);", at, from)
	} else {
		p.line("number(%s, %s);", at, from)
	}
}

func (g *generator) dumpSpan(p *printer, it *gen.Item, at, from string) {
	kind := "hex"
	if it.Span.Kind == gen.SpanString {
		kind = "utf8"
	}
	switch {
	case it.Span.Kind == gen.SpanPad && it.Span.Fixed >= 0:
		p.line("number(%s, %d);", at, it.Span.Fixed)
	case it.Span.Kind == gen.SpanPad:
		p.line("number(%s, %s);", at, from)
	case it.Span.Padded:
		p.line("{")
		p.line("size_t n = 0;")
		p.line("while (n < %d && %s[n] != 0) {", it.Span.Fixed, from)
		p.line("n++;")
		p.line("}")
		p.line("bytes(%s, \"%s\", %s, n);", at, kind, from)
		p.line("}")
	case it.Span.Fixed >= 0:
		p.line("bytes(%s, \"%s\", %s, %d);", at, kind, from, it.Span.Fixed)
	default:
		p.line("bytes(%s, \"%s\", %s.p, %s.len);", at, kind, from, from)
	}
}

func (g *generator) dumpArray(p *printer, it *gen.Item, sc scope) {
	from := "v->" + it.Name.C
	p.line("{")
	p.line("size_t i;")
	if it.Array.Scalar != nil {
		p.line("for (i = 0; i < %s.n; i++) {", from)
		g.dumpScalar(p, it.Array.Scalar, fmt.Sprintf("enter_index(at, \"%s\", i)", it.Name.Schema),
			fmt.Sprintf("%s_%s_at(&%s, i)", g.tag(it.Owner.Name), it.Name.C, from))
	} else {
		t := g.tag(it.Array.Struct.Name)
		p.line("struct %s element;", t)
		p.line("struct %s_iter it = %s_iter_init(&%s);", t, t, from)
		args := sc.args(plainArgs(it.Array.Struct.Params, it.Array.Args))
		p.line("for (i = 0; %s_next(&it, &element%s) > 0; i++) {", t, args)
		p.line("dump_%s(&element, enter_index(at, \"%s\", i)%s);", it.Array.Struct.Name.C, it.Name.Schema, args)
	}
	p.line("}")
	p.line("}")
}

func (g *generator) dumpList(p *printer, l *gen.List) {
	t := g.tag(l.Name)
	p.line("static void dump_%s(const struct %s *v, size_t at%s)", l.Name.C, t, g.declareParams(l.Params))
	p.line("{")
	p.line("struct %s_element e;", t)
	p.line("struct %s_iter it = %s_iter_init(v);", t, t)
	p.line("size_t seen[%d] = {0};", len(l.Cases)+1)
	p.line("")
	p.line("while (%s_next(&it, &e%s) > 0) {", t, pass(l.Params))
	p.line("const size_t i = seen[e.kind]++;")
	p.line("(void)i;")
	p.line("switch (e.kind) {")
	for _, c := range l.Cases {
		p.line("case %s:", g.macro(l.Name.C, c.Name.C))
		at := fmt.Sprintf("enter(at, \"%s\")", c.Name.Schema)
		if !c.Unique && !c.Required {
			at = fmt.Sprintf("enter_index(at, \"%s\", i)", c.Name.Schema)
		}
		g.dumpKept(p, c, at)
		if c.Struct == nil {
			p.line("number(%s, 1);", at)
		} else {
			p.line("dump_%s(&e.u.%s, %s%s);", c.Struct.Name.C, c.Name.C, at, scope{g: g}.args(plainArgs(c.Struct.Params, c.Args)))
		}
		p.line("break;")
	}
	p.line("default:")
	p.line("break;")
	p.line("}")
	p.line("}")
	p.line("}")
	p.line("")
}

// dumpKept prints the items of the head that an element keeps.
func (g *generator) dumpKept(p *printer, c *gen.Case, at string) {
	for _, it := range c.Head {
		if it.Scalar != nil && stored(it) {
			g.dumpScalar(p, it.Scalar, fmt.Sprintf("enter(%s, \"%s\")", at, it.Name.Schema), "e.head."+it.Name.C)
		}
	}
}

// dumpRoots prints the choice of the packet by its name.
func (g *generator) dumpRoots(p *printer) {
	var roots []*gen.Struct
	for _, s := range g.structs {
		if g.askable(s) {
			roots = append(roots, s)
			g.dumpRoot(p, s)
		}
	}
	p.line("static bool root(bool verify, const char *name, const uint8_t *buf, size_t n)")
	p.line("{")
	for _, s := range roots {
		p.line("if (strcmp(name, \"%s\") == 0) {", s.Name.Schema)
		p.line("root_%s(verify, buf, n);", s.Name.C)
		p.line("return true;")
		p.line("}")
	}
	p.line("return false;")
	p.line("}")
	p.line("")
}

// dumpRoot prints root_STRUCT. The input lies at the end of its own allocation, so that a sanitizer sees every byte read
// beyond it; pack gets exactly the bytes it needs, and every smaller number of them.
func (g *generator) dumpRoot(p *printer, s *gen.Struct) {
	verify := "(void)verify;"
	if g.hasSum(s, map[any]bool{}) {
		verify = fmt.Sprintf("if (verify && rc >= 0) {\n        rc = %s_verify(p, n%s, &err);\n    }", g.tag(s.Name), pass(s.Params))
	}
	p.text(g.fill(rootText, "TAG", g.tag(s.Name), "NAME", s.Name.C, "VERIFY", verify, "LOCALS", g.dumpLocals(s),
		"ARGS", passed(s), "WITHSUMS", pass(s.Params), "LINT", g.dumpLint(s)))
	p.line("")
}

const rootText = `
static void root_NAME(bool verify, const uint8_t *buf, size_t n)
{
    static struct TAG v;
    uint8_t *p = (uint8_t *)keep(n);
    uint8_t *q;
    struct mr_err err;
    int32_t rc, again, cap;
LOCALS
    if (n > 0) {
        memcpy(p, buf, n);
    }
    memset(&v, 0xa5, sizeof v);
    rc = TAG_validate(p, nARGS, &err);
    if (TAG_unpack(&v, p, nARGS) != rc) {
        printf("unpack and validate differ\n");
    }
    VERIFY
    if (rc < 0) {
        if (err.code != rc) {
            printf("err differs from the result\n");
        }
        printf("error %s %lu %s\n", mr_error_name(rc), (unsigned long)err.off, mr_field_name(err.field));
        return;
    }
    printf("ok %ld\n", (long)rc);
    dump_NAME(&v, 0ARGS);
LINT    q = (uint8_t *)keep((size_t)rc);
    again = TAG_pack(&v, q, (size_t)rcWITHSUMS);
    hex("pack", q, again);
    for (cap = 0; again > 0 && cap < again; cap += cap < 64 || again - cap < 16 ? 1 : 97) {
        uint8_t *small = (uint8_t *)malloc((size_t)cap + (cap == 0));
        if (TAG_pack(&v, small, (size_t)capWITHSUMS) != -MR_E_CAPACITY) {
            printf("pack into %ld bytes\n", (long)cap);
        }
        free(small);
    }
    own_NAME(&vARGS);
    memset(q, 0x5a, (size_t)rc);
    hex("rebuild", q, TAG_pack(&v, q, (size_t)rcWITHSUMS));
}
`
