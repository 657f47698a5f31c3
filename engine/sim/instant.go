// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math"
	"math/bits"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

// instant is virtual time in picoseconds since the start of the run: a packet at 400 Gb/s does not last a whole number
// of nanoseconds.
type instant int64

const (
	never       instant = math.MaxInt64
	picoseconds         = 1000 // in a nanosecond
)

// instantOf converts a span from the start of the run; spans too long for an instant, about 106 days, become never.
func instantOf(d time.Duration) instant {
	if d > time.Duration(never/picoseconds) {
		return never
	}
	return instant(d) * picoseconds
}

// wakeOf converts the engine's time.
func wakeOf(t engine.Time) instant { return instantOf(time.Duration(t)) }

// clock is what a host reads at the instant.
func (i instant) clock() engine.Time { return engine.Time(i / picoseconds) }

// since is the span from the start of the run, in whole nanoseconds.
func (i instant) since() time.Duration { return time.Duration(i / picoseconds) }

// Rate is a speed in bits per second. 0 means infinitely fast.
type Rate int64

const bitPicoseconds = 8_000_000_000_000 // picoseconds that a byte lasts at 1 bit per second

// lasts returns how long a packet of that many bytes, at most 1 MiB, occupies a link.
func (r Rate) lasts(sizeBytes int) instant {
	if r == 0 {
		return 0
	}
	return instant(int64(sizeBytes) * bitPicoseconds / int64(r))
}

// Lasts returns how long a packet of that many bytes, at most 1 MiB, occupies a link, in seconds.
func (r Rate) Lasts(sizeBytes int) float64 { return float64(r.lasts(sizeBytes)) / 1e12 }

// bytes returns how many bytes pass in a span that is not negative.
func (r Rate) bytes(span instant) int {
	high, low := bits.Mul64(uint64(span), uint64(r))
	if high >= bitPicoseconds {
		return math.MaxInt
	}
	n, _ := bits.Div64(high, low, bitPicoseconds)
	return int(n)
}
