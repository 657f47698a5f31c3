// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// lossy loses every n-th datagram for a while, and more at once now and then.
func lossy(n int) bool { return n < 900 && (n%7 == 3 || n%90 > 84) }

// duetConfig is small and quick, over numbers of so many bits.
func duetConfig(bits int) Config {
	return Config{Chunk: 64, SeqBits: bits, InitialRTT: 50 * time.Microsecond, MinRTO: 20 * time.Microsecond}
}

// Two endpoints say the same to each other, packet by packet, wherever the PSNs and TSNs of either side begin: from each of the
// 256 numbers of an 8-bit space, and around the wrap and the middle of 32 bits.
//
//mr:prop P36 P48
//mr:test MR-PATH-014 MR-CONN-017
func TestConversationShiftsWithItsFirstNumbers(t *testing.T) {
	eight := make([]uint32, 256)
	for i := range eight {
		eight[i] = uint32(i)
	}
	var wide []uint32
	for off := -int64(300); off <= 300; off += 12 {
		wide = append(wide, uint32(off), 1<<31+uint32(off))
	}
	for bits, firsts := range map[int][]uint32{8: eight, 32: wide} {
		t.Run(fmt.Sprintf("%d bits", bits), func(t *testing.T) {
			converse := func(first [2]uint32) *duet {
				p := play(t, duetConfig(bits), first)
				p.loses = lossy
				p.work()
				return p
			}
			want := converse([2]uint32{})
			resent, wraps := uint64(0), 0
			for i, first := range firsts {
				got := converse([2]uint32{first, firsts[(7*i+5)%len(firsts)]})
				if !slices.EqualFunc(want.diary, got.diary, samePacket) {
					diff := cmp.Diff(want.diary, got.diary, cmp.Comparer(samePacket))
					t.Fatalf("from %v (-from 0 +from there):\n%s", got.first, diff)
				}
				for end := range got.ends {
					s, _ := got.ends[end].ConnStats(got.ends[end].table.conns[0].id)
					for _, path := range s.Paths {
						resent += path.Resent
						if uint64(got.first[end])+path.Packets > uint64(wire.Space(bits).Mask()) {
							wraps++
						}
					}
				}
			}
			t.Logf("%d conversations of %d packets, %d resends, %d paths wrap", len(firsts), len(want.diary), resent, wraps)
			if resent == 0 || wraps < len(firsts)/4 {
				t.Errorf("%d resends, %d paths wrap", resent, wraps)
			}
		})
	}
}

// samePacket compares what two packets would be on the wire.
func samePacket(a, b wire.Packet) bool {
	x, errX := a.Append(nil)
	y, errY := b.Append(nil)
	return errX == nil && errY == nil && string(x) == string(y)
}
