// SPDX-License-Identifier: Apache-2.0

// Package mono is the engine's notion of time: nanoseconds since an origin that the driver chooses and that never steps.
package mono

import (
	"math"
	"time"
)

// Time is an instant in nanoseconds since the driver's origin.
type Time int64

// Never is later than every instant.
const Never Time = math.MaxInt64

// Add returns t + d; Never stays Never.
func (t Time) Add(d time.Duration) Time {
	if t == Never {
		return Never
	}
	return t + Time(d)
}

// Sub returns t - u.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// Stamp is the low 32 bits of the instant: what the wire carries of a clock.
func (t Time) Stamp() uint32 { return uint32(t) }
