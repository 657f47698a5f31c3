// SPDX-License-Identifier: Apache-2.0

package path

import "fmt"

// Check verifies the ledger's and the tracker's invariants.
func (p *Path) Check() error {
	l := &p.ledger
	flying, waiting, bytes := int32(0), int32(0), 0
	for psn := l.floor; psn != l.next; psn = l.space.Add(psn, 1) {
		switch s := l.slot(psn); s.state {
		case free:
			return fmt.Errorf("path %d: psn %d is in use but free", p.ID, psn)
		case lost:
			waiting++
		default:
			if s.state < acked {
				flying++
				bytes += int(s.size)
			} else if psn == l.floor {
				return fmt.Errorf("path %d: floor %d is done", p.ID, psn)
			}
		}
	}
	if l.board == nil {
		return p.tracker.check(p.ID)
	}
	if flying != l.flight.n || waiting != l.lost.n || bytes != l.inFlight {
		return fmt.Errorf("path %d: %d in flight (%d B) and %d lost, lists say %d (%d B) and %d",
			p.ID, flying, bytes, waiting, l.flight.n, l.inFlight, l.lost.n)
	}
	if err := p.checkOrder(); err != nil {
		return err
	}
	return p.tracker.check(p.ID)
}

// checkOrder verifies that the flight list is in send order: loss detection looks at its head only.
func (p *Path) checkOrder() error {
	l := &p.ledger
	psn := l.flight.head
	for range l.flight.n - 1 {
		next := l.slot(psn).next
		if !l.space.Less(l.slot(psn).tsn, l.slot(next).tsn) {
			return fmt.Errorf("path %d: tsn %d of psn %d is not before tsn %d of psn %d",
				p.ID, l.slot(psn).tsn, psn, l.slot(next).tsn, next)
		}
		psn = next
	}
	return nil
}

func (t *Tracker) check(id uint16) error {
	if t.rings == nil {
		return nil
	}
	if word, mask := bit(t.base); t.placed[word]&mask != 0 {
		return fmt.Errorf("path %d: base %d is placed", id, t.base)
	}
	return nil
}
