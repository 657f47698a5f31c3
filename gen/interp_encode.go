// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"math/big"
	"slices"
)

// Encode writes the tree v, whose root is a value of a struct of p, with one value per parameter of that struct.
// Fixed, solved, derived and checksum fields are computed; v is not changed. Items that the tree lacks are written as
// their default, or as zeros. A value that cannot be written gives a *DecodeError with E_NOFIT or E_SIZE.
func Encode(p *Protocol, v *Value, params ...*Value) ([]byte, error) {
	st, args, err := p.root(v.Struct.Name.Schema, params)
	if err != nil {
		return nil, err
	}
	v = v.Clone()
	if err := complete(v, args); err != nil {
		return nil, err
	}
	w := &writer{}
	sc := Scope{Self: v, Args: args}
	if err := w.structure(sc, st, ""); err != nil {
		return nil, err
	}
	sum(sc, w.b)
	if st.Packet && st.Max >= 0 && len(w.b) > st.Max {
		return nil, &DecodeError{Code: builtin(SizeNumber)}
	}
	return w.b, nil
}

// complete sets the fields of v, and of all below it, that follow from others.
func complete(v *Value, args map[*Param]*Value) error {
	sc := Scope{Self: v, Args: args}
	if v.Struct != nil {
		sc.fixed()
		if err := sc.solve(); err != nil {
			return err
		}
	}
	if err := sc.completeKids(); err != nil || v.Struct == nil {
		return err
	}
	if err := sc.derive(); err != nil || !v.Struct.hasSizes() {
		return err
	}
	if err := sc.sizes(); err != nil {
		return err
	}
	return sc.derive()
}

// hasSizes tells whether the struct or one of its items has `sized`.
func (s *Struct) hasSizes() bool {
	return s.Sized != nil || slices.ContainsFunc(s.Items, func(it *Item) bool { return it.Sized != nil })
}

