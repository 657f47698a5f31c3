// SPDX-License-Identifier: Apache-2.0

package path

import "github.com/openmetaroce/metaroce/go-sdk/wire"

// narrow is what speaks for a route that carries small packets only: large ones that were lost since one as large arrived.
// It is empty (lost = 0) while nothing has been lost since then.
type narrow struct {
	lost   int32 // bytes of the smallest of them
	times  int32
	passed int32 // bytes of the largest packet that arrived meanwhile
}

// miss takes in the loss of a packet.
func (n *narrow) miss(size int32) {
	switch {
	case n.lost == 0:
		*n = narrow{lost: size}
	case size <= n.passed:
		return // its length was not why
	}
	n.lost = min(n.lost, size)
	n.times++
}

// arrive takes in the arrival of a packet, while something is missed.
func (n *narrow) arrive(size int32) {
	n.passed = max(n.passed, size)
	if size >= n.lost {
		*n = narrow{}
	}
}

// TooBig takes in that the own system refuses packets of a size on the path's route.
func (p *Path) TooBig(size int) {
	p.narrow.miss(int32(size))
}

// Narrow is what speaks for a path that carries small packets only.
type Narrow struct {
	Losses int // of large packets, since one as large arrived; 0 = nothing speaks for it
	Lost   int // bytes of the smallest of them
	Passed int // bytes of the largest packet that has arrived meanwhile
}

// Narrow returns what speaks for a path that carries small packets only.
//
//mr:req MR-FAIL-011
func (p *Path) Narrow() Narrow {
	const probe = wire.BaseSize + wire.ProbeSize + 4 // the packet that has exposed the losses, at the least
	n := &p.narrow
	return Narrow{Losses: int(n.times), Lost: int(n.lost), Passed: max(int(n.passed), probe)}
}
