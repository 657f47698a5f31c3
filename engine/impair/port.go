// SPDX-License-Identifier: Apache-2.0

package impair

import (
	"math/rand/v2"

	"github.com/openmetaroce/metaroce/engine"
)

// Port is an engine.Port that loses and doubles what is sent through it. A copy leaves when the sender asks for
// buffers the next time, behind everything of its own batch.
type Port struct {
	*Dice
	under engine.Port
	out   []engine.Datagram
	held  []engine.Datagram // copies that wait for a buffer; each owns its bytes
	spare [][]byte          // memory for further copies
	err   error             // of sending copies, until Receive can return it
}

var _ engine.Port = (*Port)(nil)

// Wrap puts faults around p, for what p sends. It panics when cfg is not valid.
func Wrap(p engine.Port, cfg Config, rng *rand.Rand) *Port {
	return &Port{Dice: NewDice(cfg, rng), under: p}
}

// Receive returns what the wrapped port has received.
func (p *Port) Receive() ([]engine.Datagram, error) {
	if err := p.err; err != nil {
		p.err = nil
		return nil, err
	}
	return p.under.Receive()
}

// Buffers lends the wrapped port's buffers, after it has used as many of them as there are copies to send.
func (p *Port) Buffers() [][]byte {
	buffers := p.under.Buffers()
	if len(p.held) == 0 || len(buffers) == 0 {
		return buffers
	}
	n := min(len(p.held), len(buffers))
	p.out = p.out[:0]
	for i := range n {
		d := p.held[i]
		p.spare = append(p.spare, d.Bytes)
		d.Bytes = buffers[i][:copy(buffers[i], d.Bytes)]
		p.out = append(p.out, d)
	}
	p.held = p.held[:copy(p.held, p.held[n:])]
	p.err = p.under.Send(p.out)
	return p.under.Buffers()
}

// Send passes on the datagrams that are not lost, in order.
func (p *Port) Send(datagrams []engine.Datagram) error {
	p.out = p.out[:0]
	for _, d := range datagrams {
		switch p.Roll(d.Bytes) {
		case Drop:
			continue
		case Twice:
			p.hold(d)
		}
		p.out = append(p.out, d)
	}
	if len(p.out) == 0 {
		return nil
	}
	return p.under.Send(p.out)
}

func (p *Port) hold(d engine.Datagram) {
	var memory []byte
	if n := len(p.spare); n > 0 {
		memory, p.spare = p.spare[n-1], p.spare[:n-1]
	}
	d.Bytes = append(memory[:0], d.Bytes...)
	p.held = append(p.held, d)
}
