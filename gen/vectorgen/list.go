// SPDX-License-Identifier: Apache-2.0

package vectorgen

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/openmetaroce/metaroce/gen"
)

// tlvs records lists: each case alone, and every rule broken; once for each list of the schema.
func (g *generator) tlvs(least, most *seed, sh *shape) {
	for _, f := range gen.Fields(most.decoded) {
		if f.Node.Item == nil || f.Node.Item.Kind != gen.KindList {
			continue
		}
		t := &lister{g: g, s: most, l: f.Node.Item.List, path: f.Path, v: f.Node}
		t.pieces()
		if g.lists[t.l] {
			t.ends()
			t.allElements()
			continue
		}
		g.lists[t.l] = true
		t.order()
		t.ends()
		t.heads()
		t.unknowns()
		t.sizes()
		t.allElements()
		g.alone(least, sh)
	}
}

// allElements varies the elements of cases that have not been varied yet.
func (t *lister) allElements() {
	for i, k := range t.v.Kids {
		if k.Case == nil || t.g.cases[k.Case] {
			continue
		}
		t.g.cases[k.Case] = true
		t.each(i)
	}
}

// alone records each case of the lists as the only element.
func (g *generator) alone(least *seed, sh *shape) {
	for _, c := range sh.cases {
		s := &seed{id: least.id + "/" + c.Name.Filter, of: least.of, tree: least.tree.Clone()}
		if s.addElement(c) {
			g.encoded(s)
		}
	}
}

// addElement appends an element to the first list that may hold it.
func (s *seed) addElement(c *gen.Case) bool {
	done := false
	scopes(gen.Scope{Self: s.tree, Args: s.of.args()}, func(sc gen.Scope) {
		for _, k := range sc.Self.Kids {
			if done || k.Item == nil || k.Item.Kind != gen.KindList || !slices.Contains(k.Item.List.Cases, c) {
				continue
			}
			m := &maker{plan: plan{amount: 4}}
			k.Kids = append(k.Kids, m.element(gen.Scope{Self: k, Args: sc.ArgsOf(k)}, c, 0))
			done = true
		}
	})
	return done
}

// lister makes variations of one list in one packet.
type lister struct {
	g        *generator
	s        *seed
	l        *gen.List
	path     string
	v        *gen.Value
	elems    [][]byte
	pre, suf []byte
}

// pieces cuts the packet into elements and what stands around the list.
func (t *lister) pieces() {
	b := t.s.bytes
	t.pre, t.suf = b[:t.v.Off], b[t.v.Off+t.v.Width/8:]
	for _, k := range t.v.Kids {
		t.elems = append(t.elems, b[k.Off:k.Off+k.Width/8])
	}
}

// show records the packet with other contents of its list.
func (t *lister) show(name string, parts ...[]byte) {
	list := slices.Concat(parts...)
	b := slices.Concat(t.pre, list, t.suf)
	t.resize(b, len(list))
	t.g.add(t.s, t.path+":"+name, b)
}

// resize corrects the fields that hold the size of the list and of the packet, as far as they can hold it.
func (t *lister) resize(b []byte, n int) {
	if t.v.Item.Sized == nil && t.s.of.st.Sized == nil {
		return
	}
	set := func(sc gen.Scope, e *gen.Expr, n int, mine func(*gen.Solve) bool) {
		for _, r := range refs(e) {
			v := sc.Resolve(r)
			if v == nil || v.Scalar == nil || v.Scalar.Solve == nil || !mine(v.Scalar.Solve) {
				continue
			}
			if raw := (int64(n) - v.Scalar.Solve.B) / v.Scalar.Solve.A; raw >= 0 && uint64(raw) <= maxOf(v.Scalar.Bits) {
				put(b, v, uint64(raw))
			}
		}
	}
	scopes(gen.Scope{Self: t.s.decoded, Args: t.s.of.args()}, func(sc gen.Scope) {
		if t.v.Item.Sized != nil && sc.Self.Find(t.v.Item) == t.v {
			set(sc, t.v.Item.Sized, n, func(s *gen.Solve) bool { return s.Whole == nil && s.Of.Last() == t.v.Item })
		}
		if st := t.s.of.st; sc.Self == t.s.decoded && st.Sized != nil {
			set(sc, st.Sized, len(b), func(s *gen.Solve) bool { return s.Whole == st })
		}
	})
}

