// SPDX-License-Identifier: Apache-2.0

package sim

import "time"

// strike lets a fault of a host or of a path begin.
func (r *run) strike(index int) error {
	f := &r.config.Faults[index]
	ends := f.ends(r.network.healAt)
	if f.Kind.ofPaths() {
		if f.Kind == Rehash {
			r.rehash(f)
		} else if f.Plane != All && f.Path == All && (f.Kind == Cut || f.Kind == Unplug) {
			r.agenda.plan(ends, eventHealed, index)
		}
		return nil
	}
	for _, h := range r.hosts {
		if !f.by(h.index) || h.endpoint == nil {
			continue
		}
		switch f.Kind {
		case Pause:
			h.suffering.asleep = max(h.suffering.asleep, ends)
		case Deaf:
			h.suffering.deaf = max(h.suffering.deaf, ends)
		case Stall:
			for plane := range h.nic.free {
				h.nic.free[plane] = max(h.nic.free[plane], ends)
			}
		case Restart:
			if err := r.crash(h, ends); err != nil {
				return err
			}
			continue
		default:
			continue
		}
		r.result.Injected[f.Kind]++
	}
	return nil
}

// rehash changes how the switches of planes assign ports to paths.
func (r *run) rehash(f *Fault) {
	r.result.Injected[Rehash]++
	for plane := range r.network.salts {
		if f.Plane == All || f.Plane == plane {
			r.network.salts[plane] = f.Size
		}
	}
}

// judgeOutage notes whether the opener has given up a plane while it carried nothing.
func (r *run) judgeOutage(f *Fault) {
	h, s := r.hosts[0], r.current()
	if h.endpoint == nil || !s.ends[0].open {
		return
	}
	stats, ok := h.endpoint.ConnStats(s.ends[0].conn)
	if !ok {
		return
	}
	all := r.config.Network.Planes > 1
	for i := range stats.Paths {
		p := &stats.Paths[i]
		if p.Route.Local.Addr() == address(f.Plane, 0) && p.Downs == p.Ups {
			all = false
		}
	}
	if all {
		r.result.Met[metPlaneDown]++
	}
}

// deadline is the time that the next operation of a lane has; 0 = as long as it takes.
func (l *lane) deadline() time.Duration {
	for _, f := range l.troubles {
		if f.Kind == Expire && f.Operation == l.sender.posted {
			return max(f.Span, 1)
		}
	}
	return 0
}

// plot is what will be done to a stream.
type plot struct {
	lane  *lane
	fault Fault
}

// plotTrouble plans what will be done to a stream because operation i of it has been posted.
func (r *run) plotTrouble(l *lane, i int) {
	for _, f := range l.troubles {
		if f.Kind != Expire && f.Operation == i {
			r.plots = append(r.plots, plot{l, f})
			r.agenda.plan(r.now+instantOf(f.Span), eventTrouble, len(r.plots)-1)
		}
	}
}

// trouble cancels an operation, or takes back memory. What is over already is left alone.
func (r *run) trouble(index int) error {
	l, f := r.plots[index].lane, r.plots[index].fault
	s := r.sessions[l.session]
	if s.broken || s.closing || r.now >= r.network.healAt {
		return nil
	}
	if f.Kind == Deregister {
		return r.takeBack(l)
	}
	o := &l.operations[f.Operation]
	if o.over {
		return nil
	}
	h := r.hosts[l.From]
	l.shaken, o.doomed = true, true
	r.result.Injected[Cancel]++
	r.plan(h, r.now)
	if err := h.endpoint.Cancel(r.now.clock(), s.ends[h.index].conn, l.id, l.name(f.Operation)); err != nil {
		return violation("cancel: %w", err)
	}
	return nil
}

// takeBack ends the peer's access to a lane's memory at once: whatever happens from then on, not a byte of it may change.
func (r *run) takeBack(l *lane) error {
	if l.withdrawn {
		return nil
	}
	l.shaken = true
	r.result.Injected[Deregister]++
	if err := r.withdraw(r.hosts[1-l.From], l); err != nil {
		return err
	}
	for _, m := range l.registered() {
		if m.shadow != l.words.shadow {
			if err := m.shadow.reclaim(); err != nil {
				return err
			}
		}
		m.shadow.seal()
	}
	return nil
}
