// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"

	"github.com/openmetaroce/metaroce/gen"
)

// source prints the one source file.
func (g *generator) source() []byte {
	body := &printer{}
	g.sumSources(body)
	for _, o := range g.order {
		if l, ok := o.(*gen.List); ok {
			g.tlv(body, l)
			continue
		}
		g.structSource(body, o.(*gen.Struct))
	}
	g.nameSources(body)
	p := &printer{}
	g.opening(p)
	p.line("#include \"%s\"", g.include)
	p.line("")
	p.text(g.fill(sourceTypes))
	p.line("")
	for _, r := range runtimeParts {
		p.static(r.name, func() {
			p.text(g.fill(r.text))
			p.line("")
		})
	}
	p.buf.Write(body.buf.Bytes())
	return []byte(prune(p.buf.String()))
}

const sourceTypes = `
/* A read under way. */
struct in {
    const uint8_t *buf;   /* start of the outermost container */
    size_t off;           /* next byte */
    size_t end;           /* end of the container being read */
    struct mr_err *err;   /* set when a read fails */
    struct mr_err *sum;   /* verify: the first wrong checksum; NULL = do not look */
};

/* A write under way. */
struct out {
    uint8_t *buf;
    size_t off;
    size_t cap;
};
`

// runtimeParts are the static functions that all structs share.
var runtimeParts = []struct{ name, text string }{
	{"fail", `
static int32_t fail(const struct in *in, int32_t code, size_t off, uint16_t field)
{
    in->err->code = -code;
    in->err->off = (uint32_t)off;
    in->err->field = field;
    return -code;
}
`},
	{"blame", `
/* Passes on the error rc of a nested read; it stands at field unless it has a place of its own. */
static int32_t blame(const struct in *in, int32_t rc, uint16_t field)
{
    if (in->err->field == MR_FIELD_NONE) {
        in->err->field = field;
    }
    return rc;
}
`},
	{"wrong_sum", `
static void wrong_sum(const struct in *in, size_t off, uint16_t field)
{
    if (in->sum->code == 0) {
        in->sum->code = -MR_E_CHECKSUM;
        in->sum->off = (uint32_t)off;
        in->sum->field = field;
    }
}
`},
	{"first_wrong_sum", `
/* Checksums are not compared in the order in which they stand. */
static void first_wrong_sum(const struct in *in, size_t off, uint16_t field)
{
    if (in->sum->code == 0 || off < in->sum->off) {
        in->sum->code = -MR_E_CHECKSUM;
        in->sum->off = (uint32_t)off;
        in->sum->field = field;
    }
}
`},
	{"input", `
static struct in input(const uint8_t *buf, size_t len, struct mr_err *err)
{
    struct in in;

    in.buf = buf;
    in.off = 0;
    in.end = len;
    in.err = err;
    in.sum = NULL;
    err->code = 0;
    err->off = 0;
    err->field = MR_FIELD_NONE;
    return in;
}
`},
	{"is_zero", `
static bool is_zero(const uint8_t *p, size_t n)
{
    uint8_t all = 0;
    size_t i;

    for (i = 0; i < n; i++) {
        all = (uint8_t)(all | p[i]);
    }
    return all == 0u;
}
`},
	{"is_all", `
static bool is_all(const uint8_t *p, uint8_t c, size_t n)
{
    size_t i = 0;

    while (i < n && p[i] == c) {
        i++;
    }
    return i == n;
}
`},
	{"is_ascii", `
static bool is_ascii(const uint8_t *p, size_t n)
{
    size_t i = 0;

    while (i < n && p[i] < 0x80u) {
        i++;
    }
    return i == n;
}
`},
	{"is_padded", `
/* Nothing but NULs follows the first NUL. */
static bool is_padded(const uint8_t *p, size_t n)
{
    size_t i = 0;

    while (i < n && p[i] != 0u) {
        i++;
    }
    while (i < n && p[i] == 0u) {
        i++;
    }
    return i == n;
}
`},
	{"is_utf8", `
/* RFC 3629: shortest form, no surrogates, at most U+10FFFF. */
static bool is_utf8(const uint8_t *p, size_t n)
{
    size_t i = 0;

    while (i < n) {
        const uint8_t c = p[i];
        size_t more = 0;
        uint8_t low = 0x80, high = 0xbf; /* bounds of the second byte */

        if (c >= 0xc2u && c <= 0xdfu) {
            more = 1;
        } else if ((c & 0xf0u) == 0xe0u) {
            more = 2;
            low = c == 0xe0u ? 0xa0 : 0x80;
            high = c == 0xedu ? 0x9f : 0xbf;
        } else if (c >= 0xf0u && c <= 0xf4u) {
            more = 3;
            low = c == 0xf0u ? 0x90 : 0x80;
            high = c == 0xf4u ? 0x8f : 0xbf;
        } else if (c >= 0x80u) {
            return false;
        }
        if (more > n - i - 1u) {
            return false;
        }
        for (i++; more > 0; more--, i++) {
            if (p[i] < low || p[i] > high) {
                return false;
            }
            low = 0x80;
            high = 0xbf;
        }
    }
    return true;
}
`},
	{"put", `
static void put(uint8_t *to, const uint8_t *from, size_t n)
{
    if (n > 0) {
        MR_MEMCPY(to, from, n);
    }
}
`},
}

