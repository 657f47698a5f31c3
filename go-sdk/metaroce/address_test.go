// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"testing"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

//mr:test MR-WIRE-002
func TestAddressWithoutPortMeansThePortOfMetaRoCE(t *testing.T) {
	for addr, want := range map[string]uint16{"127.0.0.1": 4797, "127.0.0.1:5000": 5000, "127.0.0.1:0": 0} {
		if got, err := resolve(t.Context(), addr); err != nil || got.Port() != want {
			t.Errorf("%s: %v, %v", addr, got, err)
		}
	}
	if wire.Port != 4797 {
		t.Errorf("the port is %d", wire.Port)
	}
}
