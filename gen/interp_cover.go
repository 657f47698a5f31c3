// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"slices"
)

// visit calls f for every struct of a tree, the outer one first. Items whose condition does not hold are left out.
func visit(sc Scope, path string, f func(sc Scope, path string)) {
	v := sc.Self
	if v.Struct != nil || v.Case != nil {
		f(sc, path)
	}
	seen := map[*Case]int{}
	for i, k := range v.Kids {
		p := kidPath(path, v, i, seen)
		if k.Item == nil {
			visit(Scope{Self: k, Args: sc.ArgsOf(k)}, p, f)
			continue
		}
		if k.Item.When != nil && !sc.Truth(k.Item.When) {
			continue
		}
		switch {
		case k.isArray():
			a := k.Item.Array
			for n, e := range k.Kids {
				if a.Struct != nil {
					visit(Scope{Self: e, Args: sc.Bind(a.Struct, a.Args)}, kidIndex(p, n), f)
				}
			}
		case k.isList(), k.Struct != nil:
			visit(Scope{Self: k, Args: sc.ArgsOf(k)}, p, f)
		}
	}
}

// sumField is one checksum of a packet.
type sumField struct {
	sc   Scope // of the struct that holds it
	v    *Value
	path string
}

// sumFields lists the checksums of a tree, innermost structs first and in wire order within one.
func sumFields(sc Scope) []sumField {
	var groups [][]sumField
	visit(sc, "", func(sc Scope, path string) {
		var own []sumField
		for _, k := range sc.Self.Kids {
			if k.Scalar != nil && k.Scalar.Sum != nil && k.Item != nil && (k.Item.When == nil || sc.Truth(k.Item.When)) {
				own = append(own, sumField{sc, k, joinPath(path, k.Item.Name.Schema)})
			}
		}
		groups = append(groups, own)
	})
	slices.Reverse(groups)
	return slices.Concat(groups...)
}

func (v *Value) from() int { return v.Off*8 + v.Bit }

// bounds are the first bit of an item and the one behind its last.
func (v *Value) bounds() (from, to int) { return v.from(), v.from() + v.Width }

// bytes is what the checksum covers; false when the caller has not given a parameter.
func (s sumField) bytes(b []byte) ([]byte, bool) {
	k := s.v.Scalar.Sum
	if k.Before {
		return b[:s.v.Off], true
	}
	var out []byte
	for _, p := range k.Parts {
		chunk, ok := s.part(b, p)
		if !ok {
			return nil, false
		}
		out = append(out, chunk...)
	}
	return out, true
}

func (s sumField) part(b []byte, p *CoverPart) ([]byte, bool) {
	if p.Kind == CoverFill {
		return slices.Repeat([]byte{p.Fill}, p.Count), true
	}
	var out []byte
	base := 0 // bits of the buffer before out
	if p.Kind == CoverParam {
		v := s.sc.Args[p.Param]
		if v == nil || v.Raw == nil {
			return nil, false
		}
		out = slices.Clone(v.Raw)
	} else {
		from, to := s.area(p)
		out, base = slices.Clone(b[from/8:to/8]), from
		own, end := s.v.bounds()
		setBits(out, [2]int{own - base, end - base}, 0)
	}
	for _, r := range p.Except {
		if v := s.sc.Resolve(r); v != nil {
			from, to := v.bounds()
			setBits(out, [2]int{from - base, to - base}, p.Mask)
		}
	}
	return out, true
}

// area is the part of the buffer that a part covers, in bits.
func (s sumField) area(p *CoverPart) (from, to int) {
	switch p.Kind {
	case CoverBefore:
		return 0, s.v.from()
	case CoverSelf:
		return s.sc.Self.bounds()
	}
	items := s.sc.Self.Struct.Items
	first, last := slices.Index(items, p.First), slices.Index(items, p.Last)
	found := false
	for _, it := range items[first : last+1] {
		v := s.sc.Self.Find(it)
		if v == nil || it.When != nil && !s.sc.Truth(it.When) {
			continue
		}
		a, z := v.bounds()
		if !found {
			from, found = a, true
		}
		to = z
	}
	return from, to
}

// setBits sets the bits that lie within b to those of fill, which is 0x00 or 0xff.
func setBits(b []byte, bits [2]int, fill byte) {
	for i := max(bits[0], 0); i < min(bits[1], len(b)*8); i++ {
		m := byte(0x80) >> uint(i%8)
		b[i/8] = b[i/8]&^m | fill&m
	}
}

// waitsFor tells whether a checksum covers the bytes of another one.
func (s sumField) waitsFor(other sumField) bool {
	k := s.v.Scalar.Sum
	at := other.v.from()
	if k.Before {
		return at < s.v.from()
	}
	for _, p := range k.Parts {
		if p.Kind == CoverFill || p.Kind == CoverParam {
			continue
		}
		masked := slices.ContainsFunc(p.Except, func(r Ref) bool { return s.sc.Resolve(r) == other.v })
		if from, to := s.area(p); from <= at && at < to && !masked {
			return true
		}
	}
	return false
}

