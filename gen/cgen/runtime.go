// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// headerTop opens the header: includes and the macros that users may override.
const headerTop = `
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
#define MR_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define MR_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

/* Copy and clear bytes. Define both to use other means, or MR_PORTABLE to use loops. */
#ifndef MR_MEMCPY
#if (defined(__GNUC__) || defined(__clang__)) && !defined(MR_PORTABLE)
#define MR_MEMCPY(to, from, n) ((void)__builtin_memcpy((to), (from), (n)))
#define MR_MEMZERO(to, n) ((void)__builtin_memset((to), 0, (n)))
#else
#define MR_MEMCPY(to, from, n) mr_copy((to), (from), (n))
#define MR_MEMZERO(to, n) mr_clear((to), (n))
static inline void mr_copy(void *to, const void *from, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        ((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
    }
}
static inline void mr_clear(void *to, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        ((unsigned char *)to)[i] = 0;
    }
}
#endif
#endif

`

// headerValues declares the types that all structs share.
const headerValues = `
/** Where and why bytes were refused. */
struct mr_err {
    int32_t code;   /**< negative, as returned; 0 = none */
    uint32_t off;   /**< byte of the input at which the field starts */
    uint16_t field; /**< an enum mr_field */
};

/** Bytes of the input, or, to pack, of the caller. */
struct mr_bytes {
    const uint8_t *p;
    size_t len;
};

`

const headerSerial = `
/* Serial numbers in the sense of RFC 1982, of 1 to 64 bits. */

/** a + n on a circle of so many bits; n may be negative. */
static inline uint64_t mr_serial_add(uint64_t a, int64_t n, unsigned bits)
{
    return (a + (uint64_t)n) & (UINT64_MAX >> (64u - bits));
}

/** The signed distance a - b along the shorter way. Half the circle counts as negative. */
static inline int64_t mr_serial_diff(uint64_t a, uint64_t b, unsigned bits)
{
    const uint64_t half = UINT64_C(1) << (bits - 1u);
    const uint64_t d = (a - b) & (UINT64_MAX >> (64u - bits));

    return d < half ? (int64_t)d : -(int64_t)(half - (d - half) - 1u) - 1;
}

/** Whether a comes before b. */
static inline bool mr_serial_less(uint64_t a, uint64_t b, unsigned bits)
{
    return mr_serial_diff(a, b, bits) < 0;
}
`

// wordAccess prints the loads and stores of 2 to 8 bytes.
func (g *generator) wordAccess(p *printer) {
	p.line("/* Words of 2 to 8 bytes at any address, most significant byte first. Compilers turn them into one load or store. */")
	p.line("")
	for n := 2; n <= 8; n++ {
		g.wordFunctions(p, n, "")
	}
	if g.anyScalar(little) {
		p.line("/* The same, least significant byte first. */")
		p.line("")
		for n := 2; n <= 8; n++ {
			g.wordFunctions(p, n, "le")
		}
	}
	if g.anyScalar(func(s *gen.Scalar) bool { return s.Signed }) {
		p.text(g.fill(`
/** The number that the low bits of v are in two's complement. */
static inline int64_t mr_sign(uint64_t v, unsigned bits)
{
    const uint64_t half = UINT64_C(1) << (bits - 1u);

    v &= UINT64_MAX >> (64u - bits);
    return v < half ? (int64_t)v : -(int64_t)(half - (v - half) - 1u) - 1;
}
`))
		p.line("")
	}
}

func (g *generator) anyScalar(f func(*gen.Scalar) bool) bool {
	for _, s := range g.structs {
		for _, it := range s.Items {
			if it.Scalar != nil && f(it.Scalar) || it.Array != nil && it.Array.Scalar != nil && f(it.Array.Scalar) {
				return true
			}
		}
	}
	return false
}

// wordFunctions prints load and store of n bytes.
func (g *generator) wordFunctions(p *printer, n int, order string) {
	size := width(n * 8)
	typ, word := fmt.Sprintf("uint%d_t", size), "uint32_t"
	if n > 4 {
		word = "uint64_t"
	}
	terms, stores := make([]string, n), make([]string, n)
	for i := range n {
		shift := 8 * (n - 1 - i)
		if order == "le" {
			shift = 8 * i
		}
		terms[i] = fmt.Sprintf("(%s)p[%d]", word, i)
		stores[i] = "p[" + fmt.Sprint(i) + "] = (uint8_t)v;"
		if shift > 0 {
			terms[i] = fmt.Sprintf("(%s << %d)", terms[i], shift)
			stores[i] = fmt.Sprintf("p[%d] = (uint8_t)(v >> %d);", i, shift)
		}
	}
	text := strings.Join(terms, " | ")
	if typ != word {
		text = fmt.Sprintf("(%s)(%s)", typ, text)
	}
	p.line("static inline %s %sload%d%s(const uint8_t *p)", typ, g.pfx, n*8, order)
	p.line("{")
	p.buf.WriteString("    return " + wrapTerms(text) + ";\n")
	p.line("}")
	p.line("")
	p.line("static inline void %sstore%d%s(uint8_t *p, %s v)", g.pfx, n*8, order, typ)
	p.line("{")
	for _, s := range stores {
		p.line("%s", s)
	}
	p.line("}")
	p.line("")
}

