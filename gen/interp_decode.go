// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"bytes"
	"errors"
	"math/big"
	"slices"
	"unicode/utf8"
)

// frame is one struct in the middle of being decoded.
type frame struct {
	buf  []byte
	v    *Value // the struct's node; grows kid by kid
	st   *Struct
	args map[*Param]*Value
	path string
	off  int // next byte
	stop int // end of the container
}

func (f *frame) scope() Scope { return Scope{Self: f.v, Args: f.args} }

// body runs the whole program; st is in a window of its own when it is greedy, and must fill it.
func (f *frame) body() error {
	if f.st.Packet && f.st.Greedy && f.st.Max >= 0 && f.stop-f.off > f.st.Max {
		return f.fail(SizeNumber, f.path, f.off)
	}
	if err := f.run(f.st.Steps); err != nil {
		return err
	}
	f.v.Width = f.off*8 - f.v.Off*8
	if (f.st.Greedy || f.st.Sized != nil) && f.off < f.stop {
		return f.fail(TrailingNumber, f.path, f.off)
	}
	return nil
}

func (f *frame) fail(number int, path string, off int) *DecodeError {
	return &DecodeError{Code: builtin(number), Field: path, Off: off}
}

func (f *frame) run(steps []Step) error {
	for _, s := range steps {
		if err := f.step(s); err != nil {
			return err
		}
	}
	return nil
}

func (f *frame) step(s Step) error {
	switch s := s.(type) {
	case *Run:
		return f.stepRun(s)
	case *Call:
		return f.call(s)
	case *Repeat:
		return f.repeat(s)
	case *Take:
		return f.take(s)
	case *Elements:
		return f.elements(s)
	case *Branch:
		if f.scope().Truth(s.Cond) {
			return f.run(s.Then)
		}
		return f.run(s.Else)
	case *Choose:
		return f.choose(s)
	case *Verify:
		return f.checks(s.Checks)
	case *Limit:
		return f.limit(s)
	case *Window:
		return f.window(s)
	}
	panic("gen: step of an unknown kind")
}

func (f *frame) stepRun(r *Run) error {
	if f.stop-f.off < r.Size {
		return f.fail(ShortNumber, joinPath(f.path, firstLeaf(r)), f.off)
	}
	start := f.off
	f.readParts(f.v, r.Parts, start*8)
	f.off += r.Size
	if err := f.contents(f.v, r.Parts, f.path); err != nil {
		return err
	}
	return f.checks(r.Checks)
}

// firstLeaf is the path of the first item that is not a nested struct.
func firstLeaf(r *Run) string {
	path := ""
	for len(r.Parts) > 0 {
		item := r.Parts[0].Item
		path = joinPath(path, item.Name.Schema)
		if item.Kind != KindStruct {
			break
		}
		r = item.Struct.Steps[0].(*Run)
	}
	return path
}

// readParts appends the items of a run that starts at bit base to v.
func (f *frame) readParts(v *Value, parts []Part, base int) {
	for _, p := range parts {
		at := base + p.Bit
		k := &Value{Item: p.Item, Off: at / 8, Bit: at % 8}
		switch p.Item.Kind {
		case KindScalar, KindReserved:
			k.Scalar = p.Item.Scalar
			k.Width = k.Scalar.Bits
			k.Num = readScalar(f.buf, at, k.Scalar)
		case KindBits:
			k.Width = p.Item.Vector.Bits
			k.Bytes = f.buf[k.Off : k.Off+k.Width/8]
		case KindSpan:
			k.Width = p.Item.Span.Fixed * 8
			k.setSpan(f.buf[k.Off : k.Off+k.Width/8])
		case KindStruct:
			k.Struct = p.Item.Struct
			k.Width = k.Struct.Min * 8
			f.readParts(k, k.Struct.Steps[0].(*Run).Parts, at)
		default:
			panic("gen: item " + p.Item.Name.Schema + " cannot lie in a run")
		}
		v.Kids = append(v.Kids, k)
	}
}

func (v *Value) setSpan(b []byte) {
	v.Width = len(b) * 8
	switch v.Item.Span.Kind {
	case SpanPad:
		v.Num = uint64(len(b))
	case SpanString:
		v.Bytes = v.Item.Span.text(b)
	default:
		v.Bytes = b
	}
}

