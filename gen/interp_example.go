// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// ErrExample is wrapped by every error of CheckExample.
var ErrExample = errors.New("example does not hold")

// CheckExample runs an example or reject block. An example must decode to the wanted values, its sums must be right, and
// encoding what was decoded must give the same bytes unless it is marked as not canonical. A reject must fail with the
// wanted code at the wanted place, in Decode or in VerifyPacket.
func (p *Protocol) CheckExample(e *Example) error {
	name := e.Struct.Name.Schema
	params, err := p.Arguments(e.Params)
	if err != nil {
		return e.errorf("%w", err)
	}
	v, n, err := Decode(p, name, e.Bytes, params...)
	if e.Code != nil {
		if err == nil {
			err = VerifyPacket(p, name, e.Bytes, params...)
		}
		return e.checkReject(err)
	}
	if err != nil {
		return e.errorf("%w\n%s", err, dumpAt(e.Bytes, err))
	}
	want := e.Consumed
	if want < 0 {
		want = len(e.Bytes)
	}
	if n != want {
		return e.errorf("decoding used %d bytes, want %d", n, want)
	}
	if err := e.checkFields(Flatten(v)); err != nil {
		return err
	}
	if err := VerifyPacket(p, name, e.Bytes, params...); err != nil {
		return e.errorf("%w\n%s", err, dumpAt(e.Bytes, err))
	}
	b, err := Encode(p, v, params...)
	if err != nil {
		return e.errorf("encoding: %w", err)
	}
	return e.checkEncoded(b, n)
}

// Arguments makes values of a struct's parameters; nil for those that are not given.
func (p *Protocol) Arguments(args []Argument) ([]*Value, error) {
	out := make([]*Value, len(args))
	for i, a := range args {
		switch {
		case !a.Given:
		case a.Struct == nil:
			out[i] = Number(a.Number)
		default:
			v, err := Header(p, a.Struct.Name.Schema, a.Bytes)
			if err != nil {
				return nil, err
			}
			out[i] = v
		}
	}
	return out, nil
}

func (e *Example) errorf(format string, args ...any) error {
	return fmt.Errorf("%w: %q: %w", ErrExample, e.Name, fmt.Errorf(format, args...))
}

func (e *Example) checkFields(got map[string]string) error {
	var bad []string
	for _, x := range e.Fields {
		g, ok := got[x.Path]
		switch {
		case !ok:
			bad = append(bad, fmt.Sprintf("%s is absent, want %s", x.Path, x.Value))
		case g != x.Value:
			bad = append(bad, fmt.Sprintf("%s = %s, want %s", x.Path, g, x.Value))
		}
	}
	if bad != nil {
		return e.errorf("%s", strings.Join(bad, "; "))
	}
	return nil
}

func (e *Example) checkEncoded(b []byte, n int) error {
	same := bytes.Equal(b, e.Bytes[:n])
	switch {
	case same && e.NonCanonical:
		return e.errorf("marked noncanonical, but encoding gives the same bytes")
	case !same && !e.NonCanonical:
		return e.errorf("encoding gives other bytes\n%s", diffHex(e.Bytes[:n], b))
	}
	return nil
}

func (e *Example) checkReject(err error) error {
	var d *DecodeError
	switch {
	case err == nil:
		return e.errorf("accepted, want %s", e.Code.Name)
	case !errors.As(err, &d):
		return e.errorf("%w", err)
	case d.Code.Number != e.Code.Number || e.At != "" && d.Field != e.At:
		return e.errorf("rejected with %w, want %s at %q\n%s", err, e.Code.Name, e.At, dumpAt(e.Bytes, err))
	}
	return nil
}

// dumpAt shows the line of a hex dump that holds the place of err, with a mark under its byte.
func dumpAt(b []byte, err error) string {
	var d *DecodeError
	if !errors.As(err, &d) {
		return ""
	}
	line := d.Off / 16 * 16
	if line > len(b) {
		line = len(b) / 16 * 16
	}
	return hexLine(b, line) + "\n" + strings.Repeat(" ", 8+3*(d.Off-line)) + "^^"
}

// hexLine shows up to 16 bytes from off on.
func hexLine(b []byte, off int) string {
	end := min(off+16, len(b))
	if off >= end {
		return fmt.Sprintf("  %04x  (end)", off)
	}
	return fmt.Sprintf("  %04x  % x", off, b[off:end])
}

// diffHex shows the lines in which want and got differ, with marks under the bytes.
func diffHex(want, got []byte) string {
	var s strings.Builder
	for off := 0; off < max(len(want), len(got)); off += 16 {
		marks := ""
		for i := off; i < off+16; i++ {
			if i < len(want) != (i < len(got)) || i < len(want) && want[i] != got[i] {
				marks += "^^ "
			} else {
				marks += "   "
			}
		}
		if strings.TrimSpace(marks) == "" {
			continue
		}
		fmt.Fprintf(&s, "want %s\n got %s\n     %s%s\n", hexLine(want, off), hexLine(got, off), strings.Repeat(" ", 8), strings.TrimRight(marks, " "))
	}
	return s.String()
}
