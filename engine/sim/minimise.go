// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"slices"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

// Minimise shrinks a Config for which try fails as far as its error stays of the same class: fewer kinds of faults, fewer
// streams, messages and bytes, then single packets instead of chances, a plainer network and a shorter time. try may be called
// budget times. It returns the smallest Config that it has found, and what try says of it; nil if cfg does not fail.
func Minimise(cfg Config, budget int, try func(Config) error) (Config, error) {
	first := try(cfg)
	if first == nil {
		return cfg, nil
	}
	m := minimiser{best: cfg.clone(), err: first, try: try, budget: budget}
	m.kinds()
	m.work()
	m.name()
	for {
		before := m.best.Script()
		m.faults()
		m.work()
		m.plain()
		m.times()
		if m.budget <= 0 || m.best.Script() == before {
			return m.best, m.err
		}
	}
}

// minimiser holds the smallest failing Config so far.
type minimiser struct {
	best   Config
	err    error
	try    func(Config) error
	budget int
}

// clone returns a Config that shares no slice with c.
func (c Config) clone() Config {
	c.Network.Hops = slices.Clone(c.Network.Hops)
	c.Faults = slices.Clone(c.Faults)
	c.Streams = slices.Clone(c.Streams)
	for i := range c.Streams {
		c.Streams[i].Messages = slices.Clone(c.Streams[i].Messages)
	}
	return c
}

// still keeps a smaller Config if it fails in the same way.
func (m *minimiser) still(c Config) bool {
	if m.budget <= 0 {
		return false
	}
	m.budget--
	err := m.try(c)
	if err == nil {
		return false
	}
	for _, class := range []error{ErrViolation, ErrUnfinished, ErrConfig} {
		if errors.Is(err, class) != errors.Is(m.err, class) {
			return false
		}
	}
	m.best, m.err = c, err
	return true
}

// kinds leaves out whole kinds of faults.
func (m *minimiser) kinds() {
	for k := Kind(1); k < kinds; k++ {
		c := m.best.clone()
		c.Faults = slices.DeleteFunc(c.Faults, func(f Fault) bool { return f.Kind == k })
		if len(c.Faults) < len(m.best.Faults) {
			m.still(c)
		}
	}
}

// name turns faults by chance into faults of the packets that chance has hit.
func (m *minimiser) name() {
	r, err := newRun(m.best)
	if err != nil {
		return
	}
	var hits []Fault
	for i := range r.network.directions {
		r.network.directions[i].fates.record = func(f Fault) { hits = append(hits, f) }
	}
	_ = r.execute() // it fails, of course
	c := m.best.clone()
	c.Faults = slices.DeleteFunc(c.Faults, func(f Fault) bool { return f.Kind.ofPackets() && f.Packet == 0 })
	c.Faults = append(c.Faults, hits...)
	m.still(c)
}

// faults leaves out faults, many at a time as long as that works (Zeller and Hildebrandt: Simplifying and Isolating
// Failure-Inducing Input, 2002).
func (m *minimiser) faults() {
	m.thin(len(m.best.Faults), func(c *Config, from, to int) { c.Faults = slices.Delete(c.Faults, from, to) })
}

// thin removes ranges of a list of a length, halves first, single items last.
func (m *minimiser) thin(length int, remove func(c *Config, from, to int)) {
	for size := (length + 1) / 2; size > 0 && m.budget > 0; size /= 2 {
		for from := 0; from < length; {
			to := min(from+size, length)
			c := m.best.clone()
			remove(&c, from, to)
			if m.still(c) {
				length -= to - from
				continue
			}
			from = to
		}
	}
}

// work leaves out streams and messages, and makes messages smaller.
func (m *minimiser) work() {
	m.thin(len(m.best.Streams), removeStreams)
	for s := range m.best.Streams {
		m.thin(len(m.best.Streams[s].Messages), func(c *Config, from, to int) { removeMessages(c, s, from, to) })
	}
	for s := range m.best.Streams {
		for i := range m.best.Streams[s].Messages {
			m.smaller(func(c *Config) *int { return &c.Streams[s].Messages[i].Size })
			m.change(func(c *Config) {
				to := &c.Streams[s].Messages[i]
				*to = Message{Op: to.Op, Size: to.Size}
			})
		}
		m.change(func(c *Config) { c.Streams[s].Pause = 0 })
		m.change(func(c *Config) { c.Streams[s].Receives = 0 })
		m.change(func(c *Config) { c.Streams[s].Depth = 0 })
	}
}

// removeStreams removes streams and what happens to them.
func removeStreams(c *Config, from, to int) {
	c.Streams = slices.Delete(c.Streams, from, to)
	c.Faults = slices.DeleteFunc(c.Faults, func(f Fault) bool {
		return f.Kind.ofApplications() && f.Stream >= from && f.Stream < to
	})
	for i := range c.Faults {
		if f := &c.Faults[i]; f.Kind.ofApplications() && f.Stream >= to {
			f.Stream -= to - from
		}
	}
}

// removeMessages removes messages of stream s and what happens to them.
func removeMessages(c *Config, s, from, to int) {
	c.Streams[s].Messages = slices.Delete(c.Streams[s].Messages, from, to)
	c.Faults = slices.DeleteFunc(c.Faults, func(f Fault) bool {
		return f.Kind.ofApplications() && f.Stream == s && f.Operation >= from && f.Operation < to
	})
	for i := range c.Faults {
		if f := &c.Faults[i]; f.Kind.ofApplications() && f.Stream == s && f.Operation >= to {
			f.Operation -= to - from
		}
	}
}

// change tries one change, unless it changes nothing.
func (m *minimiser) change(do func(c *Config)) bool {
	c := m.best.clone()
	do(&c)
	return c.Script() != m.best.Script() && m.still(c)
}

// smaller finds the least value of a number by halving the distance.
func (m *minimiser) smaller(of func(c *Config) *int) {
	for low := 0; low < *of(&m.best); {
		middle := (low + *of(&m.best)) / 2
		if !m.change(func(c *Config) { *of(c) = middle }) {
			low = middle + 1
		}
	}
}

// plain takes away what makes the network and the engine special.
func (m *minimiser) plain() {
	m.change(func(c *Config) { c.Network.Skew = 0 })
	for i := range m.best.Network.Hops {
		m.change(func(c *Config) { h := &c.Network.Hops[i]; *h = Hop{Rate: h.Rate, Latency: h.Latency} })
		m.change(func(c *Config) { c.Network.Hops[i].Rate = 0 })
	}
	m.change(func(c *Config) { c.Network.Planes = 0 })
	for m.best.Network.Paths > max(m.best.Network.Planes, 1) && m.change(func(c *Config) { c.Network.Paths /= 2 }) {
	}
	m.change(func(c *Config) { c.Engine = engine.Config{} })
	for i := range engineSettings(&m.best.Engine) {
		m.change(func(c *Config) {
			s := engineSettings(&c.Engine)[i]
			var zero engine.Config
			s.copy(engineSettings(&zero)[i])
		})
	}
}

// times ends the faults sooner, and lets them wait less. The time for recovery stays, or else every run would fail.
func (m *minimiser) times() {
	for m.best.HealAt > time.Microsecond && m.change(func(c *Config) { c.HealAt, c.Deadline = c.HealAt/2, c.Deadline-c.HealAt/2 }) {
	}
	for i := range m.best.Faults {
		for m.best.Faults[i].Span > 0 && m.change(func(c *Config) { c.Faults[i].Span /= 2 }) {
		}
	}
}