// wrapTerms puts at most four terms of a disjunction on a line.
func wrapTerms(text string) string {
	parts := strings.Split(text, " | ")
	var b strings.Builder
	for i, t := range parts {
		if i > 0 {
			b.WriteString(" |")
			if i%4 == 0 {
				b.WriteString("\n        ")
			} else {
				b.WriteString(" ")
			}
		}
		b.WriteString(t)
	}
	return b.String()
}

// vector prints the type of bits<N> and its functions.
func (g *generator) vector(p *printer, bits int) {
	words := (bits + 63) / 64
	load, store := "mr_load64(p + 8u * i)", vectorWords
	if bits%64 != 0 { // the last word is not whole
		load, store = "0", vectorRest
	}
	text := strings.Replace(vectorText, "STORE", store, 1)
	if bits%64 != 0 {
		text = strings.Replace(text, "    return b;", vectorLoadRest, 1)
	}
	text = g.fill(strings.Replace(text, "LOAD", load, 1))
	p.text(strings.NewReplacer("BITS", fmt.Sprint(bits), "WORDS", fmt.Sprint(words), "BYTES", fmt.Sprint(bits/8)).Replace(text))
	p.line("")
}

// How the words of a vector reach the wire: whole words, or byte by byte.
const (
	vectorWords = `    for (i = 0; i < WORDSu; i++) {
        mr_store64(p + 8u * i, b->w[i]);
    }`
	vectorRest = `    for (i = 0; i < BYTESu; i++) {
        p[i] = (uint8_t)(b->w[i / 8u] >> (56u - 8u * (i % 8u)));
    }`
	vectorLoadRest = `    for (i = 0; i < BYTESu; i++) {
        b.w[i / 8u] |= (uint64_t)p[i] << (56u - 8u * (i % 8u));
    }
    return b;`
)

const vectorText = `
/** BITS bits. On the wire bit i lies in byte i/8 under the mask 0x80 >> i%8, here at bit 63 - i%64 of w[i/64]. */
struct mr_bitsBITS {
    uint64_t w[WORDS];
};
MR_STATIC_ASSERT(sizeof(struct mr_bitsBITS) == WORDS * 8u, "no padding in words");

/** Whether bit i is set; false beyond the end. */
static inline bool mr_bitsBITS_test(const struct mr_bitsBITS *b, size_t i)
{
    return i < BITSu && (b->w[i / 64u] >> (63u - i % 64u) & 1u) != 0u;
}

/** Sets bit i; nothing beyond the end. */
static inline void mr_bitsBITS_set(struct mr_bitsBITS *b, size_t i)
{
    if (i < BITSu) {
        b->w[i / 64u] |= UINT64_C(1) << (63u - i % 64u);
    }
}

/** Clears bit i; nothing beyond the end. */
static inline void mr_bitsBITS_clear(struct mr_bitsBITS *b, size_t i)
{
    if (i < BITSu) {
        b->w[i / 64u] &= ~(UINT64_C(1) << (63u - i % 64u));
    }
}

/** Whether a bit is set. */
static inline bool mr_bitsBITS_any(const struct mr_bitsBITS *b)
{
    uint64_t all = 0;
    size_t i;

    for (i = 0; i < WORDSu; i++) {
        all |= b->w[i];
    }
    return all != 0u;
}

/** How many bits are set. */
static inline int mr_bitsBITS_count(const struct mr_bitsBITS *b)
{
    int n = 0;
    size_t i;

    for (i = 0; i < WORDSu; i++) {
        uint64_t w = b->w[i];

        for (; w != 0u; w &= w - 1u) {
            n++;
        }
    }
    return n;
}

/** The first set bit from bit i on, or -1. */
static inline int mr_bitsBITS_next(const struct mr_bitsBITS *b, size_t i)
{
    while (i < BITSu) {
        uint64_t w = b->w[i / 64u] << (i % 64u);

        if (w != 0u) {
            for (; (w >> 63) == 0u; w <<= 1) {
                i++;
            }
            return (int)i;
        }
        i += 64u - i % 64u;
    }
    return -1;
}

/** The first set bit, or -1. */
static inline int mr_bitsBITS_first(const struct mr_bitsBITS *b)
{
    return mr_bitsBITS_next(b, 0);
}

/** Reads BYTES bytes. */
static inline struct mr_bitsBITS mr_bitsBITS_load(const uint8_t *p)
{
    struct mr_bitsBITS b;
    size_t i;

    for (i = 0; i < WORDSu; i++) {
        b.w[i] = LOAD;
    }
    return b;
}

/** Writes BYTES bytes. */
static inline void mr_bitsBITS_store(uint8_t *p, const struct mr_bitsBITS *b)
{
    size_t i;

STORE
}
`
