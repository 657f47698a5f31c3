// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"errors"
	"time"

	"github.com/openmetaroce/metaroce/engine/internal/mono"
)

// ErrNoReceive: the peer posted no receive for the message in time.
var ErrNoReceive = errors.New("stream: peer posts no receive")

// Bounds of the wait before a parked message tries again, and of its patience.
const (
	firstRetry  = 10 * time.Microsecond
	lastRetry   = 10 * time.Millisecond
	patienceFor = 10 * time.Second
)

// parking holds back messages for which the peer has posted no receive: everything from receive index limit on waits,
// until the peer says that it has posted more, or until the timer lets one chunk try.
type parking struct {
	parked bool
	tried  bool          // the chunk of this retry is out
	limit  uint32        // receives posted by the peer, as far as known
	wait   time.Duration // until the next try
	retry  mono.Time
	since  mono.Time
}

// may tells whether the first message with unsent chunks, which consumes a receive index, may send one.
func (p *parking) may(now mono.Time, receive uint32) bool {
	if !p.parked || numbers.Diff(receive, p.limit) < 0 {
		return true
	}
	return !p.tried && now >= p.retry
}

// took counts a chunk of the message that consumes a receive index.
//
//mr:req MR-STREAM-021
func (p *parking) took(now mono.Time, receive uint32) {
	if !p.parked || numbers.Diff(receive, p.limit) < 0 {
		return
	}
	p.tried = true
	p.wait = min(2*p.wait, lastRetry)
	p.retry = now.Add(p.wait)
}

// Park takes in a refusal of a chunk: the peer has posted that many receives, too few for the chunk's message.
// Chunks of such messages that are still under way count as unsent. A refusal of an earlier try changes nothing.
//
//mr:req MR-STREAM-008
func (s *Outgoing) Park(now mono.Time, r Ref, posted uint32) {
	m := s.find(r.Message)
	if m == nil || m.try != r.Try || !m.needsReceive() {
		return
	}
	posted = s.learn(posted)
	if numbers.Diff(m.receive, posted) < 0 {
		return // an old refusal: more has been posted since
	}
	p := &s.parking
	if !p.parked {
		*p = parking{parked: true, limit: posted, wait: firstRetry, retry: now.Add(firstRetry), since: now}
	}
	if numbers.Diff(posted, p.limit) > 0 {
		p.limit = posted
	}
	p.tried = false
	for i, m := range s.queue.Items() {
		if m.begun && m.needsReceive() && numbers.Diff(m.receive, p.limit) >= 0 && m.next > 0 {
			s.rewind(i)
		}
	}
}

// learn keeps the most receives that the peer is known to have posted.
func (s *Outgoing) learn(posted uint32) uint32 {
	if numbers.Diff(posted, s.posted) > 0 {
		s.posted = posted
	}
	return s.posted
}

// Ready takes in that the peer has posted receives since the stream's incarnation began at message start.
//
//mr:req MR-STREAM-020
func (s *Outgoing) Ready(start, posted uint32) {
	if start == s.start && numbers.Diff(s.learn(posted), s.parking.limit) > 0 {
		s.parking = parking{}
	}
}

// Unblocks is when a parked message may try again or has waited too long, or a deadline passes; Never when nothing of
// this will happen.
func (s *Outgoing) Unblocks(now mono.Time) mono.Time {
	at := s.deadline
	if s.busy.until > now {
		at = min(at, s.busy.until)
	}
	if p := &s.parking; p.parked {
		at = min(at, p.since.Add(patienceFor))
		if !p.tried && p.retry > now {
			at = min(at, p.retry)
		}
	}
	return at
}

// Timed tells whether the passing of time may change what the stream can send.
func (s *Outgoing) Timed() bool {
	return s.parking.parked || s.busy.wait > 0 || s.deadline != mono.Never
}

// Impatient tells whether a parked message has waited too long.
//
//mr:req MR-STREAM-021
func (s *Outgoing) Impatient(now mono.Time) bool {
	return s.parking.parked && now.Sub(s.parking.since) >= patienceFor
}

// rewind makes a message of the queue unsent: what is still under way of it is no longer wanted.
func (s *Outgoing) rewind(i int) {
	m := s.queue.Items()[i]
	m.next = 0
	m.try++
	s.cursor = min(s.cursor, i)
	if m.count == 0 {
		s.budget.give(m)
	}
}

// busy makes a stream pause after the peer has reached a limit of its own.
type busy struct {
	until mono.Time
	wait  time.Duration
}

// Busy takes in that the peer had no room for the message of a chunk: the stream pauses, longer each time, and then sends
// the message anew.
//
//mr:req MR-STREAM-028
func (s *Outgoing) Busy(now mono.Time, r Ref) {
	m := s.find(r.Message)
	if m == nil || m.try != r.Try || m.count > 0 || m.Op == end {
		return
	}
	if m.needsReceive() && numbers.Diff(s.learn(m.receive+1), s.parking.limit) > 0 {
		s.parking = parking{} // the peer looks for the receive before its limit: it is there
	}
	s.busy.wait = min(max(2*s.busy.wait, firstRetry), lastRetry)
	s.busy.until = now.Add(s.busy.wait)
	s.rewind(int(numbers.Diff(r.Message, s.queue.Front().number)))
}

// Lost takes in that a chunk seems to be lost. While its message waits for a receive, it was more likely refused, with a
// Notice left out for economy: it then counts as unsent, and the timer sends it anew. It returns true in that case.
func (s *Outgoing) Lost(r Ref) bool {
	m := s.find(r.Message)
	p := &s.parking
	if m == nil || m.try != r.Try || !p.parked || !m.needsReceive() || numbers.Diff(m.receive, p.limit) < 0 {
		return false
	}
	s.rewind(int(numbers.Diff(r.Message, s.queue.Front().number)))
	p.tried = false
	return true
}