// structSource prints all functions of one struct.
func (g *generator) structSource(p *printer, s *gen.Struct) {
	p.line("/* ---- %s ---- */", s.Name.Schema)
	p.line("")
	if s.FixedSize && len(s.Steps) > 0 {
		p.static("load_"+s.Name.C, func() { g.loads(p, s) })
		p.static("store_"+s.Name.C, func() { g.stores(p, s) })
	}
	g.sumFunctions(p, s)
	p.static("read_"+s.Name.C, func() { g.read(p, s) })
	p.static("write_"+s.Name.C, func() { g.write(p, s) })
	g.initSource(p, s)
	if !g.synthetic(s) {
		g.publicSource(p, s)
	}
	if g.arrays[s] {
		g.listSource(p, s)
	}
	for _, it := range s.Items {
		if it.Kind == gen.KindArray && it.Array.Scalar != nil {
			g.scalarListSource(p, it)
		}
	}
}

func (g *generator) initSource(p *printer, s *gen.Struct) {
	p.line("void %s_init(struct %s *out)", g.tag(s.Name), g.tag(s.Name))
	p.line("{")
	p.line("%sMEMZERO(out, sizeof *out);", g.upper)
	for _, it := range s.Items {
		sc := it.Scalar
		switch {
		case it.Kind == gen.KindStruct && stored(it):
			p.line("%s_init(&out->%s);", g.tag(it.Struct.Name), it.Name.C)
		case sc == nil || !stored(it):
		case sc.Fixed != nil || sc.Default != 0:
			n := sc.Default
			if sc.Fixed != nil {
				n = *sc.Fixed
			}
			p.line("out->%s = %s;", it.Name.C, g.initial(sc, n))
		}
	}
	p.line("}")
	p.line("")
}

func (g *generator) initial(sc *gen.Scalar, n uint64) string {
	switch {
	case sc.Flag:
		return fmt.Sprint(n != 0)
	case sc.Signed:
		shift := 64 - uint(sc.Bits)
		return fmt.Sprintf("(%s)INT64_C(%d)", g.scalarType(sc), int64(n<<shift)>>shift)
	case sc.Enum != nil:
		if name := g.memberConst(sc.Enum, n); name != "" {
			return name
		}
	}
	return constFor(n)
}

func (g *generator) publicSource(p *printer, s *gen.Struct) {
	sum := g.hasSum(s, map[any]bool{})
	text := publicText
	if sum {
		text += verifyText
	}
	p.text(g.fill(text, "TAG", g.tag(s.Name), "NAME", s.Name.C, "PARAMS", g.params(s), "ARGS", passed(s), "PLUSSUMS", g.allParams(s),
		"WITHSUMS", pass(s.Params), "NOSUMS", unsummed(s)))
	p.line("")
	g.lintSource(p, s)
}