// head encodes an element's head with a raw length.
func (t *lister) head(key, length uint64) []byte {
	b := make([]byte, t.l.Head.Min)
	for _, p := range t.l.Head.Steps[0].(*gen.Run).Parts {
		if p.Item == t.l.Key {
			put(b, &gen.Value{Scalar: p.Item.Scalar, Off: p.Bit / 8, Bit: p.Bit % 8}, key)
		}
	}
	return t.claim(b, length)
}

// claim gives a copy of a head another raw length.
func (t *lister) claim(head []byte, length uint64) []byte {
	b := slices.Clone(head[:t.l.Head.Min])
	for _, p := range t.l.Head.Steps[0].(*gen.Run).Parts {
		if p.Item == t.l.LengthOf {
			put(b, &gen.Value{Scalar: p.Item.Scalar, Off: p.Bit / 8, Bit: p.Bit % 8}, length)
		}
	}
	return b
}

// raw is the length that a head holds for a value of n bytes, rounded down.
func (t *lister) raw(n int) uint64 {
	if t.l.Scale == nil {
		return uint64(n)
	}
	return uint64(max(0, int64(n)-t.l.Scale.B) / t.l.Scale.A)
}

// element encodes a whole element with zeros up to the alignment.
func (t *lister) element(key uint64, value []byte) []byte {
	return t.rebuild(t.head(key, 0), value)
}

// rebuild encodes a whole element with the head of another one.
func (t *lister) rebuild(head, value []byte) []byte {
	b := append(t.claim(head, t.raw(len(value))), value...)
	for t.l.ElementAlign > 1 && len(b)%t.l.ElementAlign != 0 {
		b = append(b, 0)
	}
	return b
}

// order swaps neighbours, turns the list round, and doubles elements in place and at the end.
func (t *lister) order() {
	for i := range t.elems {
		twice := slices.Concat(t.elems[:i+1], t.elems[i:])
		t.show(fmt.Sprintf("twice%d", i), twice...)
		t.show(fmt.Sprintf("without%d", i), slices.Concat(t.elems[:i], t.elems[i+1:])...)
		t.show(fmt.Sprintf("again%d", i), append(slices.Clone(t.elems), t.elems[i])...)
		if i > 0 {
			swapped := slices.Clone(t.elems)
			swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
			t.show(fmt.Sprintf("swap%d", i), swapped...)
		}
	}
	turned := slices.Clone(t.elems)
	slices.Reverse(turned)
	t.show("reversed", turned...)
}

// ends tries the end marker with and without what may follow it.
func (t *lister) ends() {
	if t.l.End == nil {
		return
	}
	all := slices.Concat(t.elems...)
	mark := []byte{byte(*t.l.End)}
	for _, n := range []int{0, 1, 2, 3, 4, 7, 64} {
		t.show(fmt.Sprintf("end+%d", n), all, mark, make([]byte, n))
	}
	t.show("only-end", mark)
	t.show("end-dirty", all, mark, []byte{0, 0, 1})
	t.show("end-dirty-next", all, mark, []byte{1})
	for i, e := range t.elems {
		if i == 0 {
			t.show("end-first", mark, e)
			t.show("end-zeros-element", mark, make([]byte, 3), e)
		}
	}
}

// heads cuts a head short, and sets its reserved bits.
func (t *lister) heads() {
	all := slices.Concat(t.elems...)
	for n := 1; n < t.l.Head.Min; n++ {
		t.show(fmt.Sprintf("head-cut%d", n), all, t.head(maxOf(t.l.Key.Scalar.Bits), 0)[:n])
	}
	if len(t.elems) == 0 {
		return
	}
	for _, p := range t.l.Head.Steps[0].(*gen.Run).Parts {
		if p.Item.Kind != gen.KindReserved {
			continue
		}
		for i := range p.Item.Scalar.Bits {
			e := slices.Clone(t.elems[0])
			put(e, &gen.Value{Scalar: p.Item.Scalar, Off: p.Bit / 8, Bit: p.Bit % 8}, 1<<uint(i))
			t.show(fmt.Sprintf("head-reserved%d", i), slices.Concat([][]byte{e}, t.elems[1:])...)
		}
	}
}

