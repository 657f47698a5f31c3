// SPDX-License-Identifier: Apache-2.0

package vectorgen

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/openmetaroce/metaroce/gen"
)

// small has what metaroce.mrs has not: no switch, arrays of numbers, a required TLV, TLVs in any order.
const small = `edition 1;
package small.wire;
byteorder big; bitorder msb;
tlv Options max 64 {
  head { type : u8; len : u8; }
  key type;
  length len;
  element align 2;
  order any;
  unknown skip;
  1 => size : { value : u16 in 2..9; } required;
  2 => words : { word : u16[..]; };
  3 => quiet : nothing unique;
}
packet Small max 300 {
  version : u4 = 2;
  _ : rsvd 4 ones;
  count : u8;
  name_len : u8 in 0..5;
  _ : rsvd 8 ignore;
  many : u24[count];
  name : string[name_len];
  options : Options;
}
`

func TestVectorsOfASchemaWithoutSwitch(t *testing.T) {
	p, faults := gen.Compile("small.mrs", []byte(small))
	if p == nil {
		t.Fatal(faults)
	}
	files, err := Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(files[0].Data, &d); err != nil {
		t.Fatal(err)
	}
	codes, values := map[string]int{}, map[string]int{}
	for _, v := range d.Vectors {
		if v.Error != nil {
			codes[v.Error.Code]++
		}
		for path, value := range v.Fields {
			values[path+"="+value]++
		}
	}
	for _, code := range strings.Fields("E_SHORT E_FIXED E_RESERVED E_RANGE E_STRING E_SIZE E_TLV_LENGTH E_TLV_DUPLICATE E_TLV_MISSING E_PADDING") {
		if codes[code] == 0 {
			t.Errorf("no vector is rejected with %s", code)
		}
	}
	for _, value := range []string{"many[0]=16777215", "many[2]=10855845", "options.quiet=1", "options.words[1].word[0]=65535", "options.size.value=9", "name=text:"} {
		if values[value] == 0 {
			t.Errorf("no valid packet has %s", value)
		}
	}
}

func TestArraysThatShareACountHaveElementsTogether(t *testing.T) {
	p, faults := gen.Compile("two.mrs", []byte("edition 1;\npackage two.wire;\nbyteorder big; bitorder msb;\npacket Two { n : u8; a : u16[n * 2]; b : { x : u8; }[n * 2]; _ : pad[n] zero; }"))
	if p == nil {
		t.Fatal(faults)
	}
	files, err := Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(files[0].Data, &d); err != nil {
		t.Fatal(err)
	}
	for _, v := range d.Vectors {
		if v.ID == "two/full" && v.OK && v.Fields["a[3]"] != "" && v.Fields["b[3].x"] != "" && v.Consumed == 15 {
			return
		}
	}
	t.Errorf("no packet has four elements in both: %s", files[0].Data[:min(2000, len(files[0].Data))])
}

func TestRulesThatNothingMeetsAreNamed(t *testing.T) {
	p, faults := gen.Compile("never.mrs", []byte("edition 1;\npackage never.wire;\nbyteorder big; bitorder msb;\npacket Never { a : u8; b : u8; where a > 3 && b > 5; where a + b < 4; }"))
	if p == nil {
		t.Fatal(faults)
	}
	_, err := Generate(p)
	if err == nil || !strings.Contains(err.Error(), "error[E0805]") || !strings.Contains(err.Error(), "a + b < 4") {
		t.Errorf("%v", err)
	}
}
