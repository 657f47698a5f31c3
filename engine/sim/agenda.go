// SPDX-License-Identifier: Apache-2.0

package sim

// eventKind says what an event is about.
type eventKind uint8

const (
	eventHop     eventKind = iota + 1 // packet index enters its next hop, or its host
	eventTurn                         // host index is to be pumped
	eventStart                        // an application begins: of session index/2, host index%2
	eventReceive                      // the application posts another receive on lane index
	eventFault                        // fault index begins
	eventHealed                       // fault index, of a plane, ends
	eventRevive                       // host index comes back
	eventTrouble                      // plot index is carried out
)

// event is something that happens at an instant.
type event struct {
	at     instant
	serial uint64 // order of planning
	index  int32
	kind   eventKind
}

// before orders events by time and, at the same time, by the order in which they were planned.
func (e *event) before(o *event) bool {
	return e.at < o.at || e.at == o.at && e.serial < o.serial
}

// agenda holds the events to come: a 4-ary heap.
type agenda struct {
	heap   []event
	serial uint64
}

// plan adds an event.
func (a *agenda) plan(at instant, kind eventKind, index int) {
	a.serial++
	e := event{at: at, serial: a.serial, index: int32(index), kind: kind}
	a.heap = append(a.heap, e)
	i := len(a.heap) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&a.heap[parent]) {
			break
		}
		a.heap[i] = a.heap[parent]
		i = parent
	}
	a.heap[i] = e
}

// next takes out the first event; it returns false when nothing is planned.
func (a *agenda) next() (event, bool) {
	n := len(a.heap) - 1
	if n < 0 {
		return event{}, false
	}
	first, last := a.heap[0], a.heap[n]
	a.heap = a.heap[:n]
	if n > 0 {
		a.sink(last)
	}
	return first, true
}

// sink puts e where it belongs, starting from the vacant root.
func (a *agenda) sink(e event) {
	n, i := len(a.heap), 0
	for {
		child := 4*i + 1
		if child >= n {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, n); c++ {
			if a.heap[c].before(&a.heap[least]) {
				least = c
			}
		}
		if !a.heap[least].before(&e) {
			break
		}
		a.heap[i] = a.heap[least]
		i = least
	}
	a.heap[i] = e
}
