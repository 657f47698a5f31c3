// SPDX-License-Identifier: Apache-2.0

// Package impair loses and doubles datagrams on purpose, the same ones for the same seed. Wrap puts the faults
// around any engine.Port, so they work over sockets and over the simulator alike; Dice is the choice alone, for
// drivers that know better where in their network a datagram gets lost.
package impair

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// ErrConfig is wrapped by the errors of Config.Validate.
var ErrConfig = errors.New("impair: bad config")

// Config says what goes wrong. The zero value is a perfect network.
type Config struct {
	// Loss is the probability, 0 to 1, that a datagram vanishes.
	Loss float64
	// DataOnly spares all datagrams but those of sequenced packets from Loss: feedback and handshakes get through.
	DataOnly bool
	// Duplicate is the probability, 0 to 1, that a datagram that is not lost arrives twice.
	Duplicate float64
}

// Validate returns an error that wraps ErrConfig when a probability is out of range.
func (c Config) Validate() error {
	for _, p := range []struct {
		name  string
		value float64
	}{{"Loss", c.Loss}, {"Duplicate", c.Duplicate}} {
		if !(p.value >= 0 && p.value <= 1) {
			return fmt.Errorf("%w: %s is %v, allowed 0..1", ErrConfig, p.name, p.value)
		}
	}
	return nil
}

// Counts tells what has been done so far, in datagrams.
type Counts struct {
	Dropped     uint64 // vanished, of every kind
	DroppedData uint64 // of those, sequenced packets
	Duplicated  uint64 // copies made
	Passed      uint64 // datagrams that got through, copies not counted
}

// Fate is what happens to one datagram.
type Fate uint8

// The fates.
const (
	Pass Fate = iota
	Drop
	Twice
)

// Dice decides the fate of datagrams. Every kind of fault has its own generator, so that changing the probability of
// one leaves the draws of the others alone.
type Dice struct {
	Counts
	config          Config
	loss, duplicate *rand.Rand
}

// NewDice takes the seeds of its generators from rng, always the same number of them. It panics when cfg is not valid.
func NewDice(cfg Config, rng *rand.Rand) *Dice {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	d := &Dice{config: cfg}
	d.loss = rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64()))
	d.duplicate = rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64()))
	return d
}

// Roll decides about one datagram and counts it.
func (d *Dice) Roll(datagram []byte) Fate {
	data := Data(datagram)
	if d.config.Loss > 0 && (data || !d.config.DataOnly) && d.loss.Float64() < d.config.Loss {
		d.Dropped++
		if data {
			d.DroppedData++
		}
		return Drop
	}
	d.Passed++
	if d.config.Duplicate > 0 && d.duplicate.Float64() < d.config.Duplicate {
		d.Duplicated++
		return Twice
	}
	return Pass
}

// Data tells whether a datagram holds a sequenced packet: one that the peer acknowledges.
func Data(datagram []byte) bool {
	if len(datagram) < 2 {
		return false
	}
	o := wire.Opcode(datagram[1])
	return o >= wire.OpcodeWrite && o <= wire.OpcodeStreamEnd
}