// unknowns puts elements without a case at the front, in order and at the end.
func (t *lister) unknowns() {
	top := maxOf(t.l.Key.Scalar.Bits)
	all := slices.Concat(t.elems...)
	known := func(n uint64) bool {
		keys := make([]uint64, max(1, len(t.l.Keys)))
		keys[0] = n
		return t.l.End != nil && n == *t.l.End || t.l.CaseOf(keys) != nil
	}
	keys := []uint64{0, 1, top, top - 1, top >> 1, top>>1 + 1}
	for _, c := range t.l.Cases {
		keys = append(keys, c.Key-1, c.Key+1)
	}
	slices.Sort(keys)
	for _, n := range slices.Compact(keys) {
		if n > top || known(n) {
			continue
		}
		t.show(fmt.Sprintf("unknown%d-front", n), t.element(n, nil), all)
		t.show(fmt.Sprintf("unknown%d-between", n), t.between(n, t.element(n, []byte{1, 2, 3}))...)
		t.show(fmt.Sprintf("unknown%d-back", n), all, t.element(n, []byte{1, 2, 3}))
		t.show(fmt.Sprintf("unknown%d-only", n), t.element(n, []byte{1}))
		t.show(fmt.Sprintf("unknown%d-twice", n), t.element(n, []byte{1, 2, 3, 4}), t.element(n, []byte{1, 2, 3, 4, 5}))
		t.show(fmt.Sprintf("unknown%d-overrun", n), t.head(n, 5), []byte{1, 2, 3, 4})
		if e := t.element(n, []byte{1}); len(e) > t.l.Head.Min+1 {
			t.show(fmt.Sprintf("unknown%d-padless", n), e[:t.l.Head.Min+1])
			e[len(e)-1] = 1
			t.show(fmt.Sprintf("unknown%d-dirty", n), e)
		}
	}
}

// between puts an element where its key belongs.
func (t *lister) between(key uint64, e []byte) [][]byte {
	i := 0
	for i < len(t.elems) && t.v.Kids[i].Case != nil && t.v.Kids[i].Case.Key < key {
		i++
	}
	return slices.Concat(t.elems[:i], [][]byte{e}, t.elems[i:])
}

// sizes fills the list up to its maximum and beyond.
func (t *lister) sizes() {
	if t.l.Max > 1<<14 {
		return
	}
	t.show("max", make([]byte, t.l.Max))
	t.show("max+1", make([]byte, t.l.Max+1))
}

// each varies one element that stands alone.
func (t *lister) each(i int) {
	c, e := t.v.Kids[i].Case, t.elems[i]
	show := func(name string, parts ...[]byte) { t.show(c.Name.Filter+"-"+name, parts...) }
	n := t.lengthOf(e)
	value, pad := e[t.l.Head.Min:t.l.Head.Min+n], len(e)-t.l.Head.Min-n
	show("only", e)
	show("longer", t.rebuild(e, append(slices.Clone(value), 0)))
	show("longer-zeros", t.rebuild(e, make([]byte, n+1)))
	show("longer-ones", t.rebuild(e, bytes.Repeat([]byte{0xff}, n+1)))
	show("double", t.rebuild(e, slices.Concat(value, value)))
	show("empty", t.rebuild(e, nil))
	for k := 1; k <= min(n, 4); k++ {
		show(fmt.Sprintf("shorter%d", k), t.rebuild(e, value[:n-k]))
	}
	raw, rawPad := t.raw(n), t.raw(n+pad)
	for _, claim := range []uint64{0, raw - 1, raw + 1, rawPad + 1, raw + 8, maxOf(t.l.LengthOf.Scalar.Bits)} {
		if claim <= maxOf(t.l.LengthOf.Scalar.Bits) {
			show(fmt.Sprintf("claims%d", claim), t.claim(e, claim), e[t.l.Head.Min:])
		}
	}
	for k := 1; k < len(e); k++ {
		if k <= t.l.Head.Min || k >= len(e)-4 {
			show(fmt.Sprintf("cut%d", k), e[:k])
		}
	}
	for k := range pad {
		dirty := slices.Clone(e)
		dirty[len(e)-1-k] = 1
		show(fmt.Sprintf("dirty%d", k), dirty)
	}
}

// lengthOf reads the bytes of an element's value from its head.
func (t *lister) lengthOf(e []byte) int {
	n := 0
	for _, p := range t.l.Head.Steps[0].(*gen.Run).Parts {
		if p.Item != t.l.LengthOf {
			continue
		}
		n = int(get(e, &gen.Value{Scalar: p.Item.Scalar, Off: p.Bit / 8, Bit: p.Bit % 8}))
	}
	if t.l.Scale != nil {
		n = int(t.l.Scale.A)*n + int(t.l.Scale.B)
	}
	return n
}
