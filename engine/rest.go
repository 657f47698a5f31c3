// SPDX-License-Identifier: Apache-2.0

package engine

// resting is how a connection notices that it has nothing to do.
type resting struct {
	looked  Time
	carried uint64 // payload bytes until then, both ways
}

// rest gives back what work has made a connection grow once it has carried nothing for a while: the cost of an idle
// connection does not depend on what it has done before.
func (e *Endpoint) rest(c *conn) {
	r := &c.count.resting
	if e.now.Sub(r.looked) < e.cfg.DeadAfter/quietParts {
		return
	}
	carried := c.count.sent + c.count.received
	idle := carried == r.carried && c.idle()
	r.looked, r.carried = e.now, carried
	if !idle {
		return
	}
	c.outgoing.budget.Rest()
	c.incoming.memory.Rest()
	c.incoming.replies.Rest()
	c.outgoing.active.Rest()
	c.outgoing.waiting.Rest()
	c.failing.moved.Rest()
	c.answers.notices.Rest()
	c.answers.readies.Rest()
	c.answers.replies.Rest()
	for _, p := range c.paths.All() {
		if p != nil {
			p.Rest()
		}
	}
}
