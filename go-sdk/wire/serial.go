// SPDX-License-Identifier: Apache-2.0

package wire

// Space is a circle of serial numbers in the sense of RFC 1982: its value is the width in bits, 2 to 32.
// Real fields use Serial32 and Serial16; models use narrow spaces, where wrapping is reached soon.
//
// The methods take numbers of the space; higher bits are ignored.
type Space uint8

// The spaces of the fields that the schema marks serial.
const (
	Serial16 Space = 16
	Serial32 Space = 32
)

// Mask is the largest number of the space.
func (s Space) Mask() uint32 { return ^uint32(0) >> (32 - s) }

// Add goes n steps on from a, backwards when n is negative. Add(b, Diff(a, b)) is a.
func (s Space) Add(a uint32, n int64) uint32 { return (a + uint32(n)) & s.Mask() }

// Diff is the signed distance a - b along the shorter way, from -2^(bits-1) to 2^(bits-1)-1.
// Two numbers half the space apart have the negative distance in both directions.
//
//mr:req MR-PATH-014
func (s Space) Diff(a, b uint32) int64 {
	shift := 32 - s
	return int64(int32((a-b)<<shift) >> shift)
}

// Less tells whether a comes before b. Of two numbers half the space apart each comes before the other.
func (s Space) Less(a, b uint32) bool { return s.Diff(a, b) < 0 }
