// SPDX-License-Identifier: Apache-2.0

package gen

import "slices"

// listState is one TLV list in the middle of being decoded.
type listState struct {
	f    *frame
	l    *List
	v    *Value // the list's node
	path string
	stop int
	args map[*Param]*Value // of the list
	prev []uint64          // key of the element before; nil at first
	seen map[*Case]int
}

// element is one TLV.
type element struct {
	at     int // start
	keys   []uint64
	head   *Value
	value  int // start of the value
	length int // of the value, in bytes
	end    int // after the alignment padding
	c      *Case
	path   string // the case's path, the list's when the key is unknown
}

func (f *frame) elements(s *Elements) error {
	ls := &listState{f: f, l: s.Item.List, seen: map[*Case]int{}}
	ls.path = joinPath(f.path, s.Item.Name.Schema)
	ls.v = &Value{Item: s.Item, Off: f.off}
	ls.stop = f.end(s.Reserve, s.Tail)
	if ls.stop < f.off {
		return f.fail(ShortNumber, ls.path, f.off)
	}
	if ls.stop-f.off > ls.l.Max {
		return f.fail(SizeNumber, ls.path, f.off)
	}
	ls.args = f.scope().bind(ls.l.Params, s.Item.Args)
	f.v.Kids = append(f.v.Kids, ls.v)
	for f.off < ls.stop {
		if ls.l.Bare(f.buf[f.off]) {
			f.off++
			continue
		}
		if ls.l.End != nil && uint64(f.buf[f.off]) == *ls.l.End {
			if err := ls.ending(); err != nil {
				return err
			}
			break
		}
		if err := ls.next(); err != nil {
			return err
		}
	}
	ls.v.Width = (f.off - ls.v.Off) * 8
	return ls.missing()
}

// Bare tells whether a byte is an element without length and value.
func (l *List) Bare(key byte) bool {
	return slices.ContainsFunc(l.Bares, func(b *Bare) bool { return b.Keys.First <= uint64(key) && uint64(key) <= b.Keys.Last })
}

// fill is what stands behind the end marker.
func (l *List) fill() Fill {
	if l.Fill == nil {
		return Fill{Align: 1}
	}
	return *l.Fill
}

// ending consumes the end marker and what fills up the list behind it.
func (ls *listState) ending() error {
	at, fill := ls.f.off, ls.l.fill()
	foreign := slices.ContainsFunc(ls.f.buf[at+1:ls.stop], func(c byte) bool { return c != fill.Byte })
	if foreign && !fill.Ignore {
		return ls.f.fail(PaddingNumber, ls.path, at)
	}
	ls.v.Pad = ls.stop - at
	ls.f.off = ls.stop
	return nil
}

func (ls *listState) missing() error {
	for _, c := range ls.l.Cases {
		if c.Required && ls.seen[c] == 0 {
			return ls.f.fail(TLVMissingNumber, casePath(ls.path, c, 0), ls.stop)
		}
	}
	return nil
}

// next decodes one element.
func (ls *listState) next() error {
	f := ls.f
	e := &element{at: f.off, path: ls.path}
	if err := ls.head(e); err != nil {
		return err
	}
	if e.c != nil {
		e.path = casePath(ls.path, e.c, ls.seen[e.c])
		if ls.seen[e.c] > 0 && (e.c.Unique || e.c.Required) {
			return f.fail(TLVDuplicateNumber, e.path, e.at)
		}
	}
	if e.length > ls.stop-e.value || e.end > ls.stop {
		return f.fail(ShortNumber, e.path, e.at)
	}
	k := &Value{Case: e.c, Off: e.at, Width: (e.end - e.at) * 8}
	ls.v.Kids = append(ls.v.Kids, k)
	if e.c == nil {
		k.Bytes = append([]byte{}, f.buf[e.value:e.value+e.length]...)
	} else if err := ls.value(e, k); err != nil {
		return err
	}
	if !allZero(f.buf[e.value+e.length : e.end]) {
		return f.fail(PaddingNumber, e.path, e.at)
	}
	ls.seen[e.c]++
	f.off = e.end
	return nil
}

// head reads the element's head and applies every rule that needs no more than it.
func (ls *listState) head(e *element) error {
	f, l := ls.f, ls.l
	if ls.stop-e.at < l.Head.Min {
		return f.fail(ShortNumber, ls.path, e.at)
	}
	h := &Value{Struct: l.Head, Off: e.at}
	run := l.Head.Steps[0].(*Run)
	f.readParts(h, run.Parts, e.at*8)
	sc := Scope{Self: h}
	for _, c := range run.Checks {
		if !sc.Truth(c.Hold) {
			return &DecodeError{Code: c.code(), Field: ls.path, Off: e.at, Text: c.Text, Rule: c}
		}
	}
	e.head = h
	for _, it := range l.keys() {
		e.keys = append(e.keys, h.Find(it).Num)
	}
	order := slices.Compare(e.keys, ls.prev)
	if l.Ascending && ls.prev != nil && (order < 0 || order == 0 && l.Strict) {
		err := f.fail(TLVOrderNumber, ls.path, e.at)
		err.Got = e.keys[0]
		return err
	}
	ls.prev = e.keys
	e.c = l.CaseOf(e.keys)
	if sc.Args = ls.args; e.c == nil && l.SkipIf != nil && !sc.Truth(l.SkipIf) {
		err := f.fail(TLVUnknownNumber, ls.path, e.at)
		if l.Unknown != nil {
			err.Code = l.Unknown
		}
		err.Got = e.keys[0]
		return err
	}
	e.value = e.at + l.Head.Min
	e.length = sc.Size(l.Length)
	e.end = e.at + l.aligned(l.Head.Min+e.length)
	return nil
}

// aligned rounds the bytes of head and value up to the element's alignment.
func (l *List) aligned(n int) int {
	if l.ElementAlign > 1 {
		n += (l.ElementAlign - n%l.ElementAlign) % l.ElementAlign
	}
	return n
}

// CaseOf finds the element that a key belongs to; nil = unknown.
func (l *List) CaseOf(keys []uint64) *Case {
	for _, c := range l.Cases {
		if c.claims(keys) {
			return c
		}
	}
	return nil
}

func (k *Case) claims(keys []uint64) bool {
	return slices.ContainsFunc(k.tuples(), func(t []Range) bool {
		for i, r := range t {
			if keys[i] < r.First || keys[i] > r.Last {
				return false
			}
		}
		return true
	})
}

// value decodes a known element's value, which must fill its window.
func (ls *listState) value(e *element, k *Value) error {
	f := ls.f
	for _, it := range e.c.Head {
		k.Kids = append(k.Kids, e.head.Find(it))
	}
	if e.c.Struct == nil {
		if e.length != 0 {
			return ls.misfit(e)
		}
		return nil
	}
	// The node's own place is the element; the rules of the value count from the value.
	v := &Value{Struct: e.c.Struct, Off: e.value}
	sub := &frame{buf: f.buf, v: v, st: e.c.Struct, path: e.path, off: e.value, stop: e.value + e.length}
	sub.args = Scope{Args: ls.args}.Bind(sub.st, e.c.Args)
	err := f.within(sub)
	k.Struct, k.Kids = v.Struct, append(k.Kids, v.Kids...)
	if asShort(err) {
		return ls.misfit(e)
	}
	return err
}

// misfit is the error of a value that its element's length does not fit.
func (ls *listState) misfit(e *element) error {
	err := ls.f.fail(TLVLengthNumber, e.path, e.at)
	err.Got = uint64(e.length)
	return err
}