// publicText is the public face of a struct. Lengths above INT32_MAX could not be returned.
const publicText = `
static int32_t root_NAME(struct TAG *out, struct in *inPLUSSUMS)
{
    int32_t rc;

    if (in->end > INT32_MAX) {
        return fail(in, MR_E_SIZE, 0, MR_FIELD_NONE);
    }
    rc = read_NAME(out, inWITHSUMS);
    return rc < 0 ? rc : (int32_t)in->off;
}

int32_t TAG_unpack(struct TAG *out, const uint8_t *buf, size_t lenPARAMS)
{
    struct mr_err err;
    struct in in = input(buf, len, &err);

    return root_NAME(out, &inNOSUMS);
}

int32_t TAG_validate(const uint8_t *buf, size_t lenPARAMS, struct mr_err *err)
{
    struct TAG out;
    struct mr_err unasked;
    struct in in = input(buf, len, err != NULL ? err : &unasked);

    return root_NAME(&out, &inNOSUMS);
}

int32_t TAG_pack(const struct TAG *in, uint8_t *buf, size_t capPLUSSUMS)
{
    struct out o;
    int32_t rc;

    o.buf = buf;
    o.off = 0;
    o.cap = cap < INT32_MAX ? cap : INT32_MAX;
    rc = write_NAME(in, &oWITHSUMS);
#ifndef MR_PACK_UNCHECKED
    if (rc == 0) {
        rc = TAG_validate(buf, o.offARGS, NULL);
    }
#endif
    return rc < 0 ? rc : (int32_t)o.off;
}
`

const verifyText = `
int32_t TAG_verify(const uint8_t *buf, size_t lenPLUSSUMS, struct mr_err *err)
{
    struct TAG out;
    struct mr_err unasked;
    struct mr_err sum = {0, 0, MR_FIELD_NONE};
    struct in in = input(buf, len, err != NULL ? err : &unasked);
    int32_t rc;

    in.sum = &sum;
    rc = root_NAME(&out, &inWITHSUMS);
    if (rc >= 0 && sum.code != 0) {
        *in.err = sum;
        return sum.code;
    }
    return rc;
}
`

func (g *generator) listSource(p *printer, s *gen.Struct) {
	text := listText
	if s.FixedSize {
		text += atText
	}
	p.text(g.fill(text, "TAG", g.tag(s.Name), "NAME", s.Name.C, "PARAMS", g.params(s), "ARGS", unsummed(s), "SIZE", fmt.Sprint(s.Min)))
	p.line("")
}

const listText = `
int32_t TAG_next(struct TAG_iter *it, struct TAG *outPARAMS)
{
    struct mr_err err;
    struct in in;
    int32_t rc;

    if (it->list.n == 0) {
        return 0;
    }
    it->list.n--;
    if (it->list.v != NULL) {
        *out = *it->list.v++;
        return 1;
    }
    in = input(it->list.p, it->list.len, &err);
    rc = read_NAME(out, &inARGS);
    it->list.p += in.off;
    it->list.len -= in.off;
    return rc < 0 ? rc : 1;
}
`

const atText = `
int32_t TAG_at(const struct TAG_list *list, size_t i, struct TAG *out)
{
    if (i >= list->n) {
        return -MR_E_SHORT;
    }
    if (list->v != NULL) {
        *out = list->v[i];
        return SIZE;
    }
    if (i >= list->len / SIZEu) {
        return -MR_E_SHORT;
    }
    return TAG_unpack(out, list->p + i * SIZEu, SIZE);
}
`

func (g *generator) scalarListSource(p *printer, it *gen.Item) {
	t := g.tag(it.Owner.Name) + "_" + it.Name.C
	s := it.Array.Scalar
	p.line("%s %s_at(const struct %s_list *list, size_t i)", g.scalarType(s), t, t)
	p.line("{")
	p.line("if (list->v != NULL) {")
	p.line("return list->v[i];")
	p.line("}")
	p.line("return %s;", g.get(s, fmt.Sprintf("(list->p + i * %du)", s.Bits/8), 0))
	p.line("}")
	p.line("")
}
