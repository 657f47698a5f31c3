// SPDX-License-Identifier: Apache-2.0

package vectorgen

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openmetaroce/metaroce/gen"
)

func TestVectorsOfTheExampleSchemas(t *testing.T) {
	for name, codes := range map[string]string{
		"ip":     "E_SHORT E_FIXED E_RANGE E_SIZE E_CHECKSUM E_TLV_LENGTH E_TLV_DUPLICATE",
		"vxlan":  "E_SHORT",
		"geneve": "E_SHORT E_FIXED E_CRITICAL E_TLV_LENGTH",
		"gre":    "E_SHORT E_FIXED E_RESERVED E_CHECKSUM",
		"rocev2": "E_SHORT E_FIXED E_RESERVED E_OPCODE E_CHECKSUM",
		"ptp":    "E_SHORT E_FIXED E_RANGE E_TLV_LENGTH E_TLV_DUPLICATE",
		"bfd":    "E_SHORT E_FIXED E_RANGE E_RESERVED E_WHERE E_TRAILING",
	} {
		p, err := gen.Load(filepath.Join("../../schema/examples", name+".mrs"))
		if err != nil {
			t.Fatal(err)
		}
		files, err := Generate(p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var d document
		if err := json.Unmarshal(files[0].Data, &d); err != nil {
			t.Fatal(err)
		}
		got, fine := map[string]int{}, map[string]int{}
		for _, v := range d.Vectors {
			if v.Error != nil {
				got[v.Error.Code]++
			} else if *v.Canonical {
				fine[v.Packet]++
			}
		}
		for _, code := range strings.Fields(codes) {
			if got[code] == 0 {
				t.Errorf("%s: no vector is rejected with %s", name, code)
			}
		}
		for _, s := range p.Structs {
			if s.Packet && fine[s.Name.Schema] == 0 {
				t.Errorf("%s: no vector is a canonical %s", name, s.Name.Schema)
			}
		}
	}
}
