// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const options = `
tlv Options max 40 {
  head { type : u8; len : u8 in 2..40; }
  key type;
  length len - 2;
  bare 0 => end;
  bare 1 => nop;
  align 4 fill ignore;
  2 => mss : { value : u16; } unique;
  4 => permitted : nothing unique;
  7, 0x83, 0x90..0x9f => route : { pointer : u8; hops : bytes[..]; };
  8 => stamps : { value, echo : u32; } unique;
}
packet P { n : u4; _ : rsvd 4 zero; options : Options sized n * 4; rest : u8; }`

func TestListsSkipBareElementsAndFillUp(t *testing.T) {
	p := compiled(t, options)
	on(t, p, "P").roundTrip("20"+"02040102"+"0402"+"0101"+"07", map[string]string{"n": "2", "options.mss.value": "258", "options.permitted": "1", "rest": "7"})
	on(t, p, "P").roundTrip("10"+"0402"+"0000"+"07", map[string]string{"n": "1", "options.permitted": "1", "rest": "7"})
	v, n, err := Decode(p, "P", unhex("20"+"0101"+"0402"+"0083ffff"+"07"))
	if err != nil || n != 10 {
		t.Fatal(n, err)
	}
	b, err := Encode(p, v)
	if diff := cmp.Diff("20"+"0402"+"00000000"+"0000"+"07", fmt.Sprintf("%x", b)); err != nil || diff != "" {
		t.Errorf("a list without its leading no-operations: %v\n%s", err, diff)
	}
	on(t, p, "P").rejects("10"+"08040000"+"07", "E_TLV_LENGTH options.stamps")
	on(t, p, "P").rejects("10"+"01010108"+"07", "E_SHORT options")
	on(t, p, "P").rejects("10"+"01010800"+"07", "E_RANGE options")
	on(t, p, "P").rejects("20"+"02040102"+"02040102"+"07", "E_TLV_DUPLICATE options.mss")
}

func TestElementsKeepWhatTheirKeyDoesNotSettle(t *testing.T) {
	p := compiled(t, options)
	on(t, p, "P").roundTrip("20"+"830405aa"+"93030601"+"07", map[string]string{
		"n": "2", "options.route[0].type": "131", "options.route[0].pointer": "5", "options.route[0].hops": "hex:aa",
		"options.route[1].type": "147", "options.route[1].pointer": "6", "options.route[1].hops": "hex:", "rest": "7",
	})
	p = compiled(t, `
tlv T max 99 { head { flags : u4; type : u12; tag : bytes[2]; len : u16; } key type; length len; 1 => a : nothing; }
packet Q { list : T; }
example "flags" Q { hex "a001 bbcc 0000"; list.a[0].flags = 10; list.a[0].tag = "hex:bbcc"; }`)
	on(t, p, "Q").roundTrip("a001"+"bbcc"+"0000"+"5001"+"0102"+"0000", map[string]string{
		"list.a[0]": "1", "list.a[0].flags": "10", "list.a[0].tag": "hex:bbcc", "list.a[1]": "1", "list.a[1].flags": "5", "list.a[1].tag": "hex:0102",
	})
}

func TestListsHaveKeysOfSeveralItemsAndParameters(t *testing.T) {
	p := compiled(t, `
error E_CRITICAL = 64 "unknown critical option";
tlv T(strict : bit) max 99 {
  head { class : u16; critical : bit; type : u7; _ : rsvd 3 ignore; len : u5; }
  key class, critical, type;
  length len * 4;
  unknown skip if !critical || !strict else reject E_CRITICAL;
  (0x0102, 1, 0) => known : { value : u32; words : u32[..]; };
  (0xff00..0xffff, 0..1, 0..127) => free : bytes[..];
}
packet Q(strict : bit = 0) { n : u8; list : T(strict) sized n; }`)
	on(t, p, "Q").roundTrip("10"+"01028002"+"0000000100000002"+"ff0580"+"00", nil)
	on(t, p, "Q").roundTrip("10"+"01028001"+"00000001"+"ff058101"+"aabbccdd", map[string]string{
		"n": "16", "list.known[0].value": "1", "list.free[0].class": "65285", "list.free[0].critical": "1", "list.free[0].type": "1",
		"list.free[0].value": "hex:aabbccdd",
	})
	unknown := unhex("04" + "01038000")
	if _, _, err := Decode(p, "Q", unknown); err != nil {
		t.Errorf("without strict: %v", err)
	}
	_, _, err := Decode(p, "Q", unknown, Number(1))
	if e, ok := err.(*DecodeError); !ok || e.Code.Name != "E_CRITICAL" {
		t.Errorf("with strict: %v", err)
	}
	v, _, err := Decode(p, "Q", unhex("08"+"ff050001"+"aabbccdd"))
	if err != nil {
		t.Fatal(err)
	}
	v.Lookup("list.free[0].value").Bytes = []byte{1, 2, 3}
	if _, err := Encode(p, v); err == nil || err.(*DecodeError).Code.Name != "E_NOFIT" {
		t.Errorf("three bytes in words of four: %v", err)
	}
}

func TestStrictOrderRefusesEqualKeys(t *testing.T) {
	p := compiled(t, `
tlv T max 99 { head { type, sub : u8; len : u8; } key type, sub; length len; order strict; (1, 0..9) => a : nothing; }
packet Q { list : T; }`)
	on(t, p, "Q").roundTrip("010100"+"010200", map[string]string{"list.a[0]": "1", "list.a[0].sub": "1", "list.a[1]": "1", "list.a[1].sub": "2"})
	on(t, p, "Q").rejects("010100"+"010100", "E_TLV_ORDER list")
	on(t, p, "Q").rejects("010100"+"000200", "E_TLV_ORDER list")
	v, _, err := Decode(p, "Q", unhex("010100"+"010200"))
	if err != nil {
		t.Fatal(err)
	}
	list := v.Lookup("list")
	list.Kids[0], list.Kids[1] = list.Kids[1], list.Kids[0]
	if b, err := Encode(p, v); err != nil || fmt.Sprintf("%x", b) != "010100010200" {
		t.Errorf("the encoder sorts: %x %v", b, err)
	}
}

func TestEndFillsUpListsWithoutOtherBareElements(t *testing.T) {
	p := compiled(t, `
tlv T max 99 { head { type : u8; len : u8; } key type; length len; bare 0xff => end; align 4 fill 0xee; 1 => a : bytes[..]; }
packet Q { list : T; }`)
	on(t, p, "Q").roundTrip("0101aa"+"ff", nil)
	on(t, p, "Q").roundTrip("0103aabbcc"+"ffeeee", nil)
	on(t, p, "Q").rejects("0103aabbcc"+"ffeeef", "E_PADDING list")
	v, _, err := Decode(p, "Q", unhex("0103aabbcc"))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := Encode(p, v); err != nil || fmt.Sprintf("%x", b) != "0103aabbccffeeee" {
		t.Errorf("got %x %v", b, err)
	}
}