// contents checks what fixed strings and pads of a run hold, in wire order.
func (f *frame) contents(v *Value, parts []Part, path string) error {
	for _, p := range parts {
		k, at := v.Find(p.Item), joinPath(path, p.Item.Name.Schema)
		var err error
		switch p.Item.Kind {
		case KindSpan:
			err = f.spanContent(k, at)
		case KindStruct:
			err = f.contents(k, p.Item.Struct.Steps[0].(*Run).Parts, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *frame) spanContent(v *Value, path string) error {
	s, raw := v.Item.Span, f.buf[v.Off:v.Off+v.Width/8]
	switch {
	case s.Kind == SpanString && (!utf8.Valid(raw) || s.ASCII && slices.ContainsFunc(raw, func(c byte) bool { return c > 0x7f })):
		return f.fail(StringNumber, path, v.Off)
	case s.Padded && !allZero(raw[len(v.Bytes):]):
		return f.fail(PaddingNumber, path, v.Off)
	case s.Kind == SpanPad && !s.Ignore && !allZero(f.buf[v.Off:v.Off+int(v.Num)]):
		return f.fail(PaddingNumber, path, v.Off)
	}
	return nil
}

// text is the value of a string that is laid out in b.
func (s *Span) text(b []byte) []byte {
	if n := bytes.IndexByte(b, 0); s.Padded && n >= 0 {
		return b[:n]
	}
	return b
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// readScalar reads the scalar that starts at a bit of the buffer.
func readScalar(b []byte, at int, s *Scalar) uint64 {
	n := uint64(0)
	if s.little() {
		for i := s.Bits/8 - 1; i >= 0; i-- {
			n = n<<8 | uint64(b[at/8+i])
		}
		return n
	}
	for i := at; i < at+s.Bits; i++ {
		n = n<<1 | uint64(b[i/8]>>uint(7-i%8)&1)
	}
	return n
}

func (s *Scalar) little() bool {
	return s.Bits > 8 && s.Bits%8 == 0 && (s.Little || s.Sum != nil && s.Sum.Sum.Little)
}

func (f *frame) checks(checks []*Check) error {
	sc := f.scope()
	for _, c := range checks {
		if !sc.Truth(c.Hold) {
			return f.broken(c)
		}
	}
	return nil
}

// broken is the error of a check that does not hold.
func (f *frame) broken(c *Check) error {
	e := &DecodeError{Code: c.code(), Field: f.path, Off: f.v.Off, Text: c.Text, Rule: c}
	if c.Item.Param != nil {
		return e
	}
	for _, item := range c.Item.Path {
		e.Field = joinPath(e.Field, item.Name.Schema)
	}
	if v := f.scope().Resolve(c.Item); v != nil {
		e.Off, e.Bit, e.Got = v.Off, v.Bit, v.Num
		if v.Scalar != nil {
			e.Want = f.wanted(c, v.Scalar)
		}
	}
	return e
}

// wanted is the only value that would have passed, or 0 when there are several.
func (f *frame) wanted(c *Check, s *Scalar) uint64 {
	switch {
	case c.Kind == CheckFixed && s.Fixed != nil:
		return *s.Fixed
	case c.Kind == CheckReserved && s.Reserved == ReservedOnes:
		return bitMask(s.Bits)
	case c.Kind == CheckDerived && s.Derived != nil && len(c.Item.Path) == 1:
		return new(big.Int).And(f.scope().Eval(s.Derived), new(big.Int).SetUint64(bitMask(s.Bits))).Uint64()
	}
	return 0
}

// code is the error that a broken check raises.
func (c *Check) code() *Code {
	if c.Code != nil {
		return c.Code
	}
	numbers := map[CheckKind]int{CheckFixed: FixedNumber, CheckReserved: ReservedNumber, CheckRange: RangeNumber,
		CheckEnum: EnumNumber, CheckDerived: DerivedNumber, CheckWhere: WhereNumber}
	return builtin(numbers[c.Kind])
}

func (f *frame) call(c *Call) error {
	path := joinPath(f.path, c.Item.Name.Schema)
	k := &Value{Item: c.Item, Struct: c.Item.Struct, Off: f.off}
	sub := &frame{buf: f.buf, v: k, st: c.Item.Struct, path: path, off: f.off, stop: f.stop}
	sub.args = f.scope().Bind(sub.st, c.Item.Args)
	if c.Windowed {
		if sub.stop = f.end(c.Reserve, c.Tail); sub.stop < f.off {
			return f.fail(ShortNumber, path, f.off)
		}
	}
	f.v.Kids = append(f.v.Kids, k)
	if c.Windowed {
		return f.within(sub)
	}
	return f.enter(sub)
}

// enter decodes a nested struct and continues behind it.
func (f *frame) enter(sub *frame) error {
	err := sub.body()
	f.off = sub.off
	return err
}

// within decodes a nested struct that must fill its window, even when it is not greedy.
func (f *frame) within(sub *frame) error {
	stop := sub.stop
	err := f.enter(sub)
	if err == nil && sub.off < stop {
		err = f.fail(TrailingNumber, sub.path, sub.off)
	}
	return err
}

func (f *frame) choose(c *Choose) error {
	sw := c.Item.Switch
	path := joinPath(f.path, c.Item.Name.Schema)
	n := f.scope().evalRef(&Expr{Op: OpRef, Ref: sw.Selector})
	arm := sw.arm(n)
	if arm == nil || arm.Reject != nil {
		e := f.fail(SwitchNumber, path, f.off)
		if e.Got = n.Uint64(); arm != nil {
			e.Code = arm.Reject
		}
		return e
	}
	k := &Value{Item: c.Item, Arm: arm, Struct: arm.Struct, Off: f.off}
	if arm.Struct == nil {
		f.v.Kids = append(f.v.Kids, k)
		return nil
	}
	sub := &frame{buf: f.buf, v: k, st: arm.Struct, path: joinPath(f.path, armName(arm)), off: f.off, stop: f.stop}
	sub.args = f.scope().Bind(sub.st, arm.Args)
	if arm.Struct.Greedy {
		if sub.stop = f.end(c.Reserve, c.Tail); sub.stop < f.off {
			return f.fail(ShortNumber, path, f.off)
		}
	}
	f.v.Kids = append(f.v.Kids, k)
	if arm.Struct.Greedy {
		return f.within(sub)
	}
	return f.enter(sub)
}

// arm returns the arm whose labels hold n, else the arm for everything else, else nil.
func (s *Switch) arm(n *big.Int) *Arm {
	for _, a := range s.Arms {
		if inRanges(n, a.Labels) {
			return a
		}
	}
	for _, a := range s.Arms {
		if len(a.Labels) == 0 {
			return a
		}
	}
	return nil
}

func (f *frame) repeat(r *Repeat) error {
	a := r.Item.Array
	path := joinPath(f.path, r.Item.Name.Schema)
	k := &Value{Item: r.Item, Off: f.off}
	n, stop := -1, f.stop
	if a.Count != nil {
		n = f.scope().Size(a.Count)
	} else if stop = f.end(r.Reserve, r.Tail); stop < f.off {
		return f.fail(ShortNumber, path, f.off)
	}
	sc := f.scope()
	f.v.Kids = append(f.v.Kids, k)
	for i := 0; i != n && (n >= 0 || f.off < stop); i++ {
		sub := &frame{buf: f.buf, v: &Value{Off: f.off}, path: kidIndex(path, i), off: f.off, stop: stop}
		k.Kids = append(k.Kids, sub.v)
		if err := f.element(sub, a, sc); err != nil {
			return err
		}
	}
	k.Width = (f.off - k.Off) * 8
	return nil
}

func (f *frame) element(sub *frame, a *Array, sc Scope) error {
	if a.Struct != nil {
		sub.st, sub.v.Struct = a.Struct, a.Struct
		sub.args = sc.Bind(a.Struct, a.Args)
		return f.enter(sub)
	}
	s, v := a.Scalar, sub.v
	if sub.stop-sub.off < s.Bits/8 {
		return f.fail(ShortNumber, sub.path, sub.off)
	}
	v.Scalar, v.Width = s, s.Bits
	v.Num = readScalar(f.buf, sub.off*8, s)
	f.off += s.Bits / 8
	number := s.reject(v.Num)
	if number == 0 {
		return nil
	}
	e := f.fail(number, sub.path, v.Off)
	e.Got = v.Num
	return e
}

// reject returns the code of the first of an array element's own rules that n breaks, or 0.
func (s *Scalar) reject(n uint64) int {
	x := new(big.Int).SetUint64(n)
	switch {
	case s.Fixed != nil && n != *s.Fixed:
		return FixedNumber
	case s.In != nil && !inRanges(x, s.In):
		return RangeNumber
	case s.Enum != nil && s.Enum.Closed && !s.Enum.names(n):
		return EnumNumber
	}
	return 0
}

func (e *Enum) names(n uint64) bool {
	for _, m := range e.Members {
		if m.First <= n && n <= m.Last {
			return true
		}
	}
	return false
}

func (f *frame) take(t *Take) error {
	s := t.Item.Span
	path := joinPath(f.path, t.Item.Name.Schema)
	n := f.end(t.Reserve, t.Tail) - f.off
	switch {
	case s.Size != nil:
		n = f.scope().Size(s.Size)
	case s.Align > 0:
		n = (s.Align - (f.off-f.v.Off)%s.Align) % s.Align
	}
	if n < 0 || n > f.stop-f.off {
		return f.fail(ShortNumber, path, f.off)
	}
	k := &Value{Item: t.Item, Off: f.off}
	k.setSpan(f.buf[f.off : f.off+n])
	f.v.Kids = append(f.v.Kids, k)
	f.off += n
	if n < s.Min || s.Max >= 0 && n > s.Max {
		e := f.fail(RangeNumber, path, k.Off)
		e.Got = uint64(n)
		return e
	}
	return f.spanContent(k, path)
}

// asShort reports whether err says that something did not fit, or did not fill, its container.
func asShort(err error) bool {
	var e *DecodeError
	return errors.As(err, &e) && (e.Code.Number == ShortNumber || e.Code.Number == TrailingNumber)
}
