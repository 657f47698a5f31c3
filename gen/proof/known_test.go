// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/openmetaroce/metaroce/gen"
)

// TestKnownSchemasMeanTheSameEverywhere asks the codecs of metaroce and of the example schemas about more damaged packets.
func TestKnownSchemasMeanTheSameEverywhere(t *testing.T) {
	var all []*subject
	for _, path := range []string{"metaroce", "examples/ip", "examples/vxlan", "examples/geneve", "examples/gre", "examples/rocev2", "examples/ptp", "examples/bfd"} {
		path = filepath.Join("../../schema", path+".mrs")
		p, err := gen.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s := &subject{name: p.Targets.LuaProto, text: string(text), p: p, noises: 1000}
		if err := s.generate(); err != nil {
			t.Fatal(err)
		}
		if err := s.ask(); err != nil {
			t.Fatal(err)
		}
		if s.goRefused != nil || s.cRefused != nil {
			t.Errorf("%s: %v %v", path, s.goRefused, s.cRefused)
		}
		all = append(all, s)
	}
	for s, err := range prove(t.TempDir(), all, "") {
		t.Errorf("%s: %v", s.name, err)
	}
	tally := map[string]int{}
	for _, s := range all {
		s.count(tally)
	}
	t.Log(tally)
}
