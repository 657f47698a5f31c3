// SPDX-License-Identifier: Apache-2.0

//go:build linux

package udp

import "github.com/openmetaroce/metaroce/engine"

// What one message to the kernel may hold: more segments or bytes are refused by some kernels.
const (
	maxSegments   = 64
	maxTrainBytes = 65000
)

// trainLength returns how many datagrams at the head of queue can go to the kernel as one message that it cuts into
// segments: same route and ECN bits, all as long as the first but for a shorter last one. It is at least 1.
func trainLength(queue []engine.Datagram) int {
	first := &queue[0]
	size := len(first.Bytes)
	if size == 0 {
		return 1
	}
	most := min(len(queue), maxSegments, maxTrainBytes/size)
	for n := 1; n < most; n++ {
		d := &queue[n]
		if len(d.Bytes) > size || len(d.Bytes) == 0 || d.ECN != first.ECN || d.Route != first.Route {
			return n
		}
		if len(d.Bytes) < size {
			return n + 1
		}
	}
	return max(most, 1)
}
