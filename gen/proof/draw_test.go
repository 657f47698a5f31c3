// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// drawer draws one schema. Its random choices shrink towards what is simple: no clause, few items, no nesting.
type drawer struct {
	t        *rapid.T
	name     string // of the package and the C prefix
	decls    []string
	consts   []field
	codes    []string
	enums    []enum
	sums     []string // names of checksums, by width
	headers  []header
	lists    []list
	pseudos  []string // fixed headers that a checksum may take as a parameter
	little   bool
	versions bool // fields of packets may depend on a version
}

// enum is one declared enum.
type enum struct {
	name    string
	bits    int
	closed  bool
	varies  bool     // a member is not in all versions: only where the version is known
	members []string // that name one number
	labels  []string // all of them
}

// header is one declared header.
type header struct {
	name   string
	params []field
	fields []field // numbers and flags that are always there
	names  map[string]int
	least  int // bytes
	fixed  bool
	greedy bool
}

// list is one declared TLV list.
type list struct {
	name   string
	params []field
}

// upTo draws a number from 0 to n.
func (d *drawer) upTo(n int) int { return rapid.IntRange(0, n).Draw(d.t, "n") }

// between draws a number from a to b.
func (d *drawer) between(a, b int64) int64 { return rapid.Int64Range(a, b).Draw(d.t, "n") }

// rarely is true one time in n.
func (d *drawer) rarely(n int) bool { return d.upTo(n-1) == n-1 }

func pick[T any](d *drawer, from []T) T { return from[d.upTo(len(from)-1)] }

// docs are comments that a backend must keep from ending its own.
var docs = []string{"plain words", "ends */ a comment", "/* begins one", "a \\ at the end \\", `"quotes" and %d`, "]] and ]=] --", "tabs\tand ünïcode", "// slashes"}

// declare adds a declaration, now and then with documentation.
func (d *drawer) declare(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if d.rarely(5) {
		text = "/// " + pick(d, docs) + "\n" + text
	}
	d.decls = append(d.decls, text)
}

// schemas draws whole schema texts.
func schemas(name string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string { return drawSchema(t, name) })
}

func drawSchema(t *rapid.T, name string) string {
	d := &drawer{t: t, name: name}
	d.little = d.rarely(3)
	d.basics()
	for range d.upTo(3) {
		d.header()
	}
	for range d.upTo(1) {
		d.list()
	}
	for range d.upTo(2) {
		d.header()
	}
	for range 1 + d.upTo(1) {
		d.packet()
	}
	head := fmt.Sprintf("edition 1;\npackage proof.%s;\nbyteorder %s;\nbitorder msb;\n", name, map[bool]string{false: "big", true: "little"}[d.little])
	order := rapid.Permutation(d.decls).Draw(t, "order")
	return head + fmt.Sprintf("option c { prefix = %q; }\n", name) + strings.Join(order, "\n") + "\n"
}

// basics declares what the layouts use: constants, codes, enums and checksums.
func (d *drawer) basics() {
	for i := range d.upTo(2) {
		n := d.between(0, 300)
		d.declare("const Const%d = %s;", i, literal(d, n))
		d.consts = append(d.consts, field{path: fmt.Sprintf("Const%d", i), lo: n, hi: n})
	}
	for i := range 1 + d.upTo(1) {
		d.declare("error E_OWN%d = %d %q;", i, 64+i*100, "own \"code\"")
		d.codes = append(d.codes, fmt.Sprintf("E_OWN%d", i))
	}
	d.versions = d.rarely(4)
	for i := range d.upTo(3) {
		d.enum(fmt.Sprintf("Enum%d", i))
	}
	d.declare("crc Crc32c : u32 { width 32; poly 0x1edc6f41; init 0xffffffff; reflect in out; xorout 0xffffffff; check 0xe3069283; order %s; }",
		pick(d, []string{"big", "little"}))
	d.declare("crc Crc16 : u16 { width 16; poly 0x1021; init 0xffff; xorout 0; check 0x29b1; order %s; }", pick(d, []string{"big", "little"}))
	d.declare("crc Crc8 : u8 { width 8; poly 7; init 0; xorout 0; check 0xf4; order big; }")
	d.declare("crc Crc24 : u24 { width 24; poly 0x864cfb; init 0xb704ce; xorout 0; check 0x21cf02; order big; }")
	d.declare("sum Inet : u16 { algorithm ones_complement; width 16; check 0xf62a; }")
	d.declare("sum Fletcher : u16 { algorithm fletcher; width 16; check 0x1ede; }")
	d.declare("sum Bytes : u8 { algorithm sum8; width 8; check 0xdd; }")
	d.declare("sum Parity : u8 { algorithm xor8; width 8; check 0x31; }")
	d.sums = []string{"Crc32c", "Crc16", "Crc8", "Crc24", "Inet", "Fletcher", "Bytes", "Parity"}
	d.pseudoHeaders()
}

