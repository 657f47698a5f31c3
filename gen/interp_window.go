// SPDX-License-Identifier: Apache-2.0

package gen

// end is where a greedy item ends: trailers of so many bytes stand behind it.
func (f *frame) end(reserve int, tail *Expr) int {
	if tail != nil {
		reserve += f.scope().Size(tail)
	}
	return f.stop - reserve
}

// at is an error at an item of the struct, or at the struct when a parameter is to blame.
func (f *frame) at(number int, r Ref) *DecodeError {
	e := f.fail(number, f.path, f.v.Off)
	if r.Param != nil {
		return e
	}
	for _, item := range r.Path {
		e.Field = joinPath(e.Field, item.Name.Schema)
	}
	if v := f.scope().Resolve(r); v != nil {
		e.Off, e.Bit, e.Got = v.Off, v.Bit, v.Num
	}
	return e
}

// limit ends the struct where its own size says.
func (f *frame) limit(l *Limit) error {
	n, used := f.scope().Size(l.Size), f.off-f.v.Off
	switch {
	case n < used+l.Rest:
		return f.at(SizeNumber, l.Item)
	case n > f.stop-f.v.Off:
		return f.at(ShortNumber, l.Item)
	}
	f.stop = f.v.Off + n
	return nil
}

// window decodes an item in a container of its own.
func (f *frame) window(w *Window) error {
	n, path := f.scope().Size(w.Size), joinPath(f.path, w.Item.Name.Schema)
	switch {
	case n < w.Least, n > f.stop-f.off && w.Limited:
		e := f.fail(SizeNumber, path, f.off)
		e.Got = uint64(n)
		return e
	case n > f.stop-f.off:
		return f.fail(ShortNumber, path, f.off)
	}
	outer := f.stop
	f.stop = f.off + n
	err := f.run(w.Body)
	if err == nil && f.off < f.stop {
		err = f.fail(TrailingNumber, path, f.off)
	}
	f.stop = outer
	return err
}

// sizes sets the scalars that hold the size of an item with `sized`, or of the struct itself.
func (s Scope) sizes() error {
	for _, item := range s.Self.Struct.Items {
		if item.Sized == nil || item.When != nil && !s.Truth(item.When) {
			continue
		}
		w := &writer{}
		k := s.Self.Find(item)
		if k == nil {
			k = NewValue(item)
		}
		if err := w.content(s, k, item.Name.Schema); err != nil {
			return err
		}
		mine := func(so *Solve) bool { return so.Whole == nil && so.Of.Last() == item }
		if err := s.solveFor(item.Sized, len(w.b), mine); err != nil {
			return err
		}
	}
	st := s.Self.Struct
	if st.Sized == nil {
		return nil
	}
	w := &writer{}
	if err := w.items(s, st, ""); err != nil {
		return err
	}
	return s.solveFor(st.Sized, len(w.b), func(so *Solve) bool { return so.Whole == st })
}

// solveFor sets the scalar in e that measures n.
func (s Scope) solveFor(e *Expr, n int, mine func(*Solve) bool) error {
	for _, r := range refsOf(e) {
		target := s.Resolve(r)
		if target == nil || target.Scalar == nil {
			continue
		}
		so := target.Scalar.SolveFor(mine)
		if so == nil {
			continue
		}
		if (int64(n)-so.B)%so.A != 0 {
			return nofit(r.String(), uint64(n))
		}
		v := (int64(n) - so.B) / so.A
		if v < 0 || uint64(v) > bitMask(target.Scalar.Bits) {
			return nofit(r.String(), uint64(n))
		}
		target.Num = uint64(v)
	}
	return nil
}

// windowed writes an item with `sized`, whose bytes must be as many as its size says.
func (w *writer) windowed(sc Scope, k *Value, path string) error {
	start := len(w.b)
	if err := w.content(sc, k, path); err != nil {
		return err
	}
	if n := len(w.b) - start; sc.Size(k.Item.Sized) != n {
		return nofit(path, uint64(n))
	}
	return nil
}
