// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"errors"
	"fmt"
)

// The interpreter runs the decode programs of a Protocol on bytes. It is slow and meant to be obviously right: vectors,
// examples and `mrgen decode` come from it, and every backend must give the same answers. Where the IR leaves a choice,
// this is the choice:
//
// Place. An error names an item by its path and the bit where the item starts, counted from the root buffer. In a path
// the arm's name stands for the switch item, array elements and repeatable TLV cases carry [i], and reserved bits
// without a name are "_". Every place is relative to the struct that reports it, so callers only put their own in front.
//
//   - Run: too few bytes is E_SHORT at the first leaf of the run. Then come the contents of fixed strings and pads in
//     wire order, then the checks in order.
//   - Call, windowed: fewer bytes than Reserve is E_SHORT at the called item. A packet that is Greedy and has a Max
//     rejects a longer window with E_SIZE. Bytes left are E_TRAILING at the called item, at the first byte left. Not
//     windowed: the callee sees all that its caller sees.
//   - Root: as a windowed call with the path "" when the struct is Greedy; else bytes may be left.
//   - Choose: E_SWITCH and the code of a reject arm stand at the switch item's own path, where decoding stopped. An arm
//     whose struct is Greedy is a windowed call, with E_SHORT for Reserve at the switch item and E_TRAILING at the arm.
//   - Take: E_SHORT, then E_RANGE for the length, then E_STRING or E_PADDING; all at the start of the span. Text is
//     UTF-8 as in RFC 3629: shortest form, no surrogates.
//   - Repeat: element by element; each is read and checked before the next one is looked at.
//   - Elements: a window above Max is E_SIZE. For each element, in this order: the end marker, after which anything but
//     zeros is E_PADDING; a head that does not fit is E_SHORT; the head's checks; E_TLV_ORDER; E_TLV_UNKNOWN;
//     E_TLV_DUPLICATE; value and alignment padding must fit (E_SHORT); the value, in a window of its own, where E_SHORT
//     and E_TRAILING become E_TLV_LENGTH at the case; padding that is not zero is E_PADDING. At the end E_TLV_MISSING at
//     the case, at the end of the window. Errors up to and including E_TLV_UNKNOWN stand at the list's path, later ones
//     at the case's (the list's when the key is unknown), all at the start of the element.
//   - Checks whose item is reached through a parameter stand at the struct that has the rule, at its start.
//   - Limit: a size below what is decoded and what must follow is E_SIZE, one beyond the container E_SHORT, both at the
//     item. Bytes left at the end of such a struct are E_TRAILING at the struct, at the first byte left.
//   - Window: E_SIZE or E_SHORT at the item, where it begins; bytes left are E_TRAILING at the item.
//   - Sums are not looked at by Decode. VerifyPacket compares them in wire order: E_CHECKSUM at the sum field.
//
// Encode sets, in this order, solved items, fixed items, derived items (which read stored values, also those of items
// that are absent at that moment), then evaluates conditions, writes, and computes sums last. Reserved bits are written
// as declared, ignored ones as zeros. A list's elements are written by case, repeats in stored order. Unknown elements
// are not kept. A number too big for its field is E_NOFIT, a list or packet beyond its maximum E_SIZE. Encode does not
// check ranges or constraints.

// DecodeError says why bytes are not a packet, or a value cannot be encoded.
type DecodeError struct {
	Code      *Code
	Field     string // item path; "" = the packet itself
	Off, Bit  int    // where the item starts
	Want, Got uint64 // when the check compares two numbers
	Text      string // the broken rule in the schema's words; may be empty
	Rule      *Check // the check that failed; nil when a step did
}

// Error names code, place and rule.
func (e *DecodeError) Error() string {
	s := fmt.Sprintf("%s at %s (byte %d", e.Code.Name, e.Field, e.Off)
	if e.Field == "" {
		s = fmt.Sprintf("%s (byte %d", e.Code.Name, e.Off)
	}
	if e.Bit != 0 {
		s += fmt.Sprintf(", bit %d", e.Bit)
	}
	s += "): " + e.Code.Text
	if e.Text != "" {
		s += ": " + e.Text
	}
	return s
}

// Errors of a caller who misuses the interpreter.
var (
	ErrUnknownStruct = errors.New("gen: no such header or packet")
	ErrParams        = errors.New("gen: wrong number of parameters")
)

// StructNamed returns the struct that the schema declares under this name, or nil.
func (p *Protocol) StructNamed(name string) *Struct {
	for _, s := range p.Structs {
		if s.Name.Schema == name {
			return s
		}
	}
	return nil
}

// builtin returns a built-in code by number.
func builtin(number int) *Code {
	return builtinCodes[number-1]
}

func (p *Protocol) root(name string, params []*Value) (*Struct, map[*Param]*Value, error) {
	st := p.StructNamed(name)
	if st == nil {
		return nil, nil, fmt.Errorf("%w: %s", ErrUnknownStruct, name)
	}
	if len(params) > len(st.Params) {
		return nil, nil, fmt.Errorf("%w: %s takes %d, got %d", ErrParams, name, len(st.Params), len(params))
	}
	args := make(map[*Param]*Value, len(params))
	for i, q := range st.Params {
		switch {
		case i < len(params) && params[i] != nil:
			args[q] = params[i]
		case q.Default != nil:
			args[q] = Number(*q.Default)
		case !q.Cover:
			return nil, nil, fmt.Errorf("%w: %s needs %s", ErrParams, name, q.Name.Schema)
		}
	}
	return st, args, nil
}

// Decode runs the decode program of the named struct on b, with one value per parameter of the struct; nil, or nothing at
// the end, for a parameter that has a default or that only checksums read. It returns the value tree and the bytes used. A rejected packet gives a *DecodeError, together with what had been decoded before it.
func Decode(p *Protocol, name string, b []byte, params ...*Value) (*Value, int, error) {
	st, args, err := p.root(name, params)
	if err != nil {
		return nil, 0, err
	}
	v := &Value{Struct: st}
	f := &frame{buf: b, v: v, st: st, args: args, stop: len(b)}
	if err := f.body(); err != nil {
		return v, f.off, err
	}
	v.Width = f.off * 8
	v.Raw = beforePayload(v, b[:f.off])
	return v, f.off, nil
}
