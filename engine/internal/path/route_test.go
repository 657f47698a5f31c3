// SPDX-License-Identifier: Apache-2.0

package path

import "testing"

// However much is sent on a new route, what it carries is never taken for what the earlier one has left behind, and what that has
// left behind is never forgotten.
//
//mr:prop P36
//mr:test MR-PATH-015
func TestPresentRouteIsNeverTakenForAnEarlierOne(t *testing.T) {
	for first := range uint32(256) {
		p := New(0, Route{}, testConfig(8, first))
		old := p.Record(0, Moved{Size: 100})
		p.Rebind(1, Route{Local: 9})
		for n := range 250 {
			if s := p.Transmit(2); p.behind(s.TSN) || !p.behind(old.TSN) {
				t.Fatalf("from %d, transmission %d of the new route: behind %v, the old one %v", first, n, p.behind(s.TSN), p.behind(old.TSN))
			}
		}
	}
}
