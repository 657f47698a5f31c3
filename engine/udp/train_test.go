// SPDX-License-Identifier: Apache-2.0

//go:build linux

package udp

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"

	"github.com/openmetaroce/metaroce/engine"
)

// isTrain tells, naively, whether the kernel would cut one message back into these datagrams.
func isTrain(train []engine.Datagram) bool {
	total, size := 0, len(train[0].Bytes)
	for i, d := range train {
		total += len(d.Bytes)
		switch {
		case d.Route != train[0].Route, d.ECN != train[0].ECN, len(d.Bytes) > size:
			return false
		case len(d.Bytes) < size && i != len(train)-1:
			return false
		case len(d.Bytes) == 0 && len(train) > 1:
			return false
		}
	}
	return len(train) == 1 || len(train) <= maxSegments && total <= maxTrainBytes
}

func TestTrainsAreWhatTheKernelCutsAndNoShorter(t *testing.T) {
	memory := make([]byte, 9000)
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SampledFrom([]int{0, 64, 100, 1456, 8248, 8936})
		var queue []engine.Datagram
		for range rapid.IntRange(1, 30).Draw(t, "runs") {
			d := engine.Datagram{
				Route: engine.Route{Remote: netip.AddrPortFrom(netip.IPv4Unspecified(), rapid.Uint16Range(1, 2).Draw(t, "port"))},
				ECN:   rapid.Uint8Range(2, 3).Draw(t, "ecn"),
				Bytes: memory[:sizes.Draw(t, "size")],
			}
			for range rapid.IntRange(1, 90).Draw(t, "length") {
				queue = append(queue, d)
			}
		}
		for len(queue) > 0 {
			n := trainLength(queue)
			if !isTrain(queue[:n]) {
				t.Fatalf("%d datagrams are no train", n)
			}
			if bytes := n * len(queue[0].Bytes); n < len(queue) && isTrain(queue[:n+1]) && bytes+len(queue[0].Bytes) <= maxTrainBytes {
				t.Fatalf("a train of %d could be longer", n)
			}
			queue = queue[n:]
		}
	})
}