// pseudoHeaders declares the versions, and what checksums take as a parameter.
func (d *drawer) pseudoHeaders() {
	if d.versions {
		d.declare("header Ver { version : u4 in 1..3; kind : u4; }\nversions 1..3 by Ver.version;")
	}
	d.declare("header Pseudo0 { a : u16; b : u32; }")
	d.declare("header Pseudo1 { b : u64; c : u8; d : u8; }")
	d.pseudos = []string{"Pseudo0", "Pseudo1"}
}

// literal writes a number in one of the ways.
func literal(d *drawer, n int64) string {
	if n < 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf(pick(d, []string{"%d", "%#x", "%#b"}), n)
}

func (d *drawer) enum(name string) {
	e := enum{name: name, bits: pick(d, []int{8, 4, 3, 16, 6, 2}), closed: d.rarely(3)}
	policy := map[bool]string{true: "closed", false: "open"}[e.closed]
	var b strings.Builder
	fmt.Fprintf(&b, "enum %s : u%d %s {", name, e.bits, policy)
	next := int64(0)
	top := int64(1)<<e.bits - 1
	for i := range 2 + d.upTo(2) {
		next += d.between(0, 3)
		if next > top {
			break
		}
		last := next
		if d.rarely(5) {
			last = min(top, next+d.between(1, 9))
		}
		member := fmt.Sprintf("M%d", i)
		if e.labels = append(e.labels, member); last == next {
			e.members = append(e.members, member)
			fmt.Fprintf(&b, " %s = %s%s;", member, literal(d, next), e.since(d))
		} else {
			fmt.Fprintf(&b, " %s = %d..%d;", member, next, last)
		}
		next = last + 1
	}
	if next < top && d.rarely(4) {
		fmt.Fprintf(&b, " reserved %d..%d, \"Gone\";", next, next)
	}
	if len(e.members) == 0 {
		return
	}
	d.declare("%s }", b.String())
	d.enums = append(d.enums, e)
}

// since sometimes takes a member away from a version.
func (e *enum) since(d *drawer) string {
	if !d.versions || len(e.members) < 2 || !d.rarely(3) {
		return ""
	}
	e.varies = true
	return fmt.Sprintf(" %s %d", pick(d, []string{"since", "until"}), 2+d.upTo(1))
}

// header declares a header with parameters now and then.
func (d *drawer) header() {
	name := fmt.Sprintf("Head%d", len(d.headers))
	b := &body{d: d, depth: 1, names: map[string]int{}}
	h := header{name: name, names: b.names}
	if d.rarely(4) {
		h.params = append(h.params, field{path: "p", bits: 8, hi: 255})
		b.names["p"] = 1
	}
	b.fields = append(b.fields, h.params...)
	own := len(b.fields)
	h.fixed = !d.rarely(2)
	b.fixed, b.room = h.fixed, !h.fixed && d.rarely(4)
	tail := b.sized(name)
	b.fill(1 + d.upTo(4))
	b.partSum()
	h.greedy, h.least = b.greedy && tail == "", b.least
	for _, f := range b.fields[own:] {
		if f.kind == number && f.bits > 0 && !f.signed {
			h.fields = append(h.fields, f)
		}
	}
	h.fixed = h.fixed && tail == "" && len(h.params) == 0
	d.declare("header %s%s%s {\n%s}", name, params(h.params), tail, b.text())
	d.headers = append(d.headers, h)
	if h.fixed && d.rarely(2) {
		d.declare("assert minsize(%s) == %d && maxsize(%s) == %d;", name, b.least, name, b.least)
	}
}

func params(list []field) string {
	var out []string
	for _, p := range list {
		out = append(out, fmt.Sprintf("%s : u%d", p.path, p.bits))
	}
	if out == nil {
		return ""
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// packet declares a packet.
func (d *drawer) packet() {
	name := fmt.Sprintf("Pack%d", strings.Count(strings.Join(d.decls, "\n"), "packet Pack"))
	b := &body{d: d, names: map[string]int{}, room: true}
	var ps []string
	if d.rarely(5) {
		ps = append(ps, fmt.Sprintf("p : u8 = %d", d.upTo(255)))
		b.names["p"] = 1
		b.fields = append(b.fields, field{path: "p", bits: 8, hi: 255})
	}
	pseudo := ""
	if d.rarely(5) {
		pseudo = "pseudo"
		ps = append(ps, "pseudo : "+strings.Join(d.pseudos[:1+d.upTo(1)], " | "))
	}
	if d.versions {
		b.line("ver : Ver;")
		b.least++
		b.fields = append(b.fields, field{path: "ver.kind", bits: 4, hi: 15})
	}
	tail := b.sized(name)
	b.fill(1 + d.upTo(6))
	if ahead := b.checksum(pseudo); !ahead && d.rarely(3) {
		b.line("%s : %s over before;", b.name(), pick(d, d.sums)) // covers the first one
		b.least += 4
	}
	if b.greedy && tail == "" || d.rarely(8) {
		tail += fmt.Sprintf(" max %d", 150+d.upTo(1350))
	}
	head := ""
	if ps != nil {
		head = "(" + strings.Join(ps, ", ") + ")"
	}
	d.declare("packet %s%s%s {\n%s}", name, head, tail, b.text())
}
