// SPDX-License-Identifier: Apache-2.0

package gen

import "slices"

// list writes the known elements of a list, what ends it and what fills it up.
func (w *writer) list(sc Scope, path string) error {
	k := sc.Self
	l, start := k.Item.List, len(w.b)
	var elems []*Value
	for _, e := range k.Kids {
		if e.Case != nil {
			elems = append(elems, e)
		}
	}
	slices.SortStableFunc(elems, func(a, b *Value) int {
		if l.Ascending {
			return slices.Compare(l.keyOf(a), l.keyOf(b))
		}
		return slices.Index(l.Cases, a.Case) - slices.Index(l.Cases, b.Case)
	})
	for _, e := range elems {
		if err := w.tlv(l, Scope{Self: e, Args: sc.ArgsOf(e)}, joinPath(path, e.Case.Name.Schema)); err != nil {
			return err
		}
	}
	w.fill(l, k.Pad, start)
	if len(w.b)-start > l.Max {
		return &DecodeError{Code: builtin(SizeNumber), Field: path, Off: start}
	}
	return nil
}

// fill writes the end marker with pad-1 bytes behind it, and what is missing up to the list's alignment.
func (w *writer) fill(l *List, pad, start int) {
	f := l.fill()
	short := func() int { return (f.Align - (len(w.b)-start)%f.Align) % f.Align }
	if l.End != nil && (pad > 0 || short() > 0 && len(l.Bares) == 0) {
		w.b = append(w.b, byte(*l.End))
		w.b = append(w.b, slices.Repeat([]byte{f.Byte}, max(pad, 1)-1)...)
		w.b = append(w.b, slices.Repeat([]byte{f.Byte}, short())...)
		return
	}
	if len(l.Bares) > 0 {
		w.b = append(w.b, slices.Repeat([]byte{byte(l.Bares[0].Keys.First)}, short())...)
	}
}

// keyOf is the key of an element: what it keeps of it, and else the first numbers of its case.
func (l *List) keyOf(e *Value) []uint64 {
	var out []uint64
	for i, it := range l.keys() {
		n := e.Case.tuples()[0][i].First
		if v := e.Find(it); v != nil {
			n = v.Num
		}
		out = append(out, n)
	}
	return out
}

func (w *writer) tlv(l *List, sc Scope, path string) error {
	e := sc.Self
	value := &writer{base: w.base + len(w.b) + l.Head.Min}
	if e.Case.Struct != nil {
		if err := value.structure(sc, e.Case.Struct, path); err != nil {
			return err
		}
	}
	head, err := l.head(e, len(value.b), path)
	if err != nil {
		return err
	}
	if err := w.structure(Scope{Self: head}, l.Head, path); err != nil {
		return err
	}
	w.b = append(w.b, value.b...)
	w.b = append(w.b, make([]byte, l.aligned(l.Head.Min+len(value.b))-l.Head.Min-len(value.b))...)
	return nil
}

// head makes an element's head for a value of n bytes.
func (l *List) head(e *Value, n int, path string) (*Value, error) {
	head := &Value{Struct: l.Head}
	keys := l.keyOf(e)
	for _, item := range l.Head.Items {
		h := NewValue(item)
		if kept := e.Find(item); kept != nil && slices.Contains(e.Case.Head, item) {
			h = kept.Clone()
		}
		if i := slices.Index(l.keys(), item); i >= 0 {
			h.Num = keys[i]
		}
		if item == l.LengthOf {
			raw, ok := l.rawLength(n)
			if !ok {
				return nil, nofit(path, uint64(n))
			}
			h.Num = raw
		}
		head.Kids = append(head.Kids, h)
	}
	return head, Scope{Self: head}.derive()
}

// rawLength is what the length item holds for a value of n bytes.
func (l *List) rawLength(n int) (uint64, bool) {
	a, b := int64(1), int64(0)
	if l.Scale != nil {
		a, b = l.Scale.A, l.Scale.B
	}
	if d := int64(n) - b; d >= 0 && d%a == 0 && uint64(d/a) <= bitMask(l.LengthOf.Scalar.Bits) {
		return uint64(d / a), true
	}
	return 0, false
}
