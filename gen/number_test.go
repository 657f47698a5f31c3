// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// roundTrip decodes hex, compares the fields and encodes the tree again.
func roundTrip(t *testing.T, p *Protocol, name, text string, want map[string]string) {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	v, n, err := Decode(p, name, b)
	if err != nil || n != len(b) {
		t.Errorf("%s: used %d of %d bytes: %v", text, n, len(b), err)
		return
	}
	if diff := cmp.Diff(want, Flatten(v)); want != nil && diff != "" {
		t.Errorf("%s (-want +got):\n%s", text, diff)
	}
	again, err := Encode(p, v)
	if err != nil {
		t.Errorf("%s: %v", text, err)
	} else if got := fmt.Sprintf("%x", again); got != text {
		t.Errorf("%s is encoded as %s", text, got)
	}
}

// rejects decodes hex and wants an error code at a field.
func rejects(t *testing.T, p *Protocol, name, text, code, field string) {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = Decode(p, name, b)
	e, ok := err.(*DecodeError)
	if !ok || e.Code.Name != code || e.Field != field {
		t.Errorf("%s gives %v, want %s at %q", text, err, code, field)
	}
}

func TestSignedNumbersKeepTheirSign(t *testing.T) {
	p := compiled(t, `
packet P {
  a : i4 in -3..2;
  b : i4 = -1;
  c : i16 default -2;
  d : i64;
  e : u8 = d < 0 ? 1 : 0;
  f : i8[2];
  where c >= -300 && a + c != 7;
}`)
	roundTrip(t, p, "P", "dffffeffffffffffffffff01ff80", map[string]string{
		"a": "-3", "b": "-1", "c": "-2", "d": "-1", "e": "1", "f[0]": "-1", "f[1]": "-128",
	})
	rejects(t, p, "P", "cffffeffffffffffffffff01ff80", "E_RANGE", "a")
	rejects(t, p, "P", "2efffeffffffffffffffff01ff80", "E_FIXED", "b")
	rejects(t, p, "P", "2ffea3ffffffffffffffff01ff80", "E_WHERE", "c")
	if lo := p.StructNamed("P").item("a").Scalar.interval(); lo.lo.Int64() != -3 || lo.hi.Int64() != 2 {
		t.Errorf("a lies in %v", lo)
	}
}

func TestByteOrderIsLittleByDefaultOrByWord(t *testing.T) {
	p := compiled(t, "packet P { a : u16 little; b : u16; c : i24 little; d : u32[2]; e : u8; }")
	roundTrip(t, p, "P", "0100"+"0001"+"feffff"+"0000000100000002"+"07", map[string]string{"a": "1", "b": "1", "c": "-2", "d[0]": "1", "d[1]": "2", "e": "7"})
	src := "edition 1;\npackage test.unit;\nbyteorder little;\nbitorder msb;\nenum E : u16 open { One = 1; }\npacket P { a : u16; b : E; c : u12; d : u4; e : u16 big; f : u16[1]; g : bytes[2]; }"
	p, diags := Compile("test.mrs", []byte(src))
	if diags != nil {
		t.Fatal(diags)
	}
	roundTrip(t, p, "P", "0100"+"0100"+"0010"+"0001"+"0100"+"0001", map[string]string{
		"a": "1", "b": "1", "c": "1", "d": "0", "e": "1", "f[0]": "1", "g": "hex:0001",
	})
}
