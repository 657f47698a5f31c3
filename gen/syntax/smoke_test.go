// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"os"
	"testing"
	"time"
)

func TestSmoke(t *testing.T) {
	b, _ := os.ReadFile("../../schema/metaroce.mrs")
	s := time.Now()
	f := Parse("metaroce.mrs", string(b))
	t.Log(time.Since(s), len(f.Decls))
	for _, d := range f.Diags {
		t.Log("\n" + d.String())
	}
}
