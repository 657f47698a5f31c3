// SPDX-License-Identifier: Apache-2.0

package vectorgen

import (
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"github.com/openmetaroce/metaroce/gen"
)

// ruleName is the same for a check and for its copies in enclosing runs.
func ruleName(c *gen.Check) string {
	owner, name := "parameter", ""
	if last := c.Item.Last(); last != nil {
		name = last.Name.Schema
		if last.Owner != nil {
			owner = last.Owner.Name.Schema
		}
	}
	return fmt.Sprintf("%d %s.%s %s", c.Kind, owner, name, c.Text)
}

// rulesIn lists the checks in steps.
func rulesIn(steps []gen.Step) []*gen.Check {
	var out []*gen.Check
	for _, s := range steps {
		switch s := s.(type) {
		case *gen.Run:
			out = append(out, s.Checks...)
		case *gen.Verify:
			out = append(out, s.Checks...)
		case *gen.Branch:
			out = append(append(out, rulesIn(s.Then)...), rulesIn(s.Else)...)
		}
	}
	return out
}

func TestVectorsBreakEveryCheckOfTheSchema(t *testing.T) {
	p := metaroce(t)
	_, d := generate(t)
	broken := map[string]int{}
	for _, v := range d.Vectors {
		b, err := hex.DecodeString(v.Hex)
		if err != nil {
			t.Fatalf("%s: %v", v.ID, err)
		}
		var e *gen.DecodeError
		if _, _, err = gen.Decode(p, v.Packet, b); errors.As(err, &e) && e.Rule != nil {
			broken[ruleName(e.Rule)]++
		}
	}
	seen := map[string]bool{}
	for _, st := range p.Structs {
		for _, c := range rulesIn(st.Steps) {
			if name := ruleName(c); broken[name] == 0 && !seen[name] {
				seen[name] = true
				t.Errorf("no vector breaks %s in %s", name, st.Name.Schema)
			}
		}
	}
	if len(broken) < 30 {
		t.Errorf("only %d rules are broken", len(broken))
	}
}
