// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"fmt"
	"slices"
	"strings"
)

// shape is a form of TLV elements.
type shape struct {
	head, key, length string
	tuple             bool // the key has two parts
	bare              bool // the key is one byte and comes first
	top               int  // largest number of the key's first part
}

var shapes = []shape{
	{"type : u8; len : u8;", "type", "len", false, true, 255},
	{"type : u16; len : u16;", "type", "len", false, false, 65535},
	{"len : u8; type : u8;", "type", "len", false, false, 255},
	{"type : u8; len : u8 in 2..255;", "type", "len - 2", false, true, 255},
	{"type : u8; _ : rsvd 3 zero; len : u5;", "type", "len * 4", false, true, 255},
	{"critical : bit; type : u7; len : u8;", "type", "len", false, false, 127},
	{"class : u16; type : u7; critical : bit; len : u8;", "class, type", "len * 2", true, false, 65535},
}

// list declares a TLV list with all of its policies.
func (d *drawer) list() {
	s := pick(d, shapes)
	l := list{name: fmt.Sprintf("List%d", len(d.lists))}
	if d.rarely(4) {
		l.params = []field{{path: "strict", bits: 8, hi: 255}}
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("head { %s }\nkey %s;\nlength %s;", s.head, s.key, s.length)
	if d.rarely(3) {
		line("element align %d;", pick(d, []int{2, 4, 8}))
	}
	first := 0
	if s.bare && d.rarely(2) {
		line("bare 0 => end;")
		if first = 1; d.rarely(2) {
			line("bare 1..%d => nop;", 1+d.upTo(1))
			first = 3
		}
		if d.rarely(2) {
			line("align %d%s;", pick(d, []int{2, 4}), pick(d, []string{"", " fill ignore", " fill 0"}))
		}
	}
	order := pick(d, []string{"any", "any", "any", "ascending", "ascending", "strict"})
	line("order %s;", order)
	line("unknown %s;", d.unknown(s, l.params))
	key := first
	for i := range 1 + d.upTo(4) {
		key += d.upTo(3)
		if key+4 > s.top {
			break
		}
		line("%s", d.element(s, i, key, l.params))
		key += 4
	}
	d.declare("tlv %s%s max %d {\n%s}", l.name, params(l.params), 40+d.upTo(200), b.String())
	d.lists = append(d.lists, l)
}

// unknown draws what happens to elements without a case.
func (d *drawer) unknown(s shape, params []field) string {
	conds := []string{"type < 9", "type % 2 == 0", "len != 1"}
	if strings.Contains(s.head, "critical") {
		conds = append(conds, "!critical")
	}
	if params != nil {
		conds = append(conds, "strict == 0", "type > strict")
	}
	own := pick(d, []string{"", " " + d.codes[0]})
	return pick(d, []string{"skip", "reject" + own, "skip if " + pick(d, conds) + " else reject" + own})
}

// element draws one case.
func (d *drawer) element(s shape, i, key int, params []field) string {
	keys := fmt.Sprint(key)
	if s.tuple {
		keys = fmt.Sprintf("(%d, %d)", key, d.upTo(3))
		if d.rarely(3) {
			keys = fmt.Sprintf("(%d..%d, 0..127)", key, key+1)
		}
	} else if d.rarely(4) {
		keys = pick(d, []string{fmt.Sprintf("%d..%d", key, key+2), fmt.Sprintf("%d, %d", key, key+2)})
	}
	layout := "nothing"
	switch d.upTo(7) {
	case 7:
		for _, h := range d.headers {
			if len(h.params) <= len(params) && h.names["type"]+h.names["class"]+h.names["critical"] == 0 {
				layout = h.name + strings.Repeat("(strict)", len(h.params))
			}
		}
	case 6, 5:
		b := &body{d: d, depth: 2, names: map[string]int{"type": 1, "len": 1, "class": 1, "critical": 1}, room: true, fields: slices.Clone(params)}
		b.fill(d.upTo(2))
		layout = "{\n" + b.text() + "}"
	case 4:
		layout = pick(d, []string{"u32", "u16", "i8", "bits<32>"})
	case 3:
		layout = pick(d, []string{"bytes[..]", "string[..]", "u16[..]", "string[..] in 1..9"})
	case 2:
		layout = "{ left, right : u32 serial; }"
	}
	return fmt.Sprintf("%s => case_%d : %s%s;", keys, i, layout, pick(d, []string{"", "", " unique", " required"}))
}
