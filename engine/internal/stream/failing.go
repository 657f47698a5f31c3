// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"

	"github.com/openmetaroce/metaroce/engine/internal/fifo"
	"github.com/openmetaroce/metaroce/engine/internal/mono"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Fail ends every operation with err and, unless code is StatusOk, queues a STREAM_END with code. What is still under way
// completes nothing any more.
//
//mr:req MR-STREAM-009
func (s *Outgoing) Fail(err error, code wire.Status) {
	if s.failed != nil {
		return
	}
	s.failed = err
	for _, m := range s.queue.Items() {
		s.budget.give(m)
		if m.Op != end {
			s.flush(m, err)
		}
	}
	s.queue.Clear()
	s.budget.queues.Reclaim(&s.queue)
	s.cursor, s.ending, s.data = 0, true, 0
	s.parking, s.busy, s.deadline = parking{}, busy{}, mono.Never
	if code != wire.StatusOk {
		s.pushEnd(code)
	}
}

// Refused ends the stream because the peer has refused a message. A message that has ended takes nothing with it any more: its id
// may have been opened anew.
func (s *Outgoing) Refused(number uint32, err error, code wire.Status) {
	if s.find(number) != nil {
		s.Fail(err, code)
	}
}

func (s *Outgoing) flush(m *outgoing, err error) {
	if s.flushed == nil {
		s.flushed = new(fifo.Queue[Done])
	}
	s.flushed.Push(Done{ID: m.ID, Err: err})
}

// Cancel ends an operation. One that has not begun leaves alone; one that has takes its stream with it, since the
// receiver may hold half of it.
func (s *Outgoing) Cancel(id uint64, err error) bool {
	for i, m := range s.queue.Items() {
		if m.ID != id || m.Op == end {
			continue
		}
		if m.begun {
			s.Fail(fmt.Errorf("%w: stream %d, message %d", err, s.ID, m.number), wire.Status(wire.NoticeCodeStopped))
			return true
		}
		s.flush(m, fmt.Errorf("%w: stream %d", err, s.ID))
		s.queue.Remove(i)
		s.budget.queues.Reclaim(&s.queue)
		s.budget.release(m)
		return true
	}
	return false
}

// Expire ends the operations whose deadline has passed.
func (s *Outgoing) Expire(now mono.Time) {
	if s.deadline > now {
		return
	}
	for {
		id, late := s.late(now)
		if !late {
			return
		}
		s.Cancel(id, ErrDeadline)
	}
}

// late returns an operation whose deadline has passed; when there is none, it computes the next deadline exactly.
func (s *Outgoing) late(now mono.Time) (id uint64, ok bool) {
	s.deadline = mono.Never
	for _, m := range s.queue.Items() {
		if m.Deadline == 0 {
			continue
		}
		if m.Deadline <= now {
			return m.ID, true
		}
		s.deadline = min(s.deadline, m.Deadline)
	}
	return 0, false
}