// want computes a checksum over b; false when a parameter is missing.
func (s sumField) want(b []byte) (uint64, bool) {
	covered, ok := s.bytes(b)
	if !ok {
		return 0, false
	}
	k := s.v.Scalar.Sum
	n := k.Sum.Of(covered)
	if n == 0 && k.ZeroNone {
		n = bitMask(k.Sum.Width)
	}
	return n, true
}

// sum computes the checksums of a written tree and puts them into b.
func sum(sc Scope, b []byte) {
	fields := sumFields(sc)
	for len(fields) > 0 {
		next := slices.IndexFunc(fields, func(s sumField) bool {
			return !slices.ContainsFunc(fields, func(o sumField) bool { return o.v != s.v && s.waitsFor(o) })
		})
		s := fields[max(next, 0)]
		fields = slices.DeleteFunc(fields, func(o sumField) bool { return o.v == s.v })
		n, ok := s.want(b)
		if !ok {
			continue
		}
		s.v.Num = n
		w := &writer{}
		_ = w.scalar(n, s.v.Scalar, "")
		copy(b[s.v.Off:], w.b)
	}
}

// Resum computes the checksums of b anew and puts them into it. It fails when b does not decode.
func Resum(p *Protocol, name string, b []byte, params ...*Value) error {
	sc, err := decodeScope(p, name, b, params)
	if err == nil {
		sum(sc, b)
	}
	return err
}

func decodeScope(p *Protocol, name string, b []byte, params []*Value) (Scope, error) {
	_, args, err := p.root(name, params)
	if err != nil {
		return Scope{}, err
	}
	v, _, err := Decode(p, name, b, params...)
	return Scope{Self: v, Args: args}, err
}

// VerifySums decodes b and compares every checksum in it: E_CHECKSUM when one differs. Checksums that cover a parameter which
// the caller has not given are not looked at; their paths are returned.
func VerifySums(p *Protocol, name string, b []byte, params ...*Value) (unverified []string, err error) {
	sc, err := decodeScope(p, name, b, params)
	if err != nil {
		return nil, err
	}
	return verify(sc, b)
}

// VerifyDecoded is VerifySums for what Decode has made of b.
func VerifyDecoded(p *Protocol, v *Value, b []byte, params ...*Value) (unverified []string, err error) {
	_, args, err := p.root(v.Struct.Name.Schema, params)
	if err != nil {
		return nil, err
	}
	return verify(Scope{Self: v, Args: args}, b)
}

// verify compares the checksums of a decoded tree in wire order.
func verify(sc Scope, b []byte) (unverified []string, err error) {
	fields := sumFields(sc)
	slices.SortStableFunc(fields, func(a, b sumField) int { return a.v.from() - b.v.from() })
	for _, s := range fields {
		if s.v.Num == 0 && s.v.Scalar.Sum.ZeroNone {
			continue
		}
		want, ok := s.want(b)
		if !ok {
			unverified = append(unverified, s.path)
			continue
		}
		if want != s.v.Num {
			return unverified, &DecodeError{Code: builtin(ChecksumNumber), Field: s.path, Off: s.v.Off, Bit: s.v.Bit, Want: want, Got: s.v.Num}
		}
	}
	return unverified, nil
}

// VerifyPacket is VerifySums without the list of what is unverified.
func VerifyPacket(p *Protocol, name string, b []byte, params ...*Value) error {
	_, err := VerifySums(p, name, b, params...)
	return err
}

// Lint decodes b and returns the rules `where … else lint` that it breaks, with the paths of their items.
func Lint(p *Protocol, name string, b []byte, params ...*Value) ([]*DecodeError, error) {
	sc, err := decodeScope(p, name, b, params)
	if err != nil {
		return nil, err
	}
	var out []*DecodeError
	visit(sc, "", func(sc Scope, path string) {
		if sc.Self.Struct == nil {
			return
		}
		f := &frame{v: sc.Self, st: sc.Self.Struct, args: sc.Args, path: path}
		for _, k := range sc.Self.Struct.Lints {
			if !sc.Truth(k.Hold) {
				out = append(out, f.broken(k).(*DecodeError))
			}
		}
	})
	return out, nil
}

// Header decodes the named header as far as b goes. It is what a parameter that only checksums read wants: b is a header
// with or without what follows it.
func Header(p *Protocol, name string, b []byte) (*Value, error) {
	st := p.StructNamed(name)
	if st == nil {
		return nil, fmt.Errorf("%w: %s", ErrUnknownStruct, name)
	}
	v := &Value{Struct: st}
	f := &frame{buf: b, v: v, st: st, stop: len(b), args: map[*Param]*Value{}}
	_ = f.body() // a truncated header still has the items that were read
	v.Width = f.off * 8
	v.Raw = beforePayload(v, b)
	return v, nil
}

// beforePayload cuts a header off what it carries.
func beforePayload(v *Value, b []byte) []byte {
	for _, k := range v.Kids {
		if k.Item != nil && k.Item.Kind == KindSpan && k.Item.Span.Kind == SpanPayload {
			return b[:k.Off]
		}
	}
	return b
}
