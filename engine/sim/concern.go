// SPDX-License-Identifier: Apache-2.0

package sim

import "math/rand/v2"

// The concerns of a run. Each draws from its own generator, so that a change in one leaves the draws of the others alone.
const (
	concernHosts    uint64    = iota + 1 // the endpoints' seeds
	concernDice                          // faults of packets, one generator for each kind and direction
	concernSkew                          // delays of paths
	concernMarks                         // ECN
	concernLag                           // delays of timers
	concernMessages                      // bytes, values, places; further ones for each session
	concernSwarm    = 1 << 32            // Swarm's choices; further ones follow
)

// concern returns the generator of a concern.
func concern(seed, which uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, which)) }