func (s Scope) completeKids() error {
	for _, k := range s.Self.Kids {
		args := s.ArgsOf(k)
		if !k.isArray() || k.Item.Array.Struct == nil {
			if err := complete(k, args); err != nil {
				return err
			}
			continue
		}
		a := k.Item.Array
		for _, e := range k.Kids {
			if err := complete(e, s.Bind(a.Struct, a.Args)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ArgsOf binds the parameters of a kid: those of its struct or list, or of the value of a TLV element.
func (s Scope) ArgsOf(k *Value) map[*Param]*Value {
	switch {
	case k.Case != nil && k.Case.Struct != nil:
		return s.Bind(k.Case.Struct, k.Case.Args)
	case k.Item == nil:
		return nil
	case k.isList():
		return s.bind(k.Item.List.Params, k.Item.Args)
	case k.Arm != nil && k.Arm.Struct != nil:
		return s.Bind(k.Arm.Struct, k.Arm.Args)
	case k.Struct != nil:
		return s.Bind(k.Struct, k.Item.Args)
	}
	return nil
}

func (s Scope) fixed() {
	for _, k := range s.Self.Kids {
		switch {
		case k.Item == nil || k.Scalar == nil:
		case k.Scalar.Fixed != nil:
			k.Num = *k.Scalar.Fixed
		case k.Scalar.Reserved == ReservedOnes:
			k.Num = bitMask(k.Scalar.Bits)
		case k.Scalar.Reserved != NotReserved:
			k.Num = 0
		}
	}
}

// solve sets the scalars from which the sizes and counts of this struct's arrays and spans are computed.
func (s Scope) solve() error {
	for _, k := range s.Self.Kids {
		e, n := measure(k)
		if e == nil {
			continue
		}
		if err := s.solveFor(e, n, func(so *Solve) bool { return so.Whole == nil && so.Of.Last() == k.Item }); err != nil {
			return err
		}
	}
	return nil
}

// measure returns the expression that gives an array's count or a span's size, and the stored count or size.
func measure(k *Value) (*Expr, int) {
	switch {
	case k.Item == nil || k.Item.Sized != nil:
		return nil, 0
	case k.Item.Kind == KindArray:
		return k.Item.Array.Count, len(k.Kids)
	case k.Item.Kind == KindSpan:
		return k.Item.Span.Size, k.sizeBytes()
	}
	return nil, 0
}

// refsOf lists the references in e, left to right.
func refsOf(e *Expr) []Ref {
	var refs []Ref
	if e.Op == OpRef || e.Op >= OpSize {
		refs = append(refs, e.Ref)
	}
	for _, a := range e.Args {
		refs = append(refs, refsOf(a)...)
	}
	return refs
}

// derive computes derived fields until they no longer change each other.
func (s Scope) derive() error {
	for range s.Self.Kids {
		changed := false
		for _, k := range s.Self.Kids {
			if k.Scalar == nil || k.Scalar.Derived == nil {
				continue
			}
			n := s.Eval(k.Scalar.Derived)
			raw := new(big.Int).And(n, new(big.Int).SetUint64(bitMask(k.Scalar.Bits))).Uint64()
			back := new(big.Int).SetUint64(raw)
			if k.Scalar.Signed {
				back.SetInt64(signExtend(raw, k.Scalar.Bits))
			}
			if back.Cmp(n) != 0 {
				return nofit(k.Item.Name.Schema, n.Uint64())
			}
			changed = changed || k.Num != raw
			k.Num = raw
		}
		if !changed {
			break
		}
	}
	return nil
}

func nofit(path string, got uint64) error {
	return &DecodeError{Code: builtin(NoFitNumber), Field: path, Got: got}
}

// writer appends bits.
type writer struct {
	b     []byte
	bit   int // used bits of the last byte; 0 = whole bytes only
	start int // of the struct that is being written
	base  int // bytes of the packet before b
}

// begin notes where a node begins, end where it ends.
func (w *writer) begin(v *Value) {
	at := (w.base+len(w.b))*8 - (8-w.bit)%8
	v.Off, v.Bit = at/8, at%8
}

func (w *writer) end(v *Value) { v.Width = (w.base+len(w.b))*8 - (8-w.bit)%8 - v.from() }

func (w *writer) bits(n uint64, bits int) {
	for i := bits - 1; i >= 0; i-- {
		if w.bit == 0 {
			w.b = append(w.b, 0)
		}
		w.b[len(w.b)-1] |= byte(n>>uint(i)&1) << uint(7-w.bit)
		w.bit = (w.bit + 1) % 8
	}
}

func (w *writer) structure(sc Scope, st *Struct, path string) error {
	outer := w.start
	w.start = len(w.b)
	w.begin(sc.Self)
	if err := w.items(sc, st, path); err != nil {
		return err
	}
	w.end(sc.Self)
	if n := len(w.b) - w.start; st.Sized != nil && sc.Size(st.Sized) != n {
		return nofit(path, uint64(n))
	}
	w.start = outer
	return nil
}

func (w *writer) items(sc Scope, st *Struct, path string) error {
	for _, item := range st.Items {
		if item.When != nil && !sc.Truth(item.When) {
			continue
		}
		k := sc.Self.Find(item)
		if k == nil {
			k = NewValue(item)
			sc.Self.Kids = append(sc.Self.Kids, k)
		}
		w.begin(k)
		if err := w.item(sc, k, joinPath(path, item.Name.Schema)); err != nil {
			return err
		}
		w.end(k)
	}
	return nil
}

// NewValue returns an item at its default, else zero or empty; switches have no arm yet.
func NewValue(item *Item) *Value {
	k := &Value{Item: item, Scalar: item.Scalar}
	switch item.Kind {
	case KindScalar:
		k.Num = item.Scalar.Default
		if item.Scalar.Fixed != nil {
			k.Num = *item.Scalar.Fixed
		}
	case KindReserved:
		if item.Scalar.Reserved == ReservedOnes {
			k.Num = bitMask(item.Scalar.Bits)
		}
	case KindBits:
		k.Bytes = make([]byte, item.Vector.Bits/8)
	case KindStruct:
		k.Struct = item.Struct
	case KindSpan:
		k.setSpan(make([]byte, max(0, item.Span.Fixed)))
	}
	return k
}

func (w *writer) item(sc Scope, k *Value, path string) error {
	if k.Item.Sized != nil {
		return w.windowed(sc, k, path)
	}
	return w.content(sc, k, path)
}

func (w *writer) content(sc Scope, k *Value, path string) error {
	switch k.Item.Kind {
	case KindScalar, KindReserved:
		return w.scalar(k.Num, k.Scalar, path)
	case KindBits:
		return w.exactly(k.Bytes, k.Item.Vector.Bits/8, path)
	case KindStruct:
		return w.structure(Scope{Self: k, Args: sc.ArgsOf(k)}, k.Struct, path)
	case KindArray:
		return w.array(sc, k, path)
	case KindSpan:
		return w.span(sc, k, path)
	case KindList:
		return w.list(Scope{Self: k, Args: sc.ArgsOf(k)}, path)
	}
	if k.Arm == nil {
		return fmt.Errorf("gen: no arm is chosen at %s", path)
	}
	if k.Arm.Struct == nil {
		return nil
	}
	return w.structure(Scope{Self: k, Args: sc.ArgsOf(k)}, k.Arm.Struct, joinPath(trimLast(path), armName(k.Arm)))
}

// trimLast drops the last name of a path.
func trimLast(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '.' {
			return path[:i]
		}
	}
	return ""
}

func (w *writer) scalar(n uint64, s *Scalar, path string) error {
	if n&^bitMask(s.Bits) != 0 {
		return nofit(path, n)
	}
	if s.little() {
		for i := 0; i < s.Bits; i += 8 {
			w.bits(n>>uint(i)&0xff, 8)
		}
		return nil
	}
	w.bits(n, s.Bits)
	return nil
}

func (w *writer) exactly(b []byte, n int, path string) error {
	if len(b) != n {
		return nofit(path, uint64(len(b)))
	}
	w.b = append(w.b, b...)
	return nil
}

func (w *writer) array(sc Scope, k *Value, path string) error {
	a := k.Item.Array
	if a.Count != nil && sc.Size(a.Count) != len(k.Kids) {
		return nofit(path, uint64(len(k.Kids)))
	}
	for i, e := range k.Kids {
		var err error
		if a.Struct != nil {
			err = w.structure(Scope{Self: e, Args: sc.Bind(a.Struct, a.Args)}, a.Struct, kidIndex(path, i))
		} else {
			err = w.scalar(e.Num, a.Scalar, kidIndex(path, i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) span(sc Scope, k *Value, path string) error {
	s := k.Item.Span
	n := k.sizeBytes()
	if k.Item.Name.Schema == "_" && s.Size != nil {
		n = sc.Size(s.Size)
	}
	switch {
	case s.Fixed >= 0 && n != s.Fixed, s.Fixed < 0 && s.Size != nil && sc.Size(s.Size) != n:
		return nofit(path, uint64(n))
	case s.Align > 0:
		n = (s.Align - (len(w.b)-w.start)%s.Align) % s.Align
		fallthrough
	case s.Kind == SpanPad:
		w.b = append(w.b, make([]byte, n)...)
		return nil
	}
	w.b = append(w.b, k.Bytes...)
	w.b = append(w.b, make([]byte, n-len(k.Bytes))...)
	return nil
}
