// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// packetTest tries bytes on one packet of a schema.
type packetTest struct {
	t    *testing.T
	p    *Protocol
	name string
}

func on(t *testing.T, p *Protocol, name string) packetTest { return packetTest{t, p, name} }

// roundTrip decodes hex, compares the fields and encodes the tree again.
func (k packetTest) roundTrip(text string, want map[string]string) {
	k.t.Helper()
	b := unhex(text)
	v, n, err := Decode(k.p, k.name, b)
	if err != nil || n != len(b) {
		k.t.Errorf("%s: used %d of %d bytes: %v", text, n, len(b), err)
		return
	}
	if diff := cmp.Diff(want, Flatten(v)); want != nil && diff != "" {
		k.t.Errorf("%s (-want +got):\n%s", text, diff)
	}
	again, err := Encode(k.p, v)
	if err != nil {
		k.t.Errorf("%s: %v", text, err)
	} else if got := fmt.Sprintf("%x", again); got != text {
		k.t.Errorf("%s is encoded as %s", text, got)
	}
}

// rejects decodes hex and wants an error: its code and the field.
func (k packetTest) rejects(text, want string) {
	k.t.Helper()
	_, _, err := Decode(k.p, k.name, unhex(text))
	e, ok := err.(*DecodeError)
	if !ok || e.Code.Name+" "+e.Field != want {
		k.t.Errorf("%s gives %v, want %s", text, err, want)
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
	on(t, p, "P").roundTrip("dffffeffffffffffffffff01ff80", map[string]string{
		"a": "-3", "b": "-1", "c": "-2", "d": "-1", "e": "1", "f[0]": "-1", "f[1]": "-128",
	})
	on(t, p, "P").rejects("cffffeffffffffffffffff01ff80", "E_RANGE a")
	on(t, p, "P").rejects("2efffeffffffffffffffff01ff80", "E_FIXED b")
	on(t, p, "P").rejects("2ffea3ffffffffffffffff01ff80", "E_WHERE c")
	if lo := p.StructNamed("P").item("a").Scalar.interval(); lo.lo.Int64() != -3 || lo.hi.Int64() != 2 {
		t.Errorf("a lies in %v", lo)
	}
}

func TestByteOrderIsLittleByDefaultOrByWord(t *testing.T) {
	p := compiled(t, "packet P { a : u16 little; b : u16; c : i24 little; d : u32[2]; e : u8; }")
	on(t, p, "P").roundTrip("0100"+"0001"+"feffff"+"0000000100000002"+"07", map[string]string{"a": "1", "b": "1", "c": "-2", "d[0]": "1", "d[1]": "2", "e": "7"})
	src := "edition 1;\npackage test.unit;\nbyteorder little;\nbitorder msb;\nenum E : u16 open { One = 1; }\npacket P { a : u16; b : E; c : u12; d : u4; e : u16 big; f : u16[1]; g : bytes[2]; }"
	p, diags := Compile("test.mrs", []byte(src))
	if diags != nil {
		t.Fatal(diags)
	}
	on(t, p, "P").roundTrip("0100"+"0100"+"0010"+"0001"+"0100"+"0001", map[string]string{
		"a": "1", "b": "1", "c": "1", "d": "0", "e": "1", "f[0]": "1", "g": "hex:0001",
	})
}
